"""By how much do the arms differ? In each metric, in what a run needed, and in each group of tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from locobench.shared.grouping import grouped
from measure.compare.decision import clusters_of, dealt_anew, per_task
from measure.compare.doubts.loss import MOST_LOST, unlike
from measure.compare.pairing import Runs, dimensions
from measure.compare.verdicts import Headroom, Measure, Slice, UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import TIE, Interval, above_spread, effect_found, mean_log, standard_error
from measure.statistics.significance import sign_flip_test, sign_flip_tests
from measure.summary.metrics import Metric

METRICS: dict[Metric, str] = {"pass_rate": "share of runs", "score": "0 to 1"}
"""The metrics that are compared, with their unit."""

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


def find_difference(metric: Metric, units: Sequence[UnitComparison], confidence: float) -> Measure | None:
    """Return the difference in a metric, with an interval of that level; None without tasks."""
    if not units:
        return None
    own = [unit.by(metric) for unit in units]
    shift = sign_flip_test(*per_task(own, clusters_of(units)), confidence, dealt_anew(own))
    p = shift.p.two_sided
    return Measure(**_means(own), name=metric, unit=METRICS[metric], interval=shift.interval, p=p, adjusted_p=p)


def _means(units: Sequence[UnitComparison]) -> dict[str, Any]:
    """Return the number of tasks, both arms' means over them, and the mean difference."""
    tasks = grouped(units, lambda unit: unit.key.task_id)
    mean_a = fmean(fmean(unit.mean_a for unit in of_task) for of_task in tasks.values())
    mean_b = fmean(fmean(unit.mean_b for unit in of_task) for of_task in tasks.values())
    return {"tasks": len(tasks), "mean_a": mean_a, "mean_b": mean_b, "difference": mean_b - mean_a}


def task_shares(units: Sequence[UnitComparison]) -> dict[str, int]:
    """Count the tasks that were better, the same and worse in B, averaged over their configs and models."""
    differences, _ = per_task(units, clusters_of(units))
    better, worse = sum(d > TIE for d in differences), sum(d < -TIE for d in differences)
    return {"better": better, "the same": len(differences) - better - worse, "worse": worse}


def find_slices(units: Sequence[UnitComparison], alpha: float) -> tuple[Slice, ...]:
    """Return the difference in every group of every dimension, tested as the whole is.

    Args:
        units: the tasks that both arms measured, with all their groups.
        alpha: chance that any group is called when nothing changed, 0 to 1; Holm's procedure divides it among them.
    """
    clusters = clusters_of(units)
    found = [
        (dimension, value, [unit for unit in units if unit.groups.get(dimension) == value])
        for dimension, values in dimensions(units).items()
        for value in values
    ]
    samples = [per_task(of_group, clusters) for _, _, of_group in found]
    tested = sign_flip_tests(samples, alpha, [dealt_anew(of_group) for _, _, of_group in found])
    return tuple(
        Slice(**_means(of_group), **vars(corrected), dimension=dimension, value=value)
        for (dimension, value, of_group), corrected in zip(found, tested, strict=True)
    )


def find_quantities(
    quantities: Quantities, units: Sequence[UnitComparison], arms: tuple[Runs, Runs], alpha: float, *, relative: bool
) -> tuple[Measure, ...]:
    """Return the difference in each quantity that tasks have in both arms, tested as the metric is.

    A relative one is the geometric mean over tasks of B's mean divided by A's, less 1, where both are of as many runs:
    `mean_log`. Its logarithm is what is tested.

    Args:
        quantities: COSTS, relative; or REACH.
        units: the tasks that both arms measured.
        arms: measured runs of A and of B.
        alpha: chance that any row is called when nothing changed, 0 to 1; Holm's procedure divides it among them.
        relative: compare by ratio.
    """
    clusters, back = clusters_of(units), math.expm1 if relative else float
    rows, samples = [], []
    for name, (unit, value) in quantities.items():
        if not (of_tasks := _by_task(units, arms, value)):
            continue
        means = [(fmean(fmean(a) for a, _ in own), fmean(fmean(b) for _, b in own)) for own in of_tasks.values()]
        changes = [_log_ratio(own) for own in of_tasks.values()] if relative else [y - x for x, y in means]
        known = {task: change for task, change in zip(of_tasks, changes, strict=True) if math.isfinite(change)}
        values_a, values_b = ([value(run) for task in units for run in runs[task.key]] for runs in arms)
        unknown = [(values.count(None), len(values)) for values in (values_a, values_b)]
        most = max(missing / runs for missing, runs in unknown)
        samples.append((list(known.values()), [clusters[task] for task in known]))
        rows.append(
            Measure(
                name=name,
                unit=unit,
                relative=relative,
                tasks=len(known),
                zeros=len(means) - len(known),
                unknown_a=unknown[0][0],
                unknown_b=unknown[1][0],
                uneven=relative and (unlike(*unknown[0], *unknown[1])[1] or most > MOST_LOST),
                mean_a=fmean(x for x, _ in means),
                mean_b=fmean(y for _, y in means),
                difference=back(fmean(known.values() or [0.0])),
                interval=None,
            )
        )
    tested = sign_flip_tests(samples, alpha)
    intervals = [found.interval and Interval(back(found.interval.low), back(found.interval.high)) for found in tested]
    return tuple(
        row.model_copy(update={**vars(found), "interval": interval})
        for row, found, interval in zip(rows, tested, intervals, strict=True)
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


def find_headroom(
    units: Sequence[UnitComparison], as_zero: Sequence[UnitComparison], alpha: float, lost: float
) -> Headroom | None:
    """Return what the tasks can show; None without tasks.

    Args:
        units: the tasks that both arms measured.
        as_zero: the same with lost runs at 0, which vary more.
        alpha: two-sided level of the comparison, 0 to 1.
        lost: the larger of the arms' shares of lost runs, 0 to 1, which hides as much of an effect.
    """
    if not units:
        return None
    means = _means(units)
    mean_a, mean_b = means["mean_a"], means["mean_b"]
    error, count = max(standard_error(*per_task(found, clusters_of(found))) for found in (units, as_zero))
    error *= above_spread(count)
    is_rate = units[0].metric == "pass_rate"
    runs_b = sum(len(unit.scores_b) for unit in units)

    def error_of(change: float) -> float:
        """Return the standard error after a change of B's mean; a rate p varies by p (1 - p)."""
        more = (change * (1 - mean_a - mean_b) - change**2) / runs_b if is_rate else 0.0
        return math.sqrt(max(error**2 + more, 0.0)) / (1 - lost)

    return Headroom(
        rise=1 - mean_a,
        fall=mean_a,
        finds_rise=effect_found(error_of, count, 1 - mean_a, alpha / 2),
        finds_fall=effect_found(lambda fall: error_of(-fall), count, mean_a, alpha / 2),
    )
