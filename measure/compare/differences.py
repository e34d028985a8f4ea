"""Where does the difference come from, and what did it cost? Quantities, and groups of tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import numpy as np

from measure.compare.findings import CostEffect, MetricDifference, Slice, TaskShares
from measure.compare.pairing import Runs, dimensions
from measure.compare.verdicts import UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import TIE, cluster_sums, ratio_bootstrap, t_interval
from measure.statistics.significance import holm, sign_flip_test

Value = Callable[[EvalResult], float | None]

QUANTITIES: dict[str, tuple[str, Value]] = {
    "pass_rate": ("share of runs", lambda r: float(r.passed)),
    "score": ("0 to 1", lambda r: r.overall_score),
    "tokens": ("tokens a run", lambda r: r.tokens),
    "cost": ("US$ a run", lambda r: r.cost_usd),
    "time": ("seconds a run", lambda r: r.trace.duration_seconds),
    "turns": ("turns a run", lambda r: r.trace.num_turns),
}
"""The quantities that are compared, with their unit and a run's value; runs without a value are left out."""

Pairs = dict[str, list[tuple[float, float]]]
"""Task to the means in A and in B, one pair for each config and model."""


def _clusters(units: Sequence[UnitComparison], tasks: Iterable[str]) -> list[str]:
    of_task = {unit.key.task_id: unit.cluster for unit in units}
    return [of_task[task] for task in tasks]


def _unit_pairs(units: Sequence[UnitComparison]) -> Pairs:
    pairs: Pairs = defaultdict(list)
    for unit in units:
        pairs[unit.key.task_id].append((unit.mean_a, unit.mean_b))
    return pairs


def _task_means(pairs: Pairs) -> tuple[list[float], list[float]]:
    """Return the mean of each task in A, and in B."""
    tasks = pairs.values()
    return [fmean(a for a, _ in task) for task in tasks], [fmean(b for _, b in task) for task in tasks]


def _task_differences(pairs: Pairs) -> list[float]:
    return [fmean(b - a for a, b in task) for task in pairs.values()]


def find_difference(
    name: str, units: Sequence[UnitComparison], runs_a: Runs, runs_b: Runs, confidence: float
) -> MetricDifference | None:
    """Return the difference in one of QUANTITIES; None where no task has it in both arms."""
    unit_of_value, value = QUANTITIES[name]
    pairs: Pairs = defaultdict(list)
    for unit in units:
        known_a, known_b = ([v for r in runs[unit.key] if (v := value(r)) is not None] for runs in (runs_a, runs_b))
        if known_a and known_b:
            pairs[unit.key.task_id].append((fmean(known_a), fmean(known_b)))
    if not pairs:
        return None
    of_a, of_b = _task_means(pairs)
    differences = [b - a for a, b in zip(of_a, of_b, strict=True)]
    shift = sign_flip_test(differences, _clusters(units, pairs), confidence)
    return MetricDifference(
        name=name,
        unit=unit_of_value,
        tasks=len(pairs),
        mean_a=fmean(of_a),
        mean_b=fmean(of_b),
        difference=fmean(differences),
        interval=shift.interval,
        p=shift.p,
    )


def task_shares(units: Sequence[UnitComparison]) -> TaskShares:
    """Count the tasks that were better, the same and worse in B, averaged over their configs and models."""
    differences = _task_differences(_unit_pairs(units))
    better, worse = sum(d > TIE for d in differences), sum(d < -TIE for d in differences)
    return TaskShares(better=better, same=len(differences) - better - worse, worse=worse)


def find_slices(units: Sequence[UnitComparison], confidence: float) -> tuple[Slice, ...]:
    """Return the difference in every group of every dimension.

    All p-values together are corrected by Holm's method, all intervals by Bonferroni's, since Holm's has no simple
    intervals.

    Args:
        units: the tasks that both arms measured, with all their groups.
        confidence: level of all intervals together.
    """
    found = [
        (dimension, value, _unit_pairs([unit for unit in units if unit.groups.get(dimension) == value]))
        for dimension, values in dimensions(units).items()
        for value in values
    ]
    slices = []
    for dimension, value, pairs in found:
        (of_a, of_b), differences, clusters = _task_means(pairs), _task_differences(pairs), _clusters(units, pairs)
        slices.append(
            Slice(
                dimension=dimension,
                value=value,
                tasks=len(pairs),
                mean_a=fmean(of_a),
                mean_b=fmean(of_b),
                difference=fmean(differences),
                interval=t_interval(differences, clusters, 1 - (1 - confidence) / len(found)),
                p=sign_flip_test(differences, clusters).p.two_sided,
            )
        )
    adjusted = holm([part.p for part in slices])
    return tuple(part.model_copy(update={"adjusted_p": p}) for part, p in zip(slices, adjusted, strict=True))


def cost_effect(
    units: Sequence[UnitComparison], runs_a: Runs, runs_b: Runs, metric: Value, spent: Value, confidence: float
) -> CostEffect | None:
    """Return what the metric and a further point of it cost; None without recorded costs.

    A point's price is the incremental cost-effectiveness ratio of health economics (Drummond et al. 2015, "Methods for
    the Economic Evaluation of Health Care Programmes", chapter 4), with a bootstrap interval over projects.

    Args:
        units: the tasks that both arms measured.
        runs_a: measured runs of A.
        runs_b: measured runs of B.
        metric: the metric of a run, 0 to 1.
        spent: the cost of a run, in US$ or in seconds; None where it was not recorded.
        confidence: level of the interval.
    """
    rows: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for unit in units:
        known_a, known_b = ([r for r in runs[unit.key] if spent(r) is not None] for runs in (runs_a, runs_b))
        if known_a and known_b:
            means = (_mean(known_a, spent), _mean(known_b, spent), _mean(known_a, metric), _mean(known_b, metric))
            rows[unit.key.task_id].append(means)
    if not rows:
        return None
    table = np.array([np.mean(task, axis=0) for task in rows.values()])
    cost_a, cost_b, mean_a, mean_b = (float(mean) for mean in table.mean(axis=0))
    columns = table[:, 1] - table[:, 0], 100 * (table[:, 3] - table[:, 2])
    dearer, better = (list(cluster_sums(column, _clusters(units, rows))[0]) for column in columns)
    interval = ratio_bootstrap(dearer, better, confidence)
    return CostEffect(
        tasks=len(table),
        cost_a=cost_a,
        cost_b=cost_b,
        per_point=(cost_b - cost_a) / (100 * (mean_b - mean_a)) if interval else None,
        per_point_interval=interval,
    )


def _mean(runs: Sequence[EvalResult], value: Value) -> float:
    return fmean(value(run) or 0.0 for run in runs)
