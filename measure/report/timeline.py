"""How did single runs come to the files of the answer? Some of them, for a drawing of their tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measure.records import EvalResult

SHOWN = 5

Timeline = tuple[str, tuple[EvalResult, EvalResult]]
"""Id of a task, and a run of each arm."""


def timelines(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> list[Timeline]:
    """Return each arm's first run on some tasks.

    The tasks are SHOWN of those known in both arms, at equal steps from the one where B took the fewest calls beside A
    to the one where it took the most: what is shown is not chosen for what it shows.
    """
    of_a, of_b = _by_task(a), _by_task(b)
    calls_a, calls_b = ({task: len(run.trace.tool_calls) for task, run in of_arm.items()} for of_arm in (of_a, of_b))
    both = sorted(calls_a.keys() & calls_b.keys(), key=lambda task: (calls_b[task] / calls_a[task], task))
    steps = max(1, min(SHOWN, len(both)) - 1)
    shown = dict.fromkeys(both[round(at * (len(both) - 1) / steps)] for at in range(min(SHOWN, len(both))))
    return [(task, (of_a[task], of_b[task])) for task in shown]


def _by_task(runs: Iterable[EvalResult]) -> dict[str, EvalResult]:
    """Return the first run of each task whose tool calls were recorded, with those that showed a file."""
    found: dict[str, EvalResult] = {}
    for run in sorted(runs, key=lambda run: run.run_index):
        if run.measured and run.trace.tool_calls and run.trace.reach and run.trace.reach.found_at is not None:
            found.setdefault(run.task_id, run)
    return found
