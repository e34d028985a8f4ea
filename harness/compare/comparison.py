"""Did B do better or worse than A? Verdicts over two lists of results, wherever they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean

from harness.compare.decision import decide, per_task
from harness.compare.doubts.loss import find_loss, hold_against_loss
from harness.compare.doubts.warnings import find_warnings
from harness.compare.influence import find_influence, find_zero_clusters
from harness.compare.metrics import by_task, count_errors, mean_of_known, metric_value, resolve_metric
from harness.compare.slices import by_quartile, find_slices, task_shares, unit_groups
from harness.compare.usage import cost_effect, tool_use
from harness.compare.verdicts import (
    ArmPoint,
    ArmsComparison,
    Comparison,
    Decision,
    Metric,
    MetricChoice,
    MetricDifference,
    UnitComparison,
    UnitKey,
    readable,
)
from harness.compare.wording import counted
from harness.errors import InputError
from harness.models import EvalResult, Outcome
from harness.statistics import intervals, power, significance
from harness.statistics.intervals import CONFIDENCE, TIE

QUANTITIES: dict[str, tuple[str, Callable[[EvalResult], float | None]]] = {
    "pass_rate": ("share of runs", lambda r: float(r.passed)),
    "score": ("0 to 1", lambda r: r.overall_score),
    "tokens": ("tokens a run", lambda r: r.tokens),
    "cost": ("US$ a run", lambda r: r.cost_usd),
    "time": ("seconds a run", lambda r: r.trace.duration_seconds),
    "turns": ("turns a run", lambda r: r.trace.num_turns),
}
"""The quantities that are compared, with their unit and a run's value; runs without a value are left out."""


class UnclearPairing(InputError):
    """The arms have no model in common and one has several, so it is unclear which to compare."""

    def __init__(self, in_a: Sequence[str], in_b: Sequence[str]) -> None:
        """Name the models of each arm."""
        super().__init__(
            f"the arms have no model in common and one has several: {', '.join(in_a)} against {', '.join(in_b)}; "
            "choose one for each"
        )


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
        UnclearPairing: an arm has several models, and the arms have none in common.
        InputError: the arms share runs.
    """
    _refuse_shared_runs(results_a, results_b, label_a, label_b)
    chosen = resolve_metric(metric, [*results_a, *results_b])
    confidence = 1 - (1 - CONFIDENCE) / comparisons
    key_of = _pairing(results_a, results_b)
    decide_units = partial(
        decide, threshold=threshold, fixed_tasks=fixed_tasks, confidence=confidence, comparisons=comparisons
    )

    def runs_with(lost_a: float | None, lost_b: float | None) -> tuple[Runs, Runs]:
        return _by_unit(results_a, key_of, lost_a), _by_unit(results_b, key_of, lost_b)

    def decide_with(lost_a: float, lost_b: float) -> Decision:
        return decide_units(_units(*runs_with(lost_a, lost_b), chosen))

    runs_a, runs_b = runs_with(None, None)
    units = _units(runs_a, runs_b, chosen)
    loss = find_loss(results_a, results_b, label_a, label_b)
    decision, loss = hold_against_loss(decide_units(units), loss, threshold, decide_with)
    paired_a, paired_b = ({unit.key: runs[unit.key] for unit in units} for runs in (runs_a, runs_b))
    clusters = {unit.key.task_id: unit.cluster for unit in units}
    metrics = [_metric_difference(name, paired_a, paired_b, clusters, confidence) for name in QUANTITIES]
    names = readable(runs_a.keys() | runs_b.keys())
    error, count = intervals.standard_error(*per_task(units)) if units else (0.0, 0)
    comparison = Comparison(
        label_a=label_a,
        label_b=label_b,
        metric=chosen,
        threshold=threshold,
        decision=decision,
        metrics=tuple(
            found.model_copy(update={"interval": decision.interval}) if found.name == chosen else found
            for found in metrics
            if found is not None
        ),
        detectable=power.minimal_detectable_effect(error, count, (1 - confidence) / 2) if error > TIE else None,
        confidence=confidence,
        loss=loss,
        only_a=tuple(names[key] for key in sorted(runs_a.keys() - runs_b.keys())),
        only_b=tuple(names[key] for key in sorted(runs_b.keys() - runs_a.keys())),
        errors_a=count_errors(results_a),
        errors_b=count_errors(results_b),
        shares=task_shares(units),
        slices=find_slices(units, runs_a, runs_b, confidence),
        influence=find_influence(units, decide_units),
        zero_clusters=find_zero_clusters(units),
        cost=cost_effect(paired_a, paired_b, QUANTITIES[chosen][1], clusters, confidence),
        time=cost_effect(
            paired_a, paired_b, QUANTITIES[chosen][1], clusters, confidence, lambda run: run.trace.duration_seconds
        ),
        tools_a=tool_use(results_a),
        tools_b=tool_use(results_b),
        comparisons=comparisons,
    )
    warnings = find_warnings(comparison, results_a, results_b, treatment)
    return comparison.model_copy(update={"warnings": tuple(warnings)})


def _refuse_shared_runs(a: Sequence[EvalResult], b: Sequence[EvalResult], label_a: str, label_b: str) -> None:
    """Refuse a run that is in both arms: such a copy adds a difference of 0 that nobody measured."""
    ids_a = {run.run_id: run for run in a if run.run_id}
    shared = [run for run in b if run.run_id in ids_a]
    if shared:
        raise InputError(
            f"{counted(len(shared), 'run')} of {label_b} {'is' if len(shared) == 1 else 'are'} in {label_a} as well, "
            f"such as {shared[0].source or shared[0].run_id}; name the folder of the other job"
        )


def _pairing(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Callable[[EvalResult], UnitKey]:
    """Return the key by which runs are paired: always the task; config and model if the arms share any."""
    if not a or not b:
        return lambda result: UnitKey(result.task_id, result.config_name, result.model)
    by_config = bool({r.config_name for r in a} & {r.config_name for r in b})
    models_a, models_b = {r.model for r in a}, {r.model for r in b}
    by_model = bool(models_a & models_b)
    if not by_model and (len(models_a) > 1 or len(models_b) > 1):
        raise UnclearPairing(sorted(models_a), sorted(models_b))
    return lambda result: UnitKey(
        result.task_id, result.config_name if by_config else "", result.model if by_model else ""
    )


Runs = Mapping[UnitKey, list[EvalResult]]


def _by_unit(results: Sequence[EvalResult], key_of: Callable[[EvalResult], UnitKey], lost: float | None) -> Runs:
    """Group the measured runs by unit; `lost`, 0 to 1, adds the lost runs with that score."""
    runs: dict[UnitKey, list[EvalResult]] = defaultdict(list)
    for result in results:
        if result.measured:
            runs[key_of(result)].append(result)
        elif lost is not None:
            as_if = {"overall_score": lost, "passed": lost == 1, "outcome": Outcome.COMPLETED, "grades": []}
            runs[key_of(result)].append(result.model_copy(update=as_if))
    return {key: sorted(found, key=lambda r: r.run_index) for key, found in runs.items()}


def _units(runs_a: Runs, runs_b: Runs, metric: Metric) -> list[UnitComparison]:
    both = sorted(runs_a.keys() & runs_b.keys())
    return by_quartile([_unit(key, runs_a[key], runs_b[key], metric) for key in both])


def _unit(key: UnitKey, a: list[EvalResult], b: list[EvalResult], metric: Metric) -> UnitComparison:
    value = QUANTITIES[metric][1]
    values_a, values_b = [value(r) or 0.0 for r in a], [value(r) or 0.0 for r in b]
    passed_a, passed_b = sum(r.passed for r in a), sum(r.passed for r in b)
    p = (
        significance.fisher_test(passed_a, len(a), passed_b, len(b))
        if metric == "pass_rate"
        else significance.mean_permutation_test(values_a, values_b)
    )
    return UnitComparison(
        key=key,
        metric=metric,
        scores_a=tuple(r.overall_score for r in a),
        scores_b=tuple(r.overall_score for r in b),
        passed_a=passed_a,
        passed_b=passed_b,
        difference=fmean(values_b) - fmean(values_a),
        p=p,
        groups=unit_groups(key, a, b),
    )


def _metric_difference(
    name: str, runs_a: Runs, runs_b: Runs, clusters: Mapping[str, str], confidence: float
) -> MetricDifference | None:
    unit, value = QUANTITIES[name]
    means_of: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for key in runs_a:
        values_a = [v for r in runs_a[key] if (v := value(r)) is not None]
        values_b = [v for r in runs_b[key] if (v := value(r)) is not None]
        if values_a and values_b:
            means_of[key.task_id].append((fmean(values_a), fmean(values_b)))
    if not means_of:
        return None
    means = [(fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) for pairs in means_of.values()]
    differences = [b - a for a, b in means]
    shift = significance.sign_flip_test(differences, [clusters[task] for task in means_of], confidence)
    return MetricDifference(
        name=name,
        unit=unit,
        tasks=len(means),
        mean_a=fmean(a for a, _ in means),
        mean_b=fmean(b for _, b in means),
        difference=fmean(differences),
        interval=shift.interval,
        p=shift.p,
    )


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
