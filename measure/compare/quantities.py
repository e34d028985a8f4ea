"""What did a run need in each arm, and how did it reach the files that the answer names?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from measure.compare.decision import clusters_of
from measure.compare.pairing import Runs
from measure.compare.verdicts import Measure, UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import Interval
from measure.statistics.significance import sign_flip_tests

Value = Callable[[EvalResult], float | None]
"""What a run has of a quantity; None where that is not recorded, and then the run does not count."""
Quantities = Mapping[str, tuple[str, Value]]
"""Name of a quantity to its unit and the value of a run."""


def _reach(name: str) -> Value:
    return lambda run: getattr(run.trace.reach, name) if run.trace.reach else None


COSTS: Quantities = {
    "tokens": ("tokens a run, cache included", lambda run: run.tokens),
    "cost": ("US$ a run", lambda run: run.cost_usd),
    "time": ("seconds a run", lambda run: run.trace.duration_seconds),
    "turns": ("turns a run", lambda run: run.trace.num_turns),
    "calls": ("tool calls a run", lambda run: run.trace.tool_count),
}
REACH: Quantities = {
    "calls to the first file": ("tool calls until a file of the key was seen", _reach("calls_to_first")),
    "files found": ("share of the key's files that were seen", _reach("recall")),
    "files on target": ("share of the files seen that are the key's", _reach("precision")),
    "bytes read": ("bytes that tools returned", _reach("bytes_read")),
}


def find_costs(units: Sequence[UnitComparison], a: Runs, b: Runs, alpha: float) -> tuple[Measure, ...]:
    """Return the relative difference in each of COSTS that tasks have in both arms.

    It is the geometric mean over tasks of B's mean divided by A's, less 1. Its logarithm is tested as the metric is.

    Args:
        units: the tasks that both arms measured.
        a: measured runs of A.
        b: measured runs of B.
        alpha: chance that any row is called when nothing changed, 0 to 1; Holm's procedure divides it among them.
    """
    return _compare(COSTS, units, (a, b), alpha, relative=True)


def find_reach(units: Sequence[UnitComparison], a: Runs, b: Runs, alpha: float) -> tuple[Measure, ...]:
    """Return the difference in each of REACH that tasks have in both arms; arguments as in `find_costs`."""
    return _compare(REACH, units, (a, b), alpha, relative=False)


def _compare(
    quantities: Quantities, units: Sequence[UnitComparison], arms: tuple[Runs, Runs], alpha: float, *, relative: bool
) -> tuple[Measure, ...]:
    clusters, back = clusters_of(units), math.expm1 if relative else float
    known = {name: means for name, (_, value) in quantities.items() if (means := _task_means(units, arms, value))}
    changes = {
        name: {
            task: math.log(y / x) if relative else y - x
            for task, (x, y) in means.items()
            if not relative or (x > 0 and y > 0)
        }
        for name, means in known.items()
    }
    samples = [(list(of_tasks.values()), [clusters[task] for task in of_tasks]) for of_tasks in changes.values()]
    return tuple(
        Measure(
            name=name,
            unit=quantities[name][0],
            relative=relative,
            tasks=len(changes[name]),
            zeros=len(means) - len(changes[name]),
            mean_a=fmean(x for x, _ in means.values()),
            mean_b=fmean(y for _, y in means.values()),
            difference=back(fmean(changes[name].values() or [0.0])),
            interval=found.interval and Interval(back(found.interval.low), back(found.interval.high)),
            p=found.p,
            adjusted_p=found.adjusted_p,
        )
        for (name, means), found in zip(known.items(), sign_flip_tests(samples, alpha), strict=True)
    )


def _task_means(
    units: Sequence[UnitComparison], arms: tuple[Runs, Runs], value: Value
) -> dict[str, tuple[float, float]]:
    """Return the means of A and B for each task of which both have a run with a known value."""
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for unit in units:
        known_a, known_b = ([v for run in runs[unit.key] if (v := value(run)) is not None] for runs in arms)
        if known_a and known_b:
            pairs[unit.key.task_id].append((fmean(known_a), fmean(known_b)))
    return {task: (fmean(x for x, _ in of_task), fmean(y for _, y in of_task)) for task, of_task in pairs.items()}
