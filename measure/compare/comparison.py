"""Did B do better or worse than A? Verdicts over two lists of results, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from locobench.shared.errors import InputError
from measure.compare.decision import decide, per_task
from measure.compare.differences import QUANTITIES, cost_effect, find_difference, find_slices, task_shares
from measure.compare.doubts.loss import Arms, find_loss, hold_against_loss
from measure.compare.doubts.warnings import find_warnings
from measure.compare.influence import find_influence
from measure.compare.metrics import by_task, count_errors, mean_of_known, metric_value, resolve_metric, tool_use
from measure.compare.pairing import by_unit, pair_units, pairing
from measure.compare.verdicts import (
    ArmPoint,
    ArmsComparison,
    Comparison,
    Decision,
    Metric,
    MetricChoice,
    readable,
)
from measure.compare.wording import counted
from measure.records import EvalResult
from measure.statistics.estimates import CONFIDENCE, TIE, minimal_detectable_effect, standard_error


def compare(
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    *,
    label_a: str = "A",
    label_b: str = "B",
    metric: MetricChoice = "auto",
    threshold: float = 0.0,
    treatment: Sequence[str] = (),
    fixed_tasks: bool = False,
    comparisons: int = 1,
) -> Comparison:
    """Compare two arms task by task.

    Runs that measured nothing (infrastructure, setup, judge) count in no rate. The scores they could have had widen
    the interval, and too many of them rule out a verdict. Tasks of one arm alone are listed separately.

    Args:
        results_a: the runs B is compared with.
        results_b: the runs the verdict is about.
        label_a: what a report calls A.
        label_b: what a report calls B.
        metric: what decides the verdict. `auto` takes the score if any score is neither 0 nor 1, else the pass rate.
        threshold: changes of the metric below this, 0 to 1, are never called.
        treatment: the tools that B is about, as glob patterns; by default, those offered to B's runs but not to A's.
        fixed_tasks: ask about these very tasks, as a regression test does, and not about tasks like these.
        comparisons: number of comparisons with A; the level is corrected for it (Bonferroni).

    Raises:
        InputError: the arms share runs, or have no model in common and one has several.
    """
    labelled = ((label_a, results_a), (label_b, results_b))
    _refuse_shared_runs(labelled)
    chosen = resolve_metric(metric, [*results_a, *results_b])
    confidence = 1 - (1 - CONFIDENCE) / comparisons
    key_of = pairing(results_a, results_b)
    decide_units = partial(decide, threshold=threshold, fixed_tasks=fixed_tasks, comparisons=comparisons)

    def decide_with(lost_a: float, lost_b: float) -> Decision:
        runs = by_unit(results_a, key_of, lost_a), by_unit(results_b, key_of, lost_b)
        return decide_units(pair_units(*runs, chosen))

    arms = by_unit(results_a, key_of), by_unit(results_b, key_of)
    units = pair_units(*arms, chosen)
    loss = find_loss(labelled)
    decision, loss = hold_against_loss(decide_units(units), loss, threshold, decide_with)
    differences = {name: find_difference(name, units, *arms, confidence) for name in QUANTITIES}
    if primary := differences[chosen]:
        differences[chosen] = primary.model_copy(update={"interval": decision.interval})
    keys_a, keys_b = (runs.keys() for runs in arms)
    names = readable(keys_a | keys_b)
    error, count = standard_error(*per_task(units)) if units else (0.0, 0)
    price = partial(cost_effect, units, *arms, QUANTITIES[chosen][1], confidence=confidence)
    comparison = Comparison(
        label_a=label_a,
        label_b=label_b,
        metric=chosen,
        threshold=threshold,
        decision=decision,
        metrics=tuple(found for found in differences.values() if found),
        detectable=minimal_detectable_effect(error, count, (1 - confidence) / 2) if error > TIE else None,
        confidence=confidence,
        loss=loss,
        only_a=tuple(names[key] for key in sorted(keys_a - keys_b)),
        only_b=tuple(names[key] for key in sorted(keys_b - keys_a)),
        errors_a=count_errors(results_a),
        errors_b=count_errors(results_b),
        shares=task_shares(units),
        slices=find_slices(units, confidence),
        influence=find_influence(units, decide_units),
        cost=price(QUANTITIES["cost"][1]),
        time=price(QUANTITIES["time"][1]),
        tools_a=tool_use(results_a),
        tools_b=tool_use(results_b),
        comparisons=comparisons,
    )
    warnings = find_warnings(comparison, labelled, treatment)
    return comparison.model_copy(update={"warnings": tuple(warnings)})


def _refuse_shared_runs(arms: Arms) -> None:
    """Refuse a run that is in both arms: such a copy adds a difference of 0 that nobody measured."""
    (label_a, a), (label_b, b) = arms
    ids_a = {run.run_id for run in a if run.run_id}
    shared = [run for run in b if run.run_id in ids_a]
    if shared:
        raise InputError(
            f"{counted(len(shared), 'run')} of {label_b} {'is' if len(shared) == 1 else 'are'} in {label_a} as well, "
            f"such as {shared[0].source or shared[0].run_id}; name the folder of the other job"
        )


def compare_arms(
    arms: Sequence[tuple[str, Sequence[EvalResult]]], *, metric: MetricChoice = "auto", **options: Any
) -> ArmsComparison:
    """Compare every arm with the first.

    The error rate of each comparison and the false discovery rate over its single tasks are divided by the number of
    comparisons (Bonferroni), so that verdict and interval agree. With two arms nothing is corrected.

    Args:
        arms: label and results of each arm, the baseline first.
        metric: what decides; `auto` looks at all arms together, so that every comparison uses the same metric.
        options: `threshold`, `treatment` and `fixed_tasks`, as in `compare`.

    Raises:
        InputError: there are fewer than two arms, two have the same name, or as in `compare`.
    """
    labels = [label for label, _ in arms]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"a comparison takes two or more arms of different names, not: {', '.join(labels)}")
    options["metric"] = chosen = resolve_metric(metric, [result for _, results in arms for result in results])
    (first, baseline), *others = arms
    found = [
        compare(baseline, results, label_a=first, label_b=label, comparisons=len(others), **options)
        for label, results in others
    ]
    points = tuple(_point(label, results, chosen) for label, results in arms)
    return ArmsComparison(metric=chosen, arms=points, comparisons=tuple(found))


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
