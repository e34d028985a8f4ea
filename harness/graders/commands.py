"""Running the commands of a task's checks in copies of an agent's work, and what its reference solution does there."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.graders.grading_folder import GradedTest, GradingFolder, grading_folder
from harness.host import scratch, trees
from harness.host.processes import Finished, Limits, StopCause
from harness.sandbox.bubblewrap import place_of_checks
from harness.sandbox.place import Command, Sandbox

SETUP_SECONDS = 600
"""For all commands of a task's `setup` together."""

DETAIL_LINES = 15
"""Last lines of a failing command that go into `details`; `full_output` has all."""

SHELL = ("bash", "-o", "pipefail", "-c")
"""One known shell everywhere, in which a failing command left of a pipe fails the check."""


class GraderError(Exception):
    """The check could not be carried out, by no fault of the agent."""


class SetupError(Exception):
    """The task's `setup` does not succeed on this work. The message is a line on it, and its last output."""


class Commands:
    """The commands of one task's checks. They never touch an agent's tree: they get a copy of it."""

    def __init__(
        self,
        hidden: Path | str | None,
        fixture: Path | str | None,
        solution: Path | str | None,
        setup: Sequence[str],
        sandbox: Sandbox | None,
    ) -> None:
        """The arguments are those of `CodeGrader`."""
        self._hidden, self._fixture, self._solution = map(_path, (hidden, fixture, solution))
        self._setup = tuple(setup)
        self._sandbox = sandbox or place_of_checks()
        self._sandbox.hide(path for path in (self._hidden, self._solution) if path is not None)
        self._reference: dict[str, frozenset[tuple[str, str]]] = {}
        self._reference_lock = threading.Lock()
        self._shared: dict[Path, _SharedCopy] = {}

    @contextmanager
    def one_copy(self, env_path: Path) -> Iterator[None]:
        """Within, all commands of a task with `setup` share one copy of this work, which is set up once.

        The copies of a task without `setup` are not shared: no check then depends on what another one did.
        """
        with ExitStack() as stack:
            if self._setup:
                self._shared[env_path] = _SharedCopy(stack)
                stack.callback(self._shared.pop, env_path)
            yield

    def carried_out(self, command: str, work: Path, limit: int) -> tuple[Finished, list[GradedTest]]:
        """The command, run on this work, and the tests of Python's runners in it."""
        with self._set_up_copy(work) as folder:
            folder.forget()
            if self._setup and self._hidden is not None:  # what ran there before may have changed them
                trees.lay_over(self._hidden, folder.project)
            finished = self._run(command, folder, limit)
            if folder.missing:
                raise GraderError(f"{command}: {folder.missing} is not installed where checks run; install it there")
            return finished, folder.tests

    @contextmanager
    def _set_up_copy(self, work: Path) -> Iterator[GradingFolder]:
        """A copy of this work in which `setup` has run; SetupError when it does not succeed."""
        shared = self._shared.get(work)
        if shared is None:
            with self._copy(work) as folder:
                self._set_up(folder)
                yield folder
            return
        if shared.folder is None:
            shared.folder = shared.stack.enter_context(self._copy(work))
            try:
                self._set_up(shared.folder)
            except SetupError as error:
                shared.failure = error
        if shared.failure is not None:
            raise shared.failure
        yield shared.folder

    def _copy(self, work: Path) -> AbstractContextManager[GradingFolder]:
        trees = tuple(path for path in (self._fixture, self._hidden, self._solution) if path is not None)
        return grading_folder(work, self._fixture, self._hidden, trees)

    def _set_up(self, folder: GradingFolder) -> None:
        started = time.monotonic()
        for command in self._setup:
            finished = self._run(command, folder, max(0.0, SETUP_SECONDS - (time.monotonic() - started)))
            if folder.missing:
                raise GraderError(f"setup: {command}: {folder.missing} is not installed where checks run")
            if finished.cause is StopCause.TIMEOUT:
                raise SetupError(f"setup: {command}: not done when setup had taken {SETUP_SECONDS} s")
            if finished.returncode != 0:
                lines = output_of(finished).splitlines()[-DETAIL_LINES:]
                raise SetupError("\n".join([f"setup: {command}: exit code {finished.returncode}", *lines]))

    def _run(self, command: str, folder: GradingFolder, seconds: float) -> Finished:
        return self._sandbox.run(
            Command(
                [*SHELL, folder.script(command)],
                cwd=folder.project,
                env={**self._sandbox.tool_variables(), **folder.variables},
                limits=Limits(wall=seconds, grace=1.0),
                writes=[folder.root],
            )
        )

    def expected(self, command: str, limit: int) -> frozenset[tuple[str, str]]:
        """File and name of the hidden tests that pass with the reference solution, where the task has both.

        Raises:
            GraderError: the solution does not pass, so that the check could tell nothing about an agent either.
        """
        if self._hidden is None or self._solution is None:
            return frozenset()
        with self._reference_lock:
            if command not in self._reference:
                with self._reference_work() as work:
                    try:
                        finished, tests = self.carried_out(command, work, limit)
                    except SetupError as error:
                        raise GraderError(f"the reference solution of the task does not pass {error}") from None
                if finished.returncode != 0:
                    lines = output_of(finished).splitlines()[-DETAIL_LINES:]
                    text = f"{command}: the reference solution of the task does not pass either (exit code "
                    raise GraderError("\n".join([f"{text}{finished.returncode})", *lines]))
                self._reference[command] = frozenset(
                    test.key for test in tests if test.outcome == "passed" and (self._hidden / test.file).is_file()
                )
            return self._reference[command]

    def refuse_setup_that_never_works(self) -> None:
        """See whether `setup` succeeds on what the agent started from, with the reference solution where there is one.

        Raises:
            GraderError: it does not, so that its failure tells nothing about an agent.
        """
        with self._reference_work() as work, self._copy(work) as folder:
            try:
                self._set_up(folder)
            except SetupError as error:
                what = "fixture" if self._solution is None else "reference solution"
                raise GraderError(f"the {what} of the task does not pass {error}") from None

    @contextmanager
    def _reference_work(self) -> Iterator[Path]:
        """What an agent would leave that does what the reference solution does."""
        with scratch.folder("reference_") as root:
            work = root / "project"
            if self._fixture is None:
                work.mkdir()
            else:
                trees.copy(self._fixture, work)
            if self._solution is not None:
                trees.lay_over(self._solution, work)
            yield work


@dataclass
class _SharedCopy:
    """The copy that the commands of one run share, from the first of them on."""

    stack: ExitStack
    """Removes it."""
    folder: GradingFolder | None = None
    failure: SetupError | None = None


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path).expanduser()


def output_of(finished: Finished) -> str:
    """What a command printed, its errors behind a line of their own."""
    out = finished.stdout.decode("utf-8", errors="replace")
    err = finished.stderr.decode("utf-8", errors="replace")
    return out if not err else f"{out}\n--- stderr ---\n{err}" if out else err
