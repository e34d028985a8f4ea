"""When does a difference count? The verdict over all tasks together, and over each task alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import comb, prod
from statistics import fmean

from measure.compare.verdicts import Decision, UnitComparison, Verdict
from measure.statistics import significance
from measure.statistics.estimates import CONFIDENCE, TIE, Interval
from measure.statistics.significance import OneSided

TASK_Q = 0.01
"""False discovery rate over single tasks."""
WORSE_ALPHA = 0.035
"""Level of the one-sided test whether these very tasks got worse; with TASK_Q, it stays below 5 % in all."""


def decide(
    units: Sequence[UnitComparison],
    *,
    threshold: float = 0.0,
    fixed_tasks: bool = False,
    comparisons: int = 1,
) -> Decision:
    """Decide on all tasks together, and on each task alone.

    Tasks like these changed if the interval of the sign-flip test, which flips projects together, excludes 0. These
    very tasks changed if the stratified test rejects or a single task changed. Each task has a permutation test of its
    runs (Fisher's exact test for passes), at false discovery rate TASK_Q.

    Args:
        units: the tasks that both arms measured.
        threshold: mean changes of the metric below this, 0 to 1, are never called.
        fixed_tasks: ask about these very tasks.
        comparisons: number of comparisons, for which all levels are corrected (Bonferroni).
    """
    judged = tuple(_judge_units(units, threshold, TASK_Q / comparisons))
    differences, clusters = per_task(judged)
    difference, count = fmean(differences or [0.0]), len(set(clusters))
    confidence, these_tasks = 1 - (1 - CONFIDENCE) / comparisons, None
    shift, tail = significance.sign_flip_test(differences, clusters, confidence), (1 - confidence) / 2
    if fixed_tasks:
        these_tasks = significance.stratified_test([unit.values for unit in judged])
        moved = [unit.difference for unit in judged if abs(unit.difference) > TIE]
        verdict = _called(fmean(moved or [0.0]), these_tasks, WORSE_ALPHA / comparisons, tail, threshold)
        alone = {unit.verdict for unit in judged if unit.verdict.decided}
        if alone and not verdict.decided:
            verdict = Verdict.REGRESSION if Verdict.REGRESSION in alone else Verdict.IMPROVEMENT
        enough = prod(1 / comb(len(u.scores_a) + len(u.scores_b), len(u.scores_a)) for u in judged) <= WORSE_ALPHA
    else:
        verdict = beyond(shift.interval, difference, threshold)
        enough = 2.0**-count <= tail
    if not verdict.decided and not (judged and enough):
        verdict = Verdict.NOT_ENOUGH_DATA
    return Decision(
        verdict=verdict,
        difference=difference,
        suite=shift.p,
        interval=shift.interval,
        these_tasks=these_tasks,
        clusters=count,
        units=judged,
    )


def per_task(units: Iterable[UnitComparison]) -> tuple[list[float], list[str]]:
    """Return each task's mean difference, over its configs and models, and its cluster."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for unit in units:
        found[unit.key.task_id, unit.cluster].append(unit.difference)
    return [fmean(values) for values in found.values()], [cluster for _, cluster in found]


def beyond(interval: Interval | None, difference: float, threshold: float) -> Verdict:
    """Return the verdict of an interval: the side of 0 it lies on, if the difference is larger than the threshold."""
    if interval is not None and interval.high < -TIE and difference < -threshold:
        return Verdict.REGRESSION
    if interval is not None and interval.low > TIE and difference > threshold:
        return Verdict.IMPROVEMENT
    return Verdict.NO_EVIDENCE


def _called(difference: float, p: OneSided, worse: float, better: float, threshold: float) -> Verdict:
    if p.less <= worse and difference < -threshold:
        return Verdict.REGRESSION
    return Verdict.IMPROVEMENT if p.greater <= better and difference > threshold else Verdict.NO_EVIDENCE


def _judge_units(units: Sequence[UnitComparison], threshold: float, q: float) -> Iterator[UnitComparison]:
    """Judge each task alone, its p-values adjusted for the number of tasks, at false discovery rate `q`."""
    less = significance.discrete_benjamini_hochberg([u.p.less for u in units], [u.p.steps_less for u in units])
    greater = significance.discrete_benjamini_hochberg([u.p.greater for u in units], [u.p.steps_greater for u in units])
    for unit, down, up in zip(units, less, greater, strict=True):
        adjusted = OneSided(down, up, unit.p.attainable)
        verdict = _called(unit.difference, adjusted, q, q, threshold)
        yield unit.model_copy(update={"verdict": verdict, "adjusted": adjusted})
