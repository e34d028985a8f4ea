"""Runs the commands of a task's checks in copies of an agent's work, and of its reference solution."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from harness.graders.grading_folder import GradingFolder, WitnessReport, grading_folder
from harness.graders.hand_in import HandIn, list_files
from harness.sandbox import scratch, trees
from harness.sandbox.place import Sandbox
from harness.sandbox.processes import Command, Limits, ProcessResult, StopCause
from locobench.shared.errors import InputError

SETUP_SECONDS = 600
"""Time limit for all commands of a task's `setup` together."""

DETAIL_LINES = 15
"""How many last lines of a failing command go into `details`; `full_output` has all of them."""

SHOWN = 5
"""How many tests or files a message names."""

SHELL = ("bash", "-o", "pipefail", "-c")
"""The same shell everywhere; with pipefail, a failing command left of a pipe fails the check."""

NOT_FOUND = re.compile(rb"([^\s:]+): command not found$", re.MULTILINE)
"""What bash and our shims print about a program that is not installed; the exit code is 127 then."""


class GraderError(InputError):
    """The task cannot be checked on this machine, whatever an agent does; other tasks may be."""


class SetupError(Exception):
    """The task's `setup` fails on this work. The message is one line about it, then its last output."""


class Commands:
    """The commands of one task's checks. They never touch an agent's tree, only a copy of it."""

    def __init__(
        self,
        hidden_path: Path | str | None = None,
        fixture_path: Path | str | None = None,
        solution_path: Path | str | None = None,
        *,
        sources: Sequence[str] = (),
        setup: Sequence[str] = (),
        sandbox: Sandbox | None = None,
    ) -> None:
        """Run the commands of one task.

        Args:
            hidden_path: files laid over the copy, so that tests edited by the agent do not count.
            fixture_path: what the agent started from.
            solution_path: the reference solution; running it shows which hidden tests exist.
            sources: globs of what the agent may hand in; see `HandIn`. Without them and without hidden files, its
                whole tree is graded.
            setup: commands that run in each copy before its command.
            sandbox: where commands run; default this machine.
        """
        paths = (hidden_path, fixture_path, solution_path)
        whole = (None if path is None else Path(path).expanduser().resolve() for path in paths)
        self._hidden, self._fixture, self._solution = whole
        self._sources, self._setup = tuple(sources), tuple(setup)
        self._sandbox = sandbox or Sandbox()
        self._reference: dict[str, WitnessReport | GraderError] = {}
        self._reference_lock = threading.Lock()

    @cached_property
    def hand_in(self) -> HandIn | None:
        """Which of an agent's files are graded; None if all are."""
        if self._hidden is None and not self._sources:
            return None
        return HandIn(self._sources, self._fixture, self._hidden, self._solution)

    def describe_left_out(self, changed: Iterable[str], work: Path) -> str:
        """Return which changed files of an agent's tree its checks do not get, and why; empty if they get all."""
        refused = {path: self.hand_in.refusal(path, work) for path in changed} if self.hand_in else {}
        return list_some([f"{path} ({why})" for path, why in refused.items() if why])

    def run_on_copy(self, command: str, work: Path, limit: int) -> tuple[ProcessResult, WitnessReport]:
        """Run a bash command on a new copy of this work, after the task's `setup`, for at most `limit` seconds.

        Return how it ended and what its tests reported. SetupError if the setup fails, ValueError if the work corrupted
        the report.
        """
        with grading_folder(work, self.hand_in) as folder:
            if self._setup:
                self._set_up(folder)
                folder.forget()
                if self.hand_in is not None:  # the setup may have changed them
                    self.hand_in.lay_hidden(folder.project)
            return self._run(command, folder, limit), folder.report

    def _set_up(self, folder: GradingFolder) -> None:
        started = time.monotonic()
        for command in self._setup:
            finished = self._run(command, folder, max(0.0, SETUP_SECONDS - (time.monotonic() - started)))
            if finished.cause is StopCause.TIMEOUT:
                raise SetupError(f"setup: {command}: still ran after {SETUP_SECONDS} s of setup and was killed")
            if finished.returncode != 0:
                raise SetupError(with_last_lines(f"setup: {command}: exit code {finished.returncode}", finished))

    def _run(self, command: str, folder: GradingFolder, seconds: float) -> ProcessResult:
        writes, reads = folder.parts
        return self._sandbox.run(
            Command(
                [*SHELL, folder.script(command)],
                cwd=folder.project,
                env={**self._sandbox.tool_variables(), **folder.variables},
                limits=Limits(wall=seconds, grace=1.0),
                writes=writes,
                reads=reads,
            )
        )

    def reference(self, command: str, limit: int, *, again: bool = False) -> WitnessReport:
        """Run the command once, or `again`, on the task's own work: the fixture, plus the solution if there is one.

        Return its report, with the hidden tests that pass with the solution. If no runs were reported, exit code 0 is
        the only evidence.
        GraderError if a program is not installed, or the solution does not pass; the check could then tell nothing
        about an agent. InputError if the sandbox has no bash.
        """
        with self._reference_lock:
            if again or command not in self._reference:
                self._sandbox.prepare(SHELL[0])
                try:
                    self._reference[command] = self._on_reference(command, limit)
                except GraderError as error:
                    self._reference[command] = error
            found = self._reference[command]
        if isinstance(found, GraderError):
            raise found
        return found

    def _on_reference(self, command: str, limit: int) -> WitnessReport:
        with self._reference_work() as work:
            try:
                finished, report = self.run_on_copy(command, work, limit)
            except SetupError as error:
                what = "fixture" if self._solution is None else "reference solution"
                raise GraderError(f"the {what} of the task does not pass {error}") from None
            left_out = self.describe_left_out(sorted(list_files(self._solution)), work)
        if finished.returncode == 127 and (missing := NOT_FOUND.findall(finished.stderr)):
            raise GraderError(f"{command}: {missing[-1].decode()} is not installed where checks run; install it there")
        if self._solution is not None and finished.returncode != 0:
            code, graded = finished.returncode, f"\nnot graded: {left_out}" if left_out else ""
            why = f"still ran after {limit} s" if code is None else f"exit code {code}"
            text = f"{command}: the reference solution of the task does not pass either ({why}){graded}"
            raise GraderError(with_last_lines(text, finished))
        hidden = list_files(self._hidden) if self._solution is not None else ()
        return replace(report, passed=frozenset(test for test in report.passed if test[0] in hidden))

    @contextmanager
    def _reference_work(self) -> Iterator[Path]:
        """Yield the work of an agent that does exactly what the reference solution does."""
        with scratch.folder("reference_") as root:
            work = root / "project"
            if self._fixture is None:
                work.mkdir()
            else:
                trees.copy(self._fixture, work)
            if self._solution is not None:
                trees.copy(self._solution, work)
            yield work


def list_some(items: Sequence[str]) -> str:
    """Join the first items by commas, and count the others."""
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more


def with_last_lines(text: str, finished: ProcessResult) -> str:
    """Return a text about a failed command, and below it the last lines that the command printed."""
    return "\n".join([text, *format_output(finished).splitlines()[-DETAIL_LINES:]])


def format_output(finished: ProcessResult) -> str:
    """Return what a command printed: stdout, then stderr after a separator line."""
    out = finished.stdout.decode("utf-8", errors="replace")
    err = finished.stderr.decode("utf-8", errors="replace")
    return out if not err else f"{out}\n--- stderr ---\n{err}" if out else err
