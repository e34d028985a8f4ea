"""Where does the difference come from? In each metric and group of tasks, and how much more the tasks could show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from locobench.shared.grouping import grouped
from measure.compare.decision import clusters_of, dealt_anew, per_task
from measure.compare.pairing import dimensions
from measure.compare.verdicts import Headroom, Measure, Slice, UnitComparison
from measure.statistics.estimates import TIE, above_spread, effect_found, standard_error
from measure.statistics.significance import sign_flip_test, sign_flip_tests
from measure.summary.metrics import Metric

METRICS: dict[Metric, str] = {"pass_rate": "share of runs", "score": "0 to 1"}
"""The metrics that are compared, with their unit."""


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

    def count_solved(arm: int) -> tuple[int, int]:
        """Return the number of tasks that an arm solved in every run, and in none."""
        tasks = [
            [passed for unit in of_task for passed in unit.by("pass_rate").values[arm]]
            for of_task in grouped(units, lambda unit: unit.key.task_id).values()
        ]
        return sum(min(runs) == 1 for runs in tasks), sum(max(runs) == 0 for runs in tasks)

    (always_a, never_a), (always_b, never_b) = count_solved(0), count_solved(1)
    return Headroom(
        tasks=means["tasks"],
        always_a=always_a,
        never_a=never_a,
        always_b=always_b,
        never_b=never_b,
        rise=1 - mean_a,
        fall=mean_a,
        finds_rise=effect_found(error_of, count, 1 - mean_a, alpha / 2),
        finds_fall=effect_found(lambda fall: error_of(-fall), count, mean_a, alpha / 2),
    )
