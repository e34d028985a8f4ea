"""How did single runs come to the files of the answer? Their tool calls, drawn on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measure.records import EvalResult

SHOWN = 5


@dataclass(frozen=True)
class Timeline:
    """The tool calls of a run."""

    calls: int
    found_at: tuple[int, ...]
    """Calls that showed a file of the answer for the first time, counted from 1."""
    recall: float
    """Share of the answer's files that the run saw, 0 to 1."""


@dataclass(frozen=True)
class Timelines:
    """Runs of both arms on some tasks."""

    rows: tuple[tuple[str, tuple[Timeline, Timeline]], ...]
    """Id of the task, and a run of each arm."""

    def at(self, call: int) -> float:
        """Return where a call stands, in percent of the longest run."""
        return round(100 * call / max(run.calls for _, runs in self.rows for run in runs), 2)


def timelines(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Timelines:
    """Return each arm's first run on some tasks.

    The tasks are SHOWN of those known in both arms, at equal steps from the one where B took the fewest calls beside A
    to the one where it took the most: what is shown is not chosen for what it shows.
    """
    of_a, of_b = _by_task(a), _by_task(b)
    both = sorted((task for task in of_a if task in of_b), key=lambda task: (of_b[task].calls / of_a[task].calls, task))
    steps = max(1, min(SHOWN, len(both)) - 1)
    shown = dict.fromkeys(both[round(at * (len(both) - 1) / steps)] for at in range(min(SHOWN, len(both))))
    return Timelines(tuple((task, (of_a[task], of_b[task])) for task in shown))


def _by_task(runs: Iterable[EvalResult]) -> dict[str, Timeline]:
    found: dict[str, Timeline] = {}
    for run in sorted(runs, key=lambda run: run.run_index):
        reach, calls = run.trace.reach, run.trace.tool_count
        if run.measured and reach and reach.found_at is not None and calls:
            found.setdefault(run.task_id, Timeline(calls, reach.found_at, reach.recall))
    return found
