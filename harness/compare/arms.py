"""How do several arms compare with the first? Each against it, corrected for their number, with costs and scores."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from harness.compare.comparison import compare
from harness.compare.findings import Frozen
from harness.compare.metrics import by_task, mean_of_known, metric_value, resolve_metric
from harness.compare.verdicts import Comparison, Metric, MetricChoice
from harness.errors import InputError
from harness.models import EvalResult


class ArmPoint(Frozen):
    """One arm as a point in a plot of the metric against cost."""

    label: str
    tasks: int
    """Tasks with a measured run."""
    runs: int
    """Measured runs."""
    mean: float | None
    """Mean of the metric over tasks, 0 to 1; None without a measured run."""
    cost: float | None
    """Mean US$ a run, over the runs that recorded it; None when none did."""


class ArmsComparison(Frozen):
    """Every other arm against the first."""

    metric: Metric
    arms: tuple[ArmPoint, ...]
    """All arms, the first one included, in order."""
    comparisons: tuple[Comparison, ...]
    """One for each other arm; their level is corrected for their number."""


def compare_arms(
    arms: Sequence[tuple[str, Sequence[EvalResult]]],
    *,
    metric: MetricChoice = "auto",
    threshold: float = 0.0,
    treatment: Sequence[str] = (),
    fixed_tasks: bool = False,
) -> ArmsComparison:
    """Compare every arm with the first.

    The error rate of each comparison and the false discovery rate over its single tasks are divided by the number of
    comparisons (Bonferroni), so that verdict and interval agree. With two arms nothing is corrected.

    Args:
        arms: label and results of each arm, the baseline first.
        metric: what decides; `auto` looks at all arms together, so that every comparison uses the same metric.
        threshold: changes of the metric below this, 0 to 1, are never called.
        treatment: the tools that the other arms are about, as glob patterns.
        fixed_tasks: which question is asked, as in `compare`.

    Raises:
        InputError: there are fewer than two arms, or two have the same name.
        UnclearPairing: an arm has several models, and none in common with the first.
    """
    labels = [label for label, _ in arms]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"a comparison takes two or more arms of different names, not: {', '.join(labels)}")
    chosen = resolve_metric(metric, [result for _, results in arms for result in results])
    (first, baseline), *others = arms
    found = [
        compare(
            baseline,
            results,
            label_a=first,
            label_b=label,
            metric=chosen,
            threshold=threshold,
            treatment=treatment,
            fixed_tasks=fixed_tasks,
            comparisons=len(others),
        )
        for label, results in others
    ]
    return ArmsComparison(
        metric=chosen,
        arms=tuple(_point(label, results, chosen) for label, results in arms),
        comparisons=tuple(found),
    )


def _point(label: str, results: Sequence[EvalResult], metric: Metric) -> ArmPoint:
    measured = [result for result in results if result.measured]
    means = [fmean(metric_value(run, metric) for run in runs) for runs in by_task(measured).values()]
    return ArmPoint(
        label=label,
        tasks=len(means),
        runs=len(measured),
        mean=fmean(means) if means else None,
        cost=mean_of_known(run.cost_usd for run in measured),
    )
