"""Deterministic checks: search files by pattern, and run commands in a copy of the project."""

from __future__ import annotations

import errno
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.graders.commands import Commands, SetupError, format_output, list_some, with_last_lines
from harness.models import CodeAssertion, CodeCheckType, GradeResult
from harness.sandbox import trees
from harness.sandbox.processes import Command, Limits, StopCause
from locobench.shared.errors import InputError
from locobench.shared.files import read_below

DEFAULT_TEST_COMMAND = "pytest"
TIMEOUTS = {CodeCheckType.TESTS_PASS: 120, CodeCheckType.COMMAND_SUCCEEDS: 60}
"""Default time limits of commands, in seconds."""

MAX_SEARCHED_BYTES = 16_000_000
SEARCH_SECONDS = 10.0
"""Time limit for searching one file; a backtracking pattern could run forever."""
SEARCH = """
import json, re, sys
pattern, text = json.load(sys.stdin)
match = re.search(pattern, text, re.MULTILINE)
print(text.count("\\n", 0, match.start()) + 1 if match else 0)
"""
"""A program that prints the line of the first match, from 1, or 0. A process of its own can be killed."""

OUR_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EROFS, errno.EIO}
)
"""Errors of this machine, which say nothing about the agent's work."""


class CodeGrader(Commands):
    """Grades code assertions. Commands never touch the agent's tree: they get a copy of it."""

    def prepare(self, assertion: CodeAssertion) -> bool:
        """Run a command on the task's own work; return whether passing takes more than exit code 0.

        GraderError if the check cannot measure any agent.
        """
        if assertion.check not in TIMEOUTS:
            return True
        limit = assertion.timeout_seconds or TIMEOUTS[assertion.check]
        reference = self.reference(assertion.command or DEFAULT_TEST_COMMAND, limit)
        return self._solution is not None and reference.runs > 0

    def grade(self, assertion: CodeAssertion, env_path: Path, changed: Sequence[str] = ()) -> GradeResult:
        """Grade one assertion on the project at `env_path`; a check that the work makes impossible fails.

        The details of a command name the files among `changed` that it did not get. OSError if this machine makes the
        check impossible, for example with a full disk.
        """
        started = time.monotonic()
        grade = self._grade(assertion, env_path)
        details = grade.details
        if assertion.check in TIMEOUTS and (left_out := self.describe_left_out(changed, env_path)):
            details += f"\nnot graded: {left_out}"
        return grade.model_copy(update={"duration_seconds": time.monotonic() - started, "details": details})

    def _grade(self, assertion: CodeAssertion, env_path: Path) -> GradeResult:
        file, pattern, seconds = assertion.file or "", assertion.pattern or "", assertion.timeout_seconds
        match assertion.check:
            case CodeCheckType.TESTS_PASS:
                return self.grade_tests_pass(env_path, assertion.command or DEFAULT_TEST_COMMAND, seconds)
            case CodeCheckType.COMMAND_SUCCEEDS:
                return self.grade_command_succeeds(env_path, assertion.command or "", seconds)
            case CodeCheckType.FILE_EXISTS:
                return self.grade_file_exists(env_path, file)
            case CodeCheckType.FILE_CONTAINS:
                return self.grade_file_contains(env_path, file, pattern)
            case CodeCheckType.FILE_NOT_CONTAINS:
                return self.grade_file_not_contains(env_path, file, pattern)

    def grade_tests_pass(
        self, env_path: Path, command: str = DEFAULT_TEST_COMMAND, timeout_seconds: int | None = None
    ) -> GradeResult:
        """Pass if the test command exits with 0, with the hidden files in place.

        If it calls pytest or unittest, at least one test must have passed, and with a reference solution every hidden
        test that passes there.
        """
        return self._grade_command(CodeCheckType.TESTS_PASS, env_path, command, timeout_seconds)

    def grade_command_succeeds(self, env_path: Path, command: str, timeout_seconds: int | None = None) -> GradeResult:
        """Pass if the command exits with 0, with the hidden files in place."""
        return self._grade_command(CodeCheckType.COMMAND_SUCCEEDS, env_path, command, timeout_seconds)

    def grade_file_exists(self, env_path: Path, file: str) -> GradeResult:
        """Pass if `file` is a regular file or folder inside the project."""
        try:
            trees.resolve(Path(env_path), file)
        except OSError:
            return _verdict(CodeCheckType.FILE_EXISTS, False, f"{file} does not exist")
        return _verdict(CodeCheckType.FILE_EXISTS, True, f"{file} exists")

    def grade_file_contains(self, env_path: Path, file: str, pattern: str) -> GradeResult:
        """Pass if the regular expression is found in `file`; ^ and $ match at line boundaries.

        InputError if `pattern` is not a regular expression, which is a mistake in the task.
        """
        return _grade_pattern(CodeCheckType.FILE_CONTAINS, env_path, file, pattern)

    def grade_file_not_contains(self, env_path: Path, file: str, pattern: str) -> GradeResult:
        """Pass if `file` exists and the regular expression is not found in it.

        A deleted file fails: otherwise deleting it would be the cheapest way to pass. InputError if `pattern` is not a
        regular expression, which is a mistake in the task.
        """
        return _grade_pattern(CodeCheckType.FILE_NOT_CONTAINS, env_path, file, pattern)

    def _grade_command(
        self, check: CodeCheckType, env_path: Path, command: str, timeout_seconds: int | None
    ) -> GradeResult:
        limit = timeout_seconds or TIMEOUTS[check]
        expected = self.reference(command, limit)
        try:
            finished, report = self.run_on_copy(command, env_path, limit)
        except SetupError as error:
            self.reference(command, limit, again=True)  # GraderError if it is no fault of the agent
            return _verdict(check, False, str(error), str(error))
        except ValueError as error:
            return _verdict(check, False, f"{command}: corrupted its test report: {error}")
        except OSError as error:
            if error.errno in OUR_ERRORS:
                raise
            return _verdict(check, False, f"{command}: cannot be run ({error})")
        output = format_output(finished)
        missing = sorted(expected.passed - report.passed)
        passed, details = False, f"exit code {finished.returncode}"
        if finished.cause is StopCause.TIMEOUT:
            details = f"still ran after {limit} s and was killed"
        elif finished.cause is StopCause.STORAGE:
            details = "wrote more than the task's resources.storage_mb allows"
        elif finished.returncode != 0:
            details = with_last_lines(details, finished)
        elif missing:
            names = list_some([name for _, name in missing])
            details = f"{len(missing)} of the {len(expected.passed)} hidden tests failed or did not run: {names}"
        elif report.runs < expected.runs:
            details = "its tests ended early"
        else:
            passed = True
        return _verdict(check, passed, f"{command}: {details}", output)


def _verdict(check: CodeCheckType, passed: bool, details: str, output: str = "") -> GradeResult:
    return GradeResult(
        assertion_type="code",
        assertion_name=str(check),
        passed=passed,
        score=1.0 if passed else 0.0,
        details=details,
        full_output=output,
    )


def _grade_pattern(check: CodeCheckType, env_path: Path, file: str, pattern: str) -> GradeResult:
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{check} of {file}: {pattern!r} is not a regular expression ({error}); correct it") from None
    try:
        content = read_below(Path(env_path), trees.resolve(Path(env_path), file), MAX_SEARCHED_BYTES)
    except OSError as error:
        if error.errno in OUR_ERRORS:
            raise
        return _verdict(check, False, f"{file} cannot be searched: {error.strerror}")
    line = _line_of_match(pattern, content.decode("utf-8", errors="replace"))
    if line is None:
        return _verdict(check, False, f"{pattern!r}: the search in {file} took longer than {SEARCH_SECONDS} s")
    details = f"{pattern!r} found in line {line} of {file}" if line else f"{pattern!r} not found in {file}"
    return _verdict(check, bool(line) is (check is CodeCheckType.FILE_CONTAINS), details)


def _line_of_match(pattern: str, text: str) -> int | None:
    """Return the line of the first match, counted from 1; 0 if there is none, None if the search takes too long."""
    command = Command(
        [sys.executable, "-I", "-S", "-c", SEARCH],
        cwd=Path("/"),
        env={},
        limits=Limits(wall=SEARCH_SECONDS, grace=0.0),
        stdin=json.dumps([pattern, text]).encode(),
    )
    finished = command.run()
    if finished.cause is StopCause.TIMEOUT:
        return None
    if finished.returncode != 0:
        raise OSError(f"the search for {pattern!r} ended with {finished.returncode}: {format_output(finished)[-300:]}")
    return int(finished.stdout)
