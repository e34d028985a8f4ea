"""Did B do better or worse than A? Verdicts over two lists of results of any origin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, variance

from harness import statistics
from harness.compare.doubts.treatment import treatment_tools
from harness.compare.influence import find_influence, find_zero_clusters
from harness.compare.metrics import count_errors, resolve_metric
from harness.compare.slices import by_quartile, find_slices, task_shares, unit_groups
from harness.compare.usage import cost_effect, tool_association, tool_use
from harness.compare.verdicts import (
    SUITE_ALPHA,
    Comparison,
    Metric,
    MetricChoice,
    MetricDifference,
    UnitComparison,
    UnitKey,
    Verdict,
    decide,
    readable,
)
from harness.compare.warnings import find_warnings
from harness.errors import InputError
from harness.models import EvalResult

MAX_ERROR_SHARE = 0.2
"""With more errors than this in an arm, "no evidence" would claim more than was measured."""

QUANTITIES: dict[str, tuple[str, Callable[[EvalResult], float | None]]] = {
    "pass_rate": ("share of runs", lambda r: float(r.passed)),
    "score": ("0 to 1", lambda r: r.overall_score),
    "tokens": ("tokens a run", lambda r: r.tokens),
    "cost": ("US$ a run", lambda r: r.cost_usd),
    "time": ("seconds a run", lambda r: r.trace.duration_seconds),
    "turns": ("turns a run", lambda r: r.trace.num_turns),
}
"""What is compared: unit and value of one run; a run without the value does not count for it."""


class UnclearPairing(InputError):
    """The arms have no model in common and one has several, so which to compare with which?"""

    def __init__(self, in_a: Sequence[str], in_b: Sequence[str]) -> None:
        """The models of each arm."""
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
    pool: bool = False,
) -> Comparison:
    """Compare two arms task by task.

    Runs that measured nothing (infrastructure, setup, judge) and tasks that only one arm has are outside the
    rates, and counted in the result.

    Args:
        results_a: the runs B is compared with.
        results_b: the runs the verdict is about.
        label_a: what a report calls A.
        label_b: what a report calls B.
        metric: what decides the verdict; the others are shown beside it. `auto`: the score where any is neither 0
            nor 1, else the pass rate.
        threshold: of the metric, 0 to 1; a smaller change is never called.
        treatment: the tools that B is about, as glob patterns; without it, what B's runs were offered and A's not.
        pool: pair by task and model alone, whatever the configs are called; they stay as groups. Without it, so it is
            where the arms have no config in common.

    Raises:
        UnclearPairing: several models in an arm, and none in common.
    """
    chosen = resolve_metric(metric, [*results_a, *results_b])
    key_of = _pairing(results_a, results_b, pool)
    runs_a, runs_b = _measured(results_a, key_of), _measured(results_b, key_of)
    both = sorted(runs_a.keys() & runs_b.keys())
    units = by_quartile([_unit(key, runs_a[key], runs_b[key], chosen) for key in both])
    paired_a, paired_b = {key: runs_a[key] for key in both}, {key: runs_b[key] for key in both}
    decision = decide(units, threshold=threshold)
    errors_a, errors_b = count_errors(results_a), count_errors(results_b)
    lost = any(
        sum(errors.values()) > MAX_ERROR_SHARE * len(results)
        for errors, results in ((errors_a, results_a), (errors_b, results_b))
    )
    if lost and not decision.verdict.decided:
        decision = decision.model_copy(update={"verdict": Verdict.NOT_ENOUGH_DATA})
    names = readable(runs_a.keys() | runs_b.keys())
    comparison = Comparison(
        label_a=label_a,
        label_b=label_b,
        metric=chosen,
        threshold=threshold,
        decision=decision,
        metrics=tuple(
            found for name in QUANTITIES if (found := _metric_difference(name, paired_a, paired_b)) is not None
        ),
        detectable=_detectable(units, chosen),
        only_a=tuple(names[key] for key in sorted(runs_a.keys() - runs_b.keys())),
        only_b=tuple(names[key] for key in sorted(runs_b.keys() - runs_a.keys())),
        errors_a=errors_a,
        errors_b=errors_b,
        shares=task_shares(units),
        slices=find_slices(units, runs_a, runs_b),
        influence=find_influence(units, threshold=threshold),
        zero_clusters=find_zero_clusters(units),
        cost=cost_effect(paired_a, paired_b, QUANTITIES[chosen][1]),
        tools_a=tool_use(results_a),
        tools_b=tool_use(results_b),
        association=tool_association(runs_b, QUANTITIES[chosen][1], treatment_tools(results_a, results_b, treatment)),
    )
    warnings = find_warnings(comparison, results_a, results_b, treatment)
    return comparison.model_copy(update={"warnings": tuple(warnings)})


def _pairing(a: Sequence[EvalResult], b: Sequence[EvalResult], pool: bool) -> Callable[[EvalResult], UnitKey]:
    """The key under which runs meet: always the task; config and model when the arms share any."""
    if not a or not b:
        return lambda result: UnitKey(result.task_id, result.config_name, result.model)
    by_config = not pool and bool({r.config_name for r in a} & {r.config_name for r in b})
    models_a, models_b = {r.model for r in a}, {r.model for r in b}
    by_model = bool(models_a & models_b)
    if not by_model and (len(models_a) > 1 or len(models_b) > 1):
        raise UnclearPairing(sorted(models_a), sorted(models_b))
    return lambda result: UnitKey(
        result.task_id, result.config_name if by_config else "", result.model if by_model else ""
    )


Runs = Mapping[UnitKey, list[EvalResult]]


def _measured(results: Sequence[EvalResult], key_of: Callable[[EvalResult], UnitKey]) -> Runs:
    runs: dict[UnitKey, list[EvalResult]] = defaultdict(list)
    for result in results:
        if result.measured:
            runs[key_of(result)].append(result)
    return {key: sorted(found, key=lambda r: r.run_index) for key, found in runs.items()}


def _unit(key: UnitKey, a: list[EvalResult], b: list[EvalResult], metric: Metric) -> UnitComparison:
    value = QUANTITIES[metric][1]
    values_a, values_b = [value(r) or 0.0 for r in a], [value(r) or 0.0 for r in b]
    passed_a, passed_b = sum(r.passed for r in a), sum(r.passed for r in b)
    p = (
        statistics.fisher_test(passed_a, len(a), passed_b, len(b))
        if metric == "pass_rate"
        else statistics.mean_permutation_test(values_a, values_b)
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


def _metric_difference(name: str, runs_a: Runs, runs_b: Runs) -> MetricDifference | None:
    unit, value = QUANTITIES[name]
    per_task: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for key in runs_a:
        values_a = [v for r in runs_a[key] if (v := value(r)) is not None]
        values_b = [v for r in runs_b[key] if (v := value(r)) is not None]
        if values_a and values_b:
            per_task[key.task_id].append((fmean(values_a), fmean(values_b)))
    if not per_task:
        return None
    means = [(fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) for pairs in per_task.values()]
    differences = [b - a for a, b in means]
    return MetricDifference(
        name=name,
        unit=unit,
        tasks=len(means),
        mean_a=fmean(a for a, _ in means),
        mean_b=fmean(b for _, b in means),
        difference=fmean(differences),
        interval=statistics.paired_bootstrap(differences),
        p=statistics.sign_flip_test(differences),
    )


def _detectable(units: Sequence[UnitComparison], metric: Metric) -> float | None:
    """Minimal detectable effect at the observed spread, which is never taken to be less than the runs' own.

    The runs' own is p(1-p) of a mean smoothed by one pass and one failure, so that a task that always passed
    in three runs is not taken for one that cannot fail; for scores it is the most a score can vary.
    """
    differences: dict[str, list[float]] = defaultdict(list)
    noise: dict[str, list[float]] = defaultdict(list)
    for unit in units:
        arms = ((unit.passed_a, unit.scores_a), (unit.passed_b, unit.scores_b))
        totals = [(passed if metric == "pass_rate" else sum(scores), len(scores)) for passed, scores in arms]
        differences[unit.key.task_id].append(unit.difference)
        noise[unit.key.task_id].append(sum(_variance(total, runs) for total, runs in totals))
    if len(differences) < 2:
        return None
    observed = variance(fmean(values) for values in differences.values())
    own = fmean(sum(values) / len(values) ** 2 for values in noise.values())
    return statistics.minimal_detectable_effect(max(observed, own) ** 0.5, len(differences), SUITE_ALPHA)


def _variance(total: float, runs: int) -> float:
    mean = (total + 1) / (runs + 2)
    return mean * (1 - mean) / runs
