"""Running the commands of a task's checks in copies of an agent's work, and what its reference solution does there."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.graders.grading_folder import GradingFolder, Told, grading_folder
from harness.host import scratch, trees
from harness.host.processes import Finished, Limits, StopCause
from harness.sandbox.place import Command, Sandbox

SETUP_SECONDS = 600
"""For all commands of a task's `setup` together."""

DETAIL_LINES = 15
"""Last lines of a failing command that go into `details`; `full_output` has all."""

SHELL = ("bash", "-o", "pipefail", "-c")
"""One known shell everywhere, in which a failing command left of a pipe fails the check."""


NOT_FOUND = 127
"""Exit code of a command whose program is not there."""


class GraderError(Exception):
    """The check could not be carried out, by no fault of the agent."""


class SetupError(Exception):
    """The task's `setup` does not succeed on this work. The message is a line on it, and its last output."""


@dataclass(frozen=True)
class Reference:
    """What a command does on the reference solution."""

    passed: frozenset[tuple[str, str]] = frozenset()
    """File and name of the hidden tests that pass."""
    left: float = float("inf")
    """As `Told.left`; without a solution, any number is as good."""
    programs: int = 0
    """Python programs that the witness saw; where there are none, exit code 0 alone says that the work is good."""


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
        self._sandbox = sandbox or Sandbox()
        self.has_solution = self._solution is not None
        self._reference: dict[str, Reference] = {}
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

    def carried_out(self, command: str, work: Path, limit: int, *, trusted: bool = False) -> tuple[Finished, Told]:
        """The command, run on this work, and what the Python programs in it told.

        Args:
            command: for bash.
            work: the tree, which is only read.
            limit: in seconds.
            trusted: the work is the task's own.

        Raises:
            SetupError: the task's setup does not succeed.
            GraderError: on trusted work, a program is not installed.
            ValueError: the work has spoilt what was told.
        """
        with self._set_up_copy(work) as folder:
            folder.forget()
            if self._setup and self._hidden is not None:  # what ran there before may have changed them
                trees.lay_over(self._hidden, folder.project)
            finished = self._run(command, folder, limit)
            if trusted and finished.returncode == NOT_FOUND and (missing := folder.missing):
                raise GraderError(f"{command}: {missing} is not installed where checks run; install it there")
            return finished, folder.told

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
        return grading_folder(work, self._fixture, self._hidden)

    def _set_up(self, folder: GradingFolder) -> None:
        started = time.monotonic()
        for command in self._setup:
            finished = self._run(command, folder, max(0.0, SETUP_SECONDS - (time.monotonic() - started)))
            if finished.cause is StopCause.TIMEOUT:
                raise SetupError(f"setup: {command}: not done when setup had taken {SETUP_SECONDS} s")
            if finished.returncode != 0:
                lines = output_of(finished).splitlines()[-DETAIL_LINES:]
                raise SetupError("\n".join([f"setup: {command}: exit code {finished.returncode}", *lines]))

    def _run(self, command: str, folder: GradingFolder, seconds: float) -> Finished:
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

    def expected(self, command: str, limit: int) -> Reference:
        """What the command tells of the reference solution; of a task without one, nothing.

        Raises:
            GraderError: as `prepare`.
        """
        return self.prepare(command, limit) if self._solution is not None else Reference()

    def prepare(self, command: str, limit: int) -> Reference:
        """Carry the command out once on the task's own work: the fixture, with the solution where there is one.

        Raises:
            GraderError: a program is not installed, or the solution does not pass, so that the check could tell
                nothing about an agent either.
        """
        with self._reference_lock:
            if command not in self._reference:
                with self._reference_work() as work:
                    try:
                        finished, told = self.carried_out(command, work, limit, trusted=True)
                    except SetupError as error:
                        raise GraderError(f"the reference solution of the task does not pass {error}") from None
                if self._solution is not None and finished.returncode != 0:
                    lines = output_of(finished).splitlines()[-DETAIL_LINES:]
                    text = f"{command}: the reference solution of the task does not pass either (exit code "
                    raise GraderError("\n".join([f"{text}{finished.returncode})", *lines]))
                hidden = self._hidden or Path("/nowhere")
                passed = {
                    test.key for test in told.tests if test.outcome == "passed" and (hidden / test.file).is_file()
                }
                self._reference[command] = Reference(frozenset(passed), told.left, told.programs)
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
    return None if path is None else Path(path).expanduser().resolve()


def output_of(finished: Finished) -> str:
    """What a command printed, its errors behind a line of their own."""
    out = finished.stdout.decode("utf-8", errors="replace")
    err = finished.stderr.decode("utf-8", errors="replace")
    return out if not err else f"{out}\n--- stderr ---\n{err}" if out else err
