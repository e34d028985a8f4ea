"""Where does the difference come from? In each metric and group of tasks, and how much more the tasks could show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean

from measure.compare.decision import clusters_of, per_task
from measure.compare.findings import Headroom, MetricDifference, Slice, TaskShares
from measure.compare.metrics import metric_value
from measure.compare.pairing import Runs, dimensions
from measure.compare.verdicts import Metric, UnitComparison
from measure.statistics.estimates import TIE, minimal_detectable_effect, standard_error
from measure.statistics.significance import holm, holm_levels, sign_flip_test

METRICS: dict[Metric, str] = {"pass_rate": "share of runs", "score": "0 to 1"}
"""The metrics that are compared, with their unit."""


def find_difference(metric: Metric, units: Sequence[UnitComparison], a: Runs, b: Runs) -> MetricDifference | None:
    """Return the difference in a metric; None without tasks."""
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for unit in units:
        mean_a, mean_b = (fmean(metric_value(run, metric) for run in runs[unit.key]) for runs in (a, b))
        pairs[unit.key.task_id].append((mean_a, mean_b))
    if not pairs:
        return None
    of_a, of_b = ([fmean(task[arm] for task in of_task) for of_task in pairs.values()] for arm in (0, 1))
    differences, clusters = [y - x for x, y in zip(of_a, of_b, strict=True)], clusters_of(units)
    shift = sign_flip_test(differences, [clusters[task] for task in pairs])
    return MetricDifference(
        name=metric,
        unit=METRICS[metric],
        tasks=len(pairs),
        mean_a=fmean(of_a),
        mean_b=fmean(of_b),
        difference=fmean(differences),
        interval=shift.interval,
        p=shift.p.two_sided,
    )


def task_shares(units: Sequence[UnitComparison]) -> TaskShares:
    """Count the tasks that were better, the same and worse in B, averaged over their configs and models."""
    differences, _ = per_task(units, clusters_of(units))
    better, worse = sum(d > TIE for d in differences), sum(d < -TIE for d in differences)
    return TaskShares(better=better, same=len(differences) - better - worse, worse=worse)


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
    ps = [sign_flip_test(*sample).p.two_sided for sample in samples]
    judged = zip(found, samples, ps, holm(ps), holm_levels(ps, alpha), strict=True)
    return tuple(
        Slice(
            dimension=dimension,
            value=value,
            tasks=len(sample[0]),
            mean_a=_mean_of_tasks(of_group, lambda unit: unit.mean_a),
            mean_b=_mean_of_tasks(of_group, lambda unit: unit.mean_b),
            difference=fmean(sample[0]),
            interval=sign_flip_test(*sample, 1 - level).interval,
            p=p,
            adjusted_p=adjusted,
        )
        for (dimension, value, of_group), sample, p, adjusted, level in judged
    )


def _mean_of_tasks(units: Sequence[UnitComparison], mean: Callable[[UnitComparison], float]) -> float:
    """Average over tasks, each config and model of a task counting as a part of it."""
    found: dict[str, list[float]] = defaultdict(list)
    for unit in units:
        found[unit.key.task_id].append(mean(unit))
    return fmean(fmean(values) for values in found.values())


def find_headroom(units: Sequence[UnitComparison], alpha: float, lost: float) -> Headroom | None:
    """Return what the tasks can show; None without tasks.

    Args:
        units: the tasks that both arms measured, the lost runs counting as 0.
        alpha: two-sided level of the comparison, 0 to 1.
        lost: the larger of the arms' shares of lost runs, 0 to 1, which hides as much of an effect.
    """
    if not units:
        return None
    mean_a, mean_b = (_mean_of_tasks(units, mean) for mean in (lambda unit: unit.mean_a, lambda unit: unit.mean_b))
    error, count = standard_error(*per_task(units, clusters_of(units)))
    is_rate = units[0].metric == "pass_rate"
    runs_b = sum(len(unit.scores_b) for unit in units)

    def finds(sign: int) -> float | None:
        """Return the effect found with 80 % probability; passes vary more, the closer their rate moves to a half."""
        effect = 0.0
        for _ in range(50):
            shift = sign * min(effect, 1.0) * is_rate
            more = (shift * (1 - mean_a - mean_b) - shift**2) / runs_b
            spread = max(error**2 + more, 0.0) ** 0.5
            found = minimal_detectable_effect(spread, count, alpha / 2)
            if found is None or found < TIE:
                return None
            effect = found / (1 - lost)
        return effect

    rise, fall = finds(1), finds(-1)
    tasks: dict[str, list[UnitComparison]] = defaultdict(list)
    for unit in units:
        tasks[unit.key.task_id].append(unit)
    passed = [
        [(sum(u.passed_a for u in of), sum(len(u.scores_a) for u in of)) for of in tasks.values()],
        [(sum(u.passed_b for u in of), sum(len(u.scores_b) for u in of)) for of in tasks.values()],
    ]
    always, never = ([sum(ok == (runs if full else 0) for ok, runs in arm) for arm in passed] for full in (True, False))
    return Headroom(
        tasks=len(tasks),
        always_a=always[0],
        never_a=never[0],
        always_b=always[1],
        never_b=never[1],
        rise=1 - mean_a,
        fall=mean_a,
        finds_rise=rise if rise is not None and rise <= 1 - mean_a else None,
        finds_fall=fall if fall is not None and fall <= mean_a else None,
    )
