"""What did a run need in each arm, and how did it reach the files that the answer names?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from measure.compare.decision import clusters_of
from measure.compare.doubts.loss import MOST_LOST, unlike
from measure.compare.pairing import Runs
from measure.compare.verdicts import Measure, UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import Interval
from measure.statistics.significance import mean_log, sign_flip_tests

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

    It is the geometric mean over tasks of B's mean divided by A's, less 1, where both are of as many runs: `mean_log`.
    Its logarithm is tested as the metric is.

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
    found_in = {name: _by_task(units, arms, value) for name, (_, value) in quantities.items()}
    known = {name: _means(of_tasks) for name, of_tasks in found_in.items() if of_tasks}
    changes = {
        name: {
            task: change
            for task, (x, y) in means.items()
            if math.isfinite(change := _log_ratio(found_in[name][task]) if relative else y - x)
        }
        for name, means in known.items()
    }
    unknown = {name: [_unknown(units, runs, quantities[name][1]) for runs in arms] for name in known}
    samples = [(list(of_tasks.values()), [clusters[task] for task in of_tasks]) for of_tasks in changes.values()]
    return tuple(
        Measure(
            name=name,
            unit=quantities[name][0],
            relative=relative,
            tasks=len(changes[name]),
            zeros=len(means) - len(changes[name]),
            unknown_a=unknown[name][0][0],
            unknown_b=unknown[name][1][0],
            uneven=relative and _uneven(*unknown[name]),
            mean_a=fmean(x for x, _ in means.values()),
            mean_b=fmean(y for _, y in means.values()),
            difference=back(fmean(changes[name].values() or [0.0])),
            interval=found.interval and Interval(back(found.interval.low), back(found.interval.high)),
            p=found.p,
            adjusted_p=found.adjusted_p,
        )
        for (name, means), found in zip(known.items(), sign_flip_tests(samples, alpha), strict=True)
    )


def _by_task(
    units: Sequence[UnitComparison], arms: tuple[Runs, Runs], value: Value
) -> dict[str, list[tuple[list[float], list[float]]]]:
    """Return the known values of A and of B for each unit of each task, where both have one."""
    found: dict[str, list[tuple[list[float], list[float]]]] = defaultdict(list)
    for unit in units:
        known_a, known_b = ([v for run in runs[unit.key] if (v := value(run)) is not None] for runs in arms)
        if known_a and known_b:
            found[unit.key.task_id].append((known_a, known_b))
    return found


def _means(of_tasks: Mapping[str, Sequence[tuple[list[float], list[float]]]]) -> dict[str, tuple[float, float]]:
    """Return each task's means of A and B, over its units."""
    return {
        task: (fmean(fmean(a) for a, _ in of_task), fmean(fmean(b) for _, b in of_task))
        for task, of_task in of_tasks.items()
    }


def _log_ratio(of_task: Sequence[tuple[list[float], list[float]]]) -> float:
    """Return the logarithm of B's mean over its units divided by A's; nan where an arm may need none.

    An arm with more runs of a unit counts with as many as the other: else the one with fewer would seem to need less.
    """
    logs = [[mean_log(values, min(len(a), len(b))) for values in (a, b)] for a, b in of_task]
    if any(math.isinf(log) for both in logs for log in both):
        return math.nan
    means = [[fmean(values) for values in both] for both in of_task]
    fewer = fmean(of_b - of_a - math.log(y / x) for (of_a, of_b), (x, y) in zip(logs, means, strict=True))
    return math.log(fmean(y for _, y in means) / fmean(x for x, _ in means)) + fewer / len(of_task)


def _unknown(units: Sequence[UnitComparison], runs: Runs, value: Value) -> tuple[int, int]:
    """Return how many of an arm's runs of the compared tasks did not record a quantity, and how many there are."""
    values = [value(run) for unit in units for run in runs[unit.key]]
    return values.count(None), len(values)


def _uneven(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return unlike(*a, *b)[1] or any(missing > MOST_LOST * runs for missing, runs in (a, b))
