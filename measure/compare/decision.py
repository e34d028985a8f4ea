"""When does a difference count? The verdict over all tasks together, and over each task alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb, log, log1p, prod
from statistics import fmean

import scipy

from locobench.shared.claim import REPOSITORIES_FOR_ALL
from locobench.shared.grouping import grouped
from measure.compare.verdicts import Decision, UnitComparison, Verdict
from measure.statistics import significance
from measure.statistics.corrections import discrete_benjamini_hochberg
from measure.statistics.estimates import ALPHA, TIE, Interval, equivalence_interval
from measure.statistics.significance import OneSided

MARGIN = 0.05
"""Difference of the metric, 0 to 1, up to which two arms are as good as each other, unless the user names one."""
BROKEN = 0.9
"""A task of several runs whose metric fell by this much broke: its runs do not vary that far."""
UNSEEN = 0.1
"""Arms are as good only if a share of broken tasks as large as the margin would show so little this seldom, 0 to 1."""
TASK_Q = 0.01
"""False discovery rate over single tasks."""
WORSE_ALPHA, BETTER_ALPHA = 0.035, 0.01
"""Levels of the one-sided tests whether these very tasks got worse or better; with TASK_Q, about 5 % in all."""


@dataclass(frozen=True)
class Question:
    """What is asked of two arms."""

    threshold: float = 0.0
    """Mean changes of the metric below this, 0 to 1, are never called."""
    margin: float = MARGIN
    """Differences up to this, between 0 and 1, are as good."""
    fixed_tasks: bool = False
    """Ask about these very tasks, as a regression test does, and not about tasks like these."""


def decide(
    units: Sequence[UnitComparison], asked: Question = Question(), *, alpha: float = ALPHA, alone: bool = True
) -> Decision:
    """Decide on all tasks together, and on each task alone.

    Tasks or repositories like these changed if the interval of the sign-flip test excludes 0. These very tasks changed
    if the stratified test rejects or a single task changed. Arms are as good as each other by two one-sided tests. Each
    task has a permutation test of its runs (Fisher's exact test for passes), at false discovery rate TASK_Q.
    Repositories that are too few to show that others are as good can show it of themselves.

    `alpha` is the level of the comparison, 0 to 1, with which all others shrink; `alone` judges each task alone, too.
    """
    threshold, fixed_tasks = asked.threshold, asked.fixed_tasks
    share = alpha / ALPHA
    judged = tuple(_judge_units(units, threshold, TASK_Q * share) if alone or fixed_tasks else units)
    differences, clusters = per_task(judged, clusters_of(judged))
    difference, count = fmean(differences or [0.0]), len(set(clusters))
    shift, these_tasks = significance.sign_flip_test(differences, clusters, 1 - alpha, dealt_anew(judged)), None
    alone_here, tasks = False, range(len(differences))
    equivalence = equivalence_interval(differences, clusters, 1 - 2 * alpha)
    no_worse, no_better = _within(equivalence, asked.margin, judged)
    if count < len(differences) and not (no_worse and no_better):  # so few repositories may all the same be as good
        alone_here, equivalence = True, equivalence_interval(differences, tasks, 1 - 2 * alpha)
        no_worse, no_better = _within(equivalence, asked.margin, judged)
    if fixed_tasks:
        these_tasks = significance.stratified_test([unit.values for unit in judged])
        moved = [unit.difference for unit in judged if abs(unit.difference) > TIE]
        verdict = _verdict_by(fmean(moved or [0.0]), these_tasks, WORSE_ALPHA * share, BETTER_ALPHA * share, threshold)
        decided = {unit.verdict for unit in judged if unit.verdict.decided}
        if Verdict.REGRESSION in decided and not verdict.decided:
            verdict = Verdict.REGRESSION
        elif decided and not verdict.decided and difference > TIE:  # one repaired task does not make a fall a rise
            verdict = Verdict.IMPROVEMENT
        enough = prod(1 / comb(len(u.scores_a) + len(u.scores_b), len(u.scores_a)) for u in judged) <= WORSE_ALPHA
    else:
        verdict = beyond(shift.interval, difference, threshold)
        enough = 2.0**-count <= alpha / 2
    if not (verdict.decided or fixed_tasks) and no_worse and no_better:
        verdict = Verdict.AS_GOOD
    elif not verdict.decided and not (judged and enough):
        verdict = Verdict.NOT_ENOUGH_DATA
    return Decision(
        verdict=verdict,
        difference=difference,
        suite=shift.p,
        interval=shift.interval,
        equivalence=equivalence,
        no_worse=no_worse,
        alone_here=alone_here,
        these_tasks=these_tasks,
        clusters=count,
        repositories=len({unit.repository for unit in judged} - {""}),
        units=judged,
    )


def dealt_anew(units: Sequence[UnitComparison]) -> OneSided | None:
    """Return the stratified test of units of which an arm has more runs; None if there are none.

    There the difference of a task has no coin flip's sign although nothing changed: near the ceiling the arm with one
    run passes, and the other falls a little short of it. Dealing runs out anew holds for any numbers of them.
    """
    if all(len(unit.scores_a) == len(unit.scores_b) for unit in units):
        return None
    return significance.stratified_test([unit.values for unit in units], ties=0.5)


def clusters_of(units: Iterable[UnitComparison]) -> dict[str, str]:
    """Return what each task changes sign with: its repository where there are enough of them, else itself alone.

    Tasks of one repository are not independent. A few repositories cannot stand for others, so the comparison is then
    about these alone, whose tasks are the sample.
    """
    found = {unit.key.task_id: unit.repository or unit.key.task_id for unit in units}
    return found if len(set(found.values())) >= REPOSITORIES_FOR_ALL else {task: task for task in found}


def per_task(units: Iterable[UnitComparison], clusters: Mapping[str, str]) -> tuple[list[float], list[str]]:
    """Return each task's mean difference, over its configs and models, and its cluster."""
    tasks = grouped(units, lambda unit: unit.key.task_id)
    differences = [fmean(unit.difference for unit in of_task) for of_task in tasks.values()]
    return differences, [clusters[task] for task in tasks]


def beyond(interval: Interval | None, difference: float, threshold: float) -> Verdict:
    """Return the verdict of an interval: its side of 0, if the difference is larger than the threshold."""
    if interval is not None and interval.high < -TIE and difference < -threshold:
        return Verdict.REGRESSION
    if interval is not None and interval.low > TIE and difference > threshold:
        return Verdict.IMPROVEMENT
    return Verdict.NO_EVIDENCE


def fewest_tasks(margin: float) -> int:
    """Return the fewest tasks that can show an arm to be as good within a margin, between 0 and 1.

    If a share `margin` of all tasks broke, a smaller set would too often (more than UNSEEN) hold none of them.
    """
    return ceil(log(UNSEEN) / log1p(-margin))


def _within(interval: Interval | None, margin: float, units: Sequence[UnitComparison]) -> tuple[bool, bool]:
    """Return whether two one-sided tests show an arm to be no worse, and no better, by more than the margin.

    So few tasks must have broken, too (or been repaired), that no more would be seen in UNSEEN of cases at most if a
    share `margin` of all tasks had.
    """
    repeated = [u.difference for u in units if min(len(u.scores_a), len(u.scores_b)) > 1]
    fell, rose = sum(d <= -BROKEN for d in repeated), sum(d >= BROKEN for d in repeated)
    few_fell, few_rose = (scipy.special.bdtr(moved, len(units), margin) <= UNSEEN for moved in (fell, rose))
    if interval is None:
        return False, False
    return bool(interval.low >= -margin - TIE and few_fell), bool(interval.high <= margin + TIE and few_rose)


def _verdict_by(difference: float, p: OneSided, worse: float, better: float, threshold: float) -> Verdict:
    if p.less <= worse and difference < -threshold:
        return Verdict.REGRESSION
    return Verdict.IMPROVEMENT if p.greater <= better and difference > threshold else Verdict.NO_EVIDENCE


def _judge_units(units: Sequence[UnitComparison], threshold: float, q: float) -> Iterator[UnitComparison]:
    """Judge each task alone, its p-values adjusted for the number of tasks, at false discovery rate `q`."""
    tests = [_test_alone(unit) for unit in units]
    less = discrete_benjamini_hochberg([p.less for p in tests], [p.steps_less for p in tests])
    greater = discrete_benjamini_hochberg([p.greater for p in tests], [p.steps_greater for p in tests])
    for unit, p, down, up in zip(units, tests, less, greater, strict=True):
        adjusted = OneSided(down, up, p.attainable)
        verdict = _verdict_by(unit.difference, adjusted, q, q, threshold)
        yield unit.model_copy(update={"verdict": verdict, "p": p, "adjusted": adjusted})


def _test_alone(unit: UnitComparison) -> OneSided:
    if unit.metric == "pass_rate":
        return significance.fisher_test(unit.passed_a, len(unit.scores_a), unit.passed_b, len(unit.scores_b))
    return significance.mean_permutation_test(*unit.values)
