"""Why should a reader doubt a comparison? One sentence for each reason found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from harness.compare.decision import per_task
from harness.compare.doubts.confounds import confounds, treatment_in_baseline, unused_treatment
from harness.compare.doubts.loss import cut_short, lost_runs
from harness.compare.doubts.zeros import zeros_of_arms, zeros_of_groups
from harness.compare.verdicts import Comparison, UnitComparison
from harness.compare.wording import counted, group_name, metric_name, p_text, points, some
from harness.models import EvalResult
from harness.statistics import significance
from locobench.shared.derived import CONTROL_GROUP

MOVED_P = 0.05
"""Two-sided p-value at which a control group has moved, since it should move in neither direction."""


def find_warnings(
    comparison: Comparison,
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    treatment: Sequence[str] = (),
) -> list[str]:
    """Return every reason to doubt `comparison`, as sentences, the most important first.

    Args:
        comparison: complete but for its warnings.
        results_a: all runs of A, lost ones included.
        results_b: all runs of B.
        treatment: the tools that B is about, as glob patterns; by default, they follow from what was offered.
    """
    arms = ((comparison.label_a, results_a), (comparison.label_b, results_b))
    return [
        *lost_runs(arms),
        *cut_short(arms),
        *zeros_of_arms(arms),
        *zeros_of_groups(comparison.decision.units, comparison.label_a, comparison.label_b),
        *treatment_in_baseline(arms, treatment),
        *unused_treatment(arms, treatment),
        *confounds(arms),
        *_control_group(comparison.decision.units),
        *_influence(comparison),
        *_unequal_trials(comparison),
        *_unmatched(comparison),
        *_other_metric(comparison),
    ]


def _influence(comparison: Comparison) -> Iterator[str]:
    """Name the groups that carry the difference or pull against it, with the numbers without them."""
    for group in comparison.influence:
        what = "carries more than its share of the difference" if group.carries else "pulls against the difference"
        verdict = ""
        if group.verdict_without != comparison.verdict:
            verdict = f", and the verdict would be '{group.verdict_without}' instead of '{comparison.verdict}'"
        yield (
            f"The group {group_name(group.dimension, group.value)} {what}: {points(group.within)} over its "
            f"{counted(group.tasks, 'task')}. Without it the {metric_name(comparison.metric)} changes by "
            f"{points(group.without)} instead of {points(comparison.decision.difference)}{verdict}. Random groups as "
            f"far from the rest as this one: p = {p_text(group.p)}, corrected for the number of groups; read a few of "
            "its runs before you generalise."
        )


def _unequal_trials(comparison: Comparison) -> Iterator[str]:
    unequal = [u for u in comparison.decision.units if len(u.scores_a) != len(u.scores_b)]
    if unequal:
        name = comparison.decision.name
        examples = [f"{name(u)} ({len(u.scores_a)} and {len(u.scores_b)})" for u in unequal]
        yield (
            f"The arms do not have the same number of measured runs: {some(examples)}; "
            "run the missing ones before you compare single tasks."
        )


def _unmatched(comparison: Comparison) -> Iterator[str]:
    for label, tasks in ((comparison.label_a, comparison.only_a), (comparison.label_b, comparison.only_b)):
        if tasks:
            yield (
                f"Only {label} measured {counted(len(tasks), 'task')}, left out of the comparison: {some(tasks)}; "
                "run them in the other arm as well."
            )


def _other_metric(comparison: Comparison) -> Iterator[str]:
    """Warn if the verdict's metric did not move but the other one did."""
    other = comparison.metric_named("score" if comparison.metric == "pass_rate" else "pass_rate")
    if comparison.verdict.decided or other is None:
        return
    if other.interval is not None and not other.interval.low <= 0 <= other.interval.high:
        yield (
            f"The {metric_name(other.name)} changed by {points(other.difference)} "
            f"(one-sided p = {p_text(other.p.smaller)}), but the verdict is about the "
            f"{metric_name(comparison.metric)} alone; choose a metric before the runs are made, not after."
        )


def _control_group(units: Sequence[UnitComparison]) -> Iterator[str]:
    """Say whether the control group moved: tasks that one grep nearly answers should score alike in both arms."""
    differences, _ = per_task(unit for unit in units if unit.groups.get(CONTROL_GROUP) == "yes")
    if not differences:
        return
    p = significance.sign_flip_test(differences).p.two_sided
    told = f"{points(fmean(differences))} over {counted(len(differences), 'task')} (p = {p_text(p)})"
    if p <= MOVED_P:
        yield (
            f"The control group moved: {told}. One grep nearly answers these tasks, so something else than the search"
            " differs between the arms; look for it before you trust the difference."
        )
    else:
        yield f"The control group, which one grep nearly answers, did not move: {told}."
