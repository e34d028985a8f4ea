"""Runs Python for a grader and reports what happened. A separate program, for any Python 3.9+.

`python -s witness.py NAME ARGUMENTS...` does what the command NAME (python, python3, pytest) would do with the
arguments. It lies in the folder of the shims that call it; beside that folder are the project and `reports`.
PYTHONPATH arrives as GIVEN_PYTHONPATH, since we would import from it otherwise.

It notices accidents and simple tricks; code that runs in the process of its tests can still cheat it. The program runs
in a child. It only counts if it runs to its end and reports that, so `os._exit` with any exit code is a failure. No
other process can read or write the memory and descriptors of the two, unless it may trace any process. Each run appends
a line to report.jsonl: {"tests": [[file, test, outcome]], "left": whether project code other than the program itself
ended it with exit code 0}. If a test runner is not installed, its name goes to `missing` instead.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import runpy
import shutil
import sys
import tempfile
import traceback
import types
from typing import IO, Any, NoReturn

BIN = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.realpath(os.path.join(BIN, "..", "project"))
REPORTS = os.path.realpath(os.path.join(BIN, "..", "reports"))
CREATED = os.path.join(BIN, "created.json")
"""Files that the agent created; their tests do not decide if the task has tests of its own."""

PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"
STOPPED = ["", "the end of the tests", FAILED]
"""Stands for the tests that did not run because the run was stopped early."""
NO_TESTS = 5
"""Exit code of both runners if there are no tests; unittest has it since Python 3.12."""
NOT_INSTALLED = 127
PR_SET_DUMPABLE, PR_GET_NO_NEW_PRIVS = 4, 39
CAPABILITY_VERSION_3 = 0x20080522


def main() -> None:
    """Act as the command."""
    name, arguments = sys.argv[1], sys.argv[2:]
    del sys.path[0]  # ours
    in_path = name in ("python", "python3")
    if not in_path:
        _use_its_python(name)
        arguments = ["-m", "pytest", *arguments]
    else:
        options, arguments = _split(arguments)
        if options:  # which must stand before the program
            os.execv(sys.executable, [sys.executable, *options, "-s", __file__, name, *arguments])
    if given := os.environ.pop("GIVEN_PYTHONPATH", ""):
        os.environ["PYTHONPATH"] = given
    os.environ["PATH"] = os.pathsep.join([BIN, os.environ.get("PATH", os.defpath)])
    module = arguments[1].split(".")[0] if arguments[:1] == ["-m"] and len(arguments) > 1 else ""
    runner = module if module in ("unittest", "pytest") else ""
    if runner and importlib.util.find_spec(runner) is None:
        _report("missing", runner)
        print(f"{sys.executable}: No module named {runner}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    _prctl(PR_SET_DUMPABLE, 0)
    with tempfile.TemporaryFile(dir=REPORTS) as account:
        child = os.fork()
        if child == 0:
            _be_the_command(runner, arguments, in_path, account)
        os.waitpid(child, 0)
        account.seek(0)
        told = _read_account(account.read())
    if told is None:
        print(f"{name}: the program ended without returning, as by os._exit", file=sys.stderr)
        sys.exit(1)
    _report("report.jsonl", json.dumps({"tests": told["tests"], "left": told["left"]}))
    sys.exit(told["code"])


def _prctl(option: int, value: int) -> int:
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))
    except (AttributeError, OSError):  # systems other than Linux have none
        return -1


def _drop_capabilities() -> None:
    """Give up root's capabilities in a container, for this process and all that it starts.

    The shell and the witness keep theirs, and no process can trace one with more capabilities than its own.
    """
    if _prctl(PR_GET_NO_NEW_PRIVS, 0) == 1:  # else programs get them back when they start
        header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None).capset(header, none)


def _use_its_python(name: str) -> None:
    """Restart with the interpreter that the command's own script names."""
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
    """Split into interpreter options and what to run; `-um unittest` is `-u` and `-m unittest`."""
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


def _read_account(content: bytes) -> Any:
    """Return what the child reported in its last line; None if it reported nothing."""
    try:
        return json.loads(content.splitlines()[-1])
    except (IndexError, ValueError):
        return None


def _be_the_command(runner: str, arguments: list[str], in_path: bool, account: IO[bytes]) -> NoReturn:
    """Run the program, report how it ended, and exit."""
    me = os.getpid()
    _drop_capabilities()
    tests: list[list[str]] = []
    if runner:  # before anything of the project's can be found in their place
        importlib.import_module("unittest")
        importlib.import_module(runner)
    code: Any = 1
    left = False
    try:
        code = _run(runner, arguments, in_path, tests)
    except SystemExit as error:
        code = error.code
        left = not runner and not code and _is_left(error, arguments)
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    if os.getpid() == me:
        code = 0 if code is None else int(code) if isinstance(code, int) else 1
        code = _correct_code(code, runner, tests)
        places = [[os.path.relpath(os.path.realpath(file), PROJECT) if file else "", *test] for file, *test in tests]
        account.write(b"\n" + json.dumps({"code": code, "tests": places, "left": left}).encode())
        account.flush()
    sys.exit(code)


def _is_left(error: SystemExit, arguments: list[str]) -> bool:
    """Return whether a project file other than the program itself ended the program."""
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    files = [path for path in map(os.path.realpath, frames) if path.startswith(PROJECT + os.sep)]
    kind = arguments[0] if arguments else "-"
    program = {"-c": "", "-": "", "-m": files[0] if files else ""}.get(kind, os.path.realpath(kind))
    return any(file != program for file in files)


def _correct_code(code: int, runner: str, tests: list[list[str]]) -> int:
    """Return the exit code, corrected if no test passed, some did not run, or only the agent's own tests failed."""
    if not runner:
        return code
    if code == 0 and not any(outcome == PASSED for _, _, outcome in tests):
        print(f"{runner}: no test has passed", file=sys.stderr)
        return NO_TESTS
    if code == 0 and any(outcome == FAILED for _, _, outcome in tests):
        print(f"{runner}: a test has failed, or not all have run", file=sys.stderr)
        return 1
    with open(CREATED, encoding="utf-8") as file:
        own = {os.path.join(PROJECT, path) for path in json.load(file)}
    tasks = [outcome for file, _, outcome in tests if os.path.realpath(file) not in own]
    if code == 1 and PASSED in tasks and FAILED not in tasks:
        print(f"{runner}: only tests that the agent added failed; they do not count", file=sys.stderr)
        return 0
    return code


def _run(runner: str, arguments: list[str], in_path: bool, tests: list[list[str]]) -> int:
    if "PYTHONPATH" in os.environ:
        sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    kind = arguments[0] if arguments else "-"
    if kind == "-m":
        if in_path:
            sys.path.insert(0, os.getcwd())
        if runner == "unittest" and arguments[1] == "unittest":
            return _unittest(arguments[2:], tests)
        if runner == "pytest":
            return _pytest(arguments[2:], tests)
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
        def startTestRun(self) -> None:
            super().startTestRun()
            self.started: list[Any] = []

        def startTest(self, test: Any) -> None:
            super().startTest(test)
            self.started.append(test)

    class Runner(unittest.TextTestRunner):  # type: ignore[misc]
        resultclass = Result

        def run(self, test: Any) -> Any:
            result = super().run(test)
            failed = [getattr(test, "test_case", test) for test, _ in result.failures + result.errors]
            outcomes = {id(test): (test, PASSED) for test in result.started}
            outcomes.update((id(test), (test, SKIPPED)) for test, _ in result.skipped)
            outcomes.update((id(test), (test, FAILED)) for test in failed + result.unexpectedSuccesses)
            tests.extend([_file(test), test.id(), outcome] for test, outcome in outcomes.values())
            if result.shouldStop:
                tests.append(STOPPED)
            return result

    argv = [f"{os.path.basename(sys.executable)} -m unittest", *arguments]
    unittest.main(module=None, argv=argv, testRunner=Runner)
    return 0


def _file(test: Any) -> str:
    if type(test).__name__ == "_FailedTest":  # a module that cannot be imported
        return str(test._testMethodName).replace(".", "/") + ".py"
    return getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""


def _pytest(arguments: list[str], tests: list[list[str]]) -> int:
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

    return int(
        pytest.main(["-p", "no:cacheprovider", "--continue-on-collection-errors", *arguments], plugins=[Account()])
    )


def _report(name: str, line: str) -> None:
    # The project may have put a link or a pipe there.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(os.path.join(REPORTS, name), flags, 0o600), "a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
