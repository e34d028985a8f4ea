"""Why should a reader doubt a comparison? One sentence for each reason found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from locobench.harbor.task import CONTROL_GROUP
from measure.compare.decision import per_task
from measure.compare.doubts.confounds import confounds, treatment_in_baseline, unused_treatment
from measure.compare.doubts.loss import Arms, cut_short, doubtful_zeros, lost_runs
from measure.compare.pairing import dimensions
from measure.compare.verdicts import Comparison, UnitComparison
from measure.compare.wording import counted, group_name, metric_name, p_text, points, some
from measure.statistics.significance import fisher_test, holm, sign_flip_test

MANY_ZEROS = 0.5
"""An arm in which this share of runs scored 0 looks broken rather than weak."""
MORE_ZEROS = 0.2
"""So does one, or a group of it, that exceeds the other arm, and the rest of its own arm, by this much ..."""
ZEROS_P = 0.01
"""... if chance explains neither at this level; for groups after Holm's correction."""
MOVED_P = 0.05
"""Two-sided p-value at which a control group has moved, since it should move in neither direction."""


def find_warnings(comparison: Comparison, arms: Arms, treatment: Sequence[str]) -> list[str]:
    """Return every reason to doubt `comparison`, as sentences, the most important first.

    `treatment` names the tools that B is about, as glob patterns; by default, they follow from what was offered.
    """
    return [
        *lost_runs(arms),
        *doubtful_zeros(arms),
        *cut_short(arms),
        *_zeros_of_arms(arms),
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


def _zeros_of_arms(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each arm with too many zeros."""
    of_arms = [_zeros([run.overall_score for run in results if run.measured]) for _, results in arms]
    for (label, _), (zeros, runs), (others, other_runs) in zip(arms, of_arms, reversed(of_arms), strict=True):
        share, excess = zeros / max(1, runs), zeros / max(1, runs) - others / max(1, other_runs)
        unlikely = fisher_test(others, other_runs, zeros, runs).greater <= ZEROS_P
        if share >= MANY_ZEROS or (excess >= MORE_ZEROS and unlikely):
            yield (
                f"{label}: {zeros} of {runs} measured runs scored 0 (the other arm: {others} of {other_runs}); "
                "look at a few of them before you trust the difference."
            )


def zeros_of_groups(units: Sequence[UnitComparison], label_a: str = "A", label_b: str = "B") -> list[str]:
    """Return a sentence for each group that scored 0 in one arm far more often than the rest of it and the other arm.

    The likely cause: a server never came up, or a verifier found no answer.
    """
    found = []
    for dimension, values in dimensions(units).items():
        for value in values:
            inside = [unit for unit in units if unit.groups.get(dimension) == value]
            outside = [unit for unit in units if unit.groups.get(dimension, value) != value]
            of_arms = (
                (label_a, [s for u in inside for s in u.scores_a], [s for u in outside for s in u.scores_a]),
                (label_b, [s for u in inside for s in u.scores_b], [s for u in outside for s in u.scores_b]),
            )
            for (arm, own, others), (other, same, _) in (of_arms, of_arms[::-1]):
                (zeros, runs), in_other, in_rest = _zeros(own), _zeros(same), _zeros(others)
                p = max(fisher_test(*against, zeros, runs).greater for against in (in_other, in_rest))
                excess = zeros / max(1, runs) - max(count / max(1, of) for count, of in (in_other, in_rest))
                text = (
                    f"{arm}: {zeros} of {runs} runs with {group_name(dimension, value)} scored 0 (the same tasks in "
                    f"{other}: {in_other[0]} of {in_other[1]}; the rest of {arm}: {in_rest[0]} of {in_rest[1]}); "
                    "look at a few of these runs before you trust the difference."
                )
                found.append((p, excess, text))
    adjusted = holm([p for p, _, _ in found])
    named = [
        (p, text) for p, (_, excess, text) in zip(adjusted, found, strict=True) if p <= ZEROS_P and excess >= MORE_ZEROS
    ]
    return [text for _, text in sorted(named, key=lambda group: group[0])]


def _zeros(scores: Sequence[float]) -> tuple[int, int]:
    return scores.count(0), len(scores)


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
    p = sign_flip_test(differences).p.two_sided
    told = f"{points(fmean(differences))} over {counted(len(differences), 'task')} (p = {p_text(p)})"
    if p <= MOVED_P:
        yield (
            f"The control group moved: {told}. One grep nearly answers these tasks, so something else than the search"
            " differs between the arms; look for it before you trust the difference."
        )
    else:
        yield f"The control group, which one grep nearly answers, did not move: {told}."
