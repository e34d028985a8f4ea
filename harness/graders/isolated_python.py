"""Runs Python for a grader so that the graded project cannot steer it; a program of its own, for any Python 3.9+.

`python -s isolated_python.py SETTINGS NAME ARGUMENTS...` does what the command NAME (python, python3, pytest) would do
with the arguments, except that no module of the standard library or of the test runner comes from the project.
SETTINGS is a JSON file: `bin` (the folder that sent us here), `project`, `told` (the folder for reports), `own_modules`
(modules that the task has) and `created` (files of the agent's own, whose tests do not decide beside those of the
task). PYTHONPATH arrives as GIVEN_PYTHONPATH, since the interpreter would run a sitecustomize.py that it finds there.

The project's code runs in a child. What the child says of its tests counts only when it comes to its end and ends its
account with a number that is drawn for each run, so leaving early, with any exit code, is a failure. Each run appends
one line to report.jsonl, {"runner", "tests": [[file, test, outcome]]}, or to `missing` what is not installed.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import os
import pkgutil
import runpy
import secrets
import shutil
import sys
import sysconfig
import tempfile
import traceback
import types
from typing import IO, Any, NoReturn

Settings = dict[str, Any]

PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"
UNITTEST_OUTCOMES = {
    PASSED: ("addSuccess", "addExpectedFailure"),
    SKIPPED: ("addSkip",),
    FAILED: ("addFailure", "addError", "addUnexpectedSuccess"),
}
"""The methods of a result by which unittest tells of a test."""
STOPPED = ["", "the end of the tests", FAILED]
"""Stands for the tests that did not run because others ended them."""
NO_TESTS = 5
"""Exit code of both runners when there is nothing to run; unittest has it since Python 3.12."""


class StandardLibraryFirst:
    """Finds modules of the standard library there and nowhere else, whatever stands first in sys.path."""

    def __init__(self, own_modules: list[str]) -> None:
        self._paths = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
        self._paths += [path for path in sys.path if path.endswith("lib-dynload")]
        names = getattr(sys, "stdlib_module_names", None) or {m.name for m in pkgutil.iter_modules(self._paths)}
        self._names = set(names) - {"test"} - set(own_modules)  # many a project has a package `test`

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What importlib asks of a finder."""
        if path is None and name in self._names:
            return importlib.machinery.PathFinder.find_spec(name, self._paths)
        return None


def main() -> None:
    """Be the command."""
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    name, arguments = sys.argv[2], sys.argv[3:]
    del sys.path[0]  # ours
    in_path = name in ("python", "python3")
    if not in_path:
        _use_its_python(name)
        arguments = ["-m", "pytest", *arguments]
    else:
        options, arguments = _split(arguments)
        if options:  # which must stand before the program
            os.execv(sys.executable, [sys.executable, *options, "-s", __file__, sys.argv[1], name, *arguments])
    if given := os.environ.pop("GIVEN_PYTHONPATH", ""):
        os.environ["PYTHONPATH"] = given
    os.environ["PATH"] = os.pathsep.join([settings["bin"], os.environ.get("PATH", os.defpath)])
    module = arguments[1].split(".")[0] if arguments[:1] == ["-m"] and len(arguments) > 1 else ""
    runner = module if module in ("unittest", "pytest") else ""
    if runner == "pytest" and importlib.util.find_spec("pytest") is None:
        _tell(settings, "missing", "pytest")
        sys.exit(f"{sys.executable}: No module named pytest")
    number = secrets.token_hex(16)
    with tempfile.TemporaryFile(dir=settings["told"]) as account:
        child = os.fork()
        if child == 0:
            _be_the_command(settings, runner, arguments, in_path, account, number)
        os.waitpid(child, 0)
        account.seek(0)
        told = _account(account.read(), number)
    if told is None:
        print(f"{name}: ended before its program did", file=sys.stderr)
        sys.exit(1)
    if runner:
        _tell(settings, "report.jsonl", json.dumps({"runner": runner, "tests": told["tests"]}))
    sys.exit(told["code"])


def _use_its_python(name: str) -> None:
    """Go on with the interpreter that the command's own script names."""
    script = shutil.which(name)
    if script is None:
        return
    with open(script, "rb") as file:
        first, second = (file.readline().decode("utf-8", "replace").strip() for _ in range(2))
    words = first[2:].split() if first.startswith("#!") else []
    if second.startswith("'''exec'"):  # the path is too long for #!
        words = second.replace('"', "").split()[1:]
    python = words[0] if words and "python" in os.path.basename(words[0]) else None
    if python and os.path.exists(python) and os.path.abspath(python) != os.path.abspath(sys.executable):
        os.execv(python, [python, "-s", os.path.abspath(__file__), *sys.argv[1:]])


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Options of the interpreter, and what is to be run; `-um unittest` is `-u` and `-m unittest`."""
    options: list[str] = []
    left = list(arguments)
    while left and left[0].startswith("-") and left[0] != "-":
        option = left.pop(0)
        letters = "" if option.startswith("--") else option[1:]
        for position, letter in enumerate(letters):
            value = letters[position + 1 :]
            if letter in "mc":
                options += ["-" + letters[:position]] if position else []
                return options, [f"-{letter}", *([value] if value else []), *left]
            if letter in "WX":
                option = option if value else option + left.pop(0)
                break
        options.append(option)
        if option == "--check-hash-based-pycs":
            options.append(left.pop(0))
    return options, left


def _account(content: bytes, number: str) -> Any:
    """What the child told in its last line, if it is the child's."""
    lines = content.splitlines()
    try:
        told = json.loads(lines[-1])
        return told if told["number"] == number else None
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def _be_the_command(
    settings: Settings, runner: str, arguments: list[str], in_path: bool, account: IO[bytes], number: str
) -> NoReturn:
    """Run the program, tell how it ended, and end; never returns."""
    me = os.getpid()
    tests: list[list[str]] = []
    if runner:
        importlib.import_module(runner)
    code: Any = 1
    try:
        code = _run(settings, runner, arguments, in_path, tests)
    except SystemExit as error:
        code = error.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    if os.getpid() == me:
        code = 0 if code is None else int(code) if isinstance(code, int) else 1
        code = _decided(code, runner, tests, settings["created"])
        told = {"number": number, "code": code, "tests": [[_place(settings, t[0]), *t[1:]] for t in tests]}
        account.write(b"\n" + json.dumps(told).encode())
        account.flush()
    sys.exit(code)


def _decided(code: int, runner: str, tests: list[list[str]], created: list[str]) -> int:
    """The exit code: that of the runner, unless only tests of the agent's own have failed, or none has run."""
    if not runner:
        return code
    if code == 0 and not any(outcome == PASSED for _, _, outcome in tests):
        print(f"{runner}: no test has passed", file=sys.stderr)
        return NO_TESTS
    if code == 0 and any(outcome == FAILED for _, _, outcome in tests):
        print(f"{runner}: a test has failed, or not all have run", file=sys.stderr)
        return 1
    own = set(map(os.path.realpath, created))
    tasks = [outcome for file, _, outcome in tests if os.path.realpath(file) not in own]
    if code == 1 and PASSED in tasks and FAILED not in tasks:
        print(f"{runner}: tests that are not the task's failed, which do not decide", file=sys.stderr)
        return 0
    return code


def _place(settings: Settings, file: str) -> str:
    return os.path.relpath(os.path.realpath(file), os.path.realpath(settings["project"])) if file else ""


def _run(settings: Settings, runner: str, arguments: list[str], in_path: bool, tests: list[list[str]]) -> int:
    sys.meta_path.insert(0, StandardLibraryFirst(settings["own_modules"]))
    if "PYTHONPATH" in os.environ:
        sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    kind = arguments[0] if arguments else "-"
    if kind == "-m":
        if in_path:
            sys.path.insert(0, os.getcwd())
        if runner == "unittest" and arguments[1] == "unittest":
            return _unittest(arguments[2:], tests)
        if runner == "pytest":
            return _pytest(settings, arguments[2:], tests)
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if kind in ("-c", "-"):
        sys.path.insert(0, "")
        text = arguments[1] if kind == "-c" else sys.stdin.read()
        sys.argv = [kind, *arguments[2 if kind == "-c" else 1 :]]
        sys.modules["__main__"] = program = types.ModuleType("__main__")
        exec(compile(text, "<string>" if kind == "-c" else "<stdin>", "exec"), program.__dict__)
        return 0
    sys.path.insert(0, os.path.dirname(os.path.realpath(kind)))
    sys.argv = list(arguments)
    runpy.run_path(kind, run_name="__main__")
    return 0


def _unittest(arguments: list[str], tests: list[list[str]]) -> int:
    unittest: Any = importlib.import_module("unittest")

    class Result(unittest.TextTestResult):  # type: ignore[misc]
        def _note(self, test: Any, outcome: str) -> None:
            module = sys.modules.get(type(test).__module__)
            file = getattr(module, "__file__", None) or ""
            if type(test).__name__ == "_FailedTest":  # a module that cannot be imported
                file = test._testMethodName.replace(".", "/") + ".py"
            tests.append([file, test.id(), outcome])

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            super().addSubTest(test, subtest, err)
            if err is not None:
                self._note(test, FAILED)

    def noting(name: str, outcome: str) -> Any:
        def method(self: Any, test: Any, *more: Any) -> None:
            getattr(super(Result, self), name)(test, *more)
            self._note(test, outcome)

        return method

    for outcome, names in UNITTEST_OUTCOMES.items():
        for name in names:
            setattr(Result, name, noting(name, outcome))

    class Runner(unittest.TextTestRunner):  # type: ignore[misc]
        resultclass = Result

        def run(self, test: Any) -> Any:
            result = super().run(test)
            if result.shouldStop:
                tests.append(STOPPED)
            return result

    argv = [f"{os.path.basename(sys.executable)} -m unittest", *arguments]
    unittest.main(module=None, argv=argv, testRunner=Runner)
    return 0


def _pytest(settings: Settings, arguments: list[str], tests: list[list[str]]) -> int:
    pytest: Any = importlib.import_module("pytest")

    class Account:
        def pytest_configure(self, config: Any) -> None:
            self.root = str(getattr(config, "rootpath", None) or config.rootdir)
            self.reported: set[str] = set()

        def pytest_sessionfinish(self, session: Any) -> None:
            if 0 < len(self.reported) < session.testscollected:
                tests.append(STOPPED)

        def note(self, report: Any, outcome: str) -> None:
            file, _, name = report.nodeid.partition("::")
            tests.append([os.path.join(self.root, file), name, outcome])

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.note(report, FAILED)

        def pytest_runtest_logreport(self, report: Any) -> None:
            self.reported.add(report.nodeid)
            outcome = report.outcome
            if hasattr(report, "wasxfail") and outcome == SKIPPED:
                outcome = PASSED
            if outcome in (SKIPPED, FAILED) or (outcome == PASSED and report.when == "call"):
                self.note(report, outcome)

    flags = ["-p", "no:cacheprovider", "--continue-on-collection-errors"]
    if not _has_settings(settings["project"]):
        flags.append(f"--rootdir={os.getcwd()}")
    return int(pytest.main([*flags, *arguments], plugins=[Account()]))


def _has_settings(project: str) -> bool:
    """Whether pytest finds settings in the project; else it takes the empty file above, and that as its root."""
    folder = os.getcwd()
    while True:
        for name in (
            "pytest.toml",
            ".pytest.toml",
            "pytest.ini",
            ".pytest.ini",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
        ):
            with (
                contextlib.suppress(OSError),
                open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f,
            ):
                if name.lstrip(".").startswith("pytest.") or "pytest" in f.read():
                    return True
        if folder in (project, os.path.dirname(folder)):
            return False
        folder = os.path.dirname(folder)


def _tell(settings: Settings, name: str, line: str) -> None:
    with open(os.path.join(settings["told"], name), "a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
