"""Runs unittest or pytest for a grader, and reports which tests passed. A separate program, for any Python 3.9+.

`python -s witness.py -m unittest ARGUMENTS...` does what `python -m unittest ARGUMENTS...` would do; so it is with
`-m pytest` and, as the script of that name, `pytest`. It lies in a folder beside the project and `reports`. When the
tests have ended, it adds a line to report.jsonl: [[file, test], ...], those that passed. So tests that are skipped, or
ended by `os._exit`, are not in it. Code that runs in the process of its tests can still cheat it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any

BIN = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.realpath(os.path.join(BIN, "..", "project"))
REPORT = os.path.join(BIN, "..", "reports", "report.jsonl")

NO_TESTS = 5
"""Exit code of both runners if there are no tests; unittest has it since Python 3.12."""
NOT_INSTALLED = 127


def main() -> None:
    """Act as the command."""
    del sys.path[0]  # ours
    is_module = sys.argv[1] == "-m"
    runner, *arguments = sys.argv[2 if is_module else 1 :]
    if importlib.util.find_spec(runner) is None:
        print(f"{runner}: command not found", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    module: Any = importlib.import_module(runner)  # before anything of the project's can be found in its place
    if is_module:
        sys.path.insert(0, os.getcwd())
    passed: list[tuple[str, str]] = []
    code = (_unittest if runner == "unittest" else _pytest)(module, arguments, passed)
    if code == 0 and not passed:
        print(f"{runner}: no test has passed", file=sys.stderr)
        code = NO_TESTS
    places = [[os.path.relpath(os.path.realpath(file), PROJECT), test] for file, test in passed]
    # The project may have put a link or a pipe there.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(REPORT, flags, 0o600), "a", encoding="utf-8") as report:
        report.write(json.dumps(places) + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # at an ordinary end, the project may have registered another exit code


def _unittest(unittest: Any, arguments: list[str], passed: list[tuple[str, str]]) -> int:
    class Result(unittest.TextTestResult):  # type: ignore[misc]
        def addSuccess(self, test: Any) -> None:
            super().addSuccess(test)
            self.note(test)

        def addExpectedFailure(self, test: Any, error: Any) -> None:
            super().addExpectedFailure(test, error)
            self.note(test)

        def note(self, test: Any) -> None:
            file = getattr(sys.modules.get(type(test).__module__), "__file__", None)
            passed.append((file or "", test.id()))

    class Runner(unittest.TextTestRunner):  # type: ignore[misc]
        resultclass = Result

    argv = [f"{os.path.basename(sys.executable)} -m unittest", *arguments]
    return 0 if unittest.main(module=None, argv=argv, testRunner=Runner, exit=False).result.wasSuccessful() else 1


def _pytest(pytest: Any, arguments: list[str], passed: list[tuple[str, str]]) -> int:
    class Account:
        def pytest_configure(self, config: Any) -> None:
            self.root = str(config.rootpath)

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" and (report.passed or hasattr(report, "wasxfail")):
                file, _, name = report.nodeid.partition("::")
                passed.append((os.path.join(self.root, file), name))

    return int(pytest.main(["-p", "no:cacheprovider", *arguments], plugins=[Account()]))


if __name__ == "__main__":
    main()
