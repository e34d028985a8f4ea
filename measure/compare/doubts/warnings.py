"""Why should a reader doubt a comparison? One sentence for each reason found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

import scipy

from locobench.harbor.task import CONTROL_GROUP, HISTORY
from locobench.shared.claim import REPOSITORIES_FOR_ALL
from measure.compare.decision import clusters_of, dealt_anew, per_task
from measure.compare.doubts.confounds import confounds
from measure.compare.doubts.loss import cut_short, doubtful_zeros, lost_runs
from measure.compare.doubts.treatment import fetched_code, no_way_to_the_code, treatment_in_baseline, unused_treatment
from measure.compare.pairing import Arms, dimensions
from measure.compare.verdicts import Comparison, UnitComparison
from measure.compare.wording import measure_name
from measure.records import EvalResult
from measure.statistics.corrections import holm
from measure.statistics.significance import fisher_test, sign_flip_test
from measure.summary.wording import counted, p_text, points, some

MORE_ZEROS = 0.2
"""An arm, or a group of it, that scored 0 this much more often than the other arm, and than the rest of its own, looks
broken rather than weak ..."""
ZEROS_P = 0.01
"""... if chance explains neither at this level, after Holm's correction."""
MOVED_P = 0.05
"""Two-sided p-value at which a group of tasks has moved."""
FEWEST_MOVED = 6
"""Tasks that must move one way for a sign-flip test to say so at MOVED_P."""
MOSTLY_BETWEEN = 0.2
"""Share of scores between 0 and 1 from which an arm is plainly not scored by passes."""
UNLIKE_P = 0.01
"""Level at which a few repositories are said to differ."""


def find_warnings(comparison: Comparison, arms: Arms, treatment: Sequence[str]) -> list[str]:
    """Return every reason to doubt `comparison`, as sentences, the most important first.

    `treatment` names the tools that B is about, as glob patterns; by default, they follow from what was offered.
    """
    units = comparison.decision.units
    return [
        *_pilot(comparison),
        *_one_set_of_runs(arms),
        *lost_runs(arms),
        *doubtful_zeros(arms),
        *cut_short(arms),
        *_mixed_scales(arms),
        *_tools_as_invented(arms),
        *many_zeros(units, comparison.label_a, comparison.label_b),
        *treatment_in_baseline(arms, treatment),
        *unused_treatment(arms, treatment),
        *no_way_to_the_code(arms),
        *fetched_code(arms),
        *confounds(arms),
        *_control_group(units),
        *_later_code(units, arms),
        *_unlike_repositories(units),
        *_unequal_trials(comparison, arms),
        *_unmatched(comparison),
        *_unrecorded(comparison),
    ]


def _pilot(comparison: Comparison) -> Iterator[str]:
    """Say which runs were left out since the tasks were selected by them."""
    counts = ((comparison.label_a, comparison.pilot_a), (comparison.label_b, comparison.pilot_b))
    found = [f"{counted(count, 'run')} of {label}" for label, count in counts if count]
    if found:
        yield (
            f"Left out: {some(found)}, by which these tasks were selected. Tasks selected for a low reward earn "
            "more the next time, in any arm."
        )


def _unrecorded(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on what so many runs did not record, or so many more of one arm, that the change says little."""
    missing = [
        f"{measure_name(m.name)} ({comparison.label_a} {m.unknown_a}, {comparison.label_b} {m.unknown_b})"
        for m in comparison.costs
        if m.uneven
    ]
    if missing:
        yield (
            f"Measured runs that did not record what they needed: {some(missing)}. They count in no cost; if they are "
            "the long ones, their arm looks cheaper than it is."
        )


def _mixed_scales(arms: Arms) -> Iterator[str]:
    """Yield a sentence if one arm's scores are all 0 or 1, not all 0, and many of the other's lie between."""
    scores = [(label, [run.overall_score for run in results if run.measured]) for label, results in arms]
    for (label, own), (other, others) in (scores, scores[::-1]):
        between = sum(0 < score < 1 for score in others) / max(1, len(others))
        if set(own) in ({1.0}, {0.0, 1.0}) and between >= MOSTLY_BETWEEN:
            yield (
                f"The arms are scored on different scales: every run of {label} scored 0 or 1, and "
                f"{100 * between:.0f} % of {other}'s in between; score both arms in one way."
            )


def _tools_as_invented(arms: Arms) -> Iterator[str]:
    """Yield a sentence for an arm whose answers lost points because they name the tools of its servers."""
    for label, results in arms:
        measured = [run for run in results if run.measured]
        found = [tools for run in measured if (tools := {t for g in run.grades for t in g.tools_as_invented})]
        if found:
            yield (
                f"{label}: {len(found)} of {len(measured)} answers name tools of its server, which the verifier counts "
                f"as invented identifiers ({some(sorted(set.union(*found)))}); their rewards are too low."
            )


def many_zeros(units: Sequence[UnitComparison], label_a: str = "A", label_b: str = "B") -> list[str]:
    """Return a sentence for an arm, and for each group of one, that scored 0 far more often than it should.

    That is: than the same tasks in the other arm and, for a group, than the rest of its arm. The likely cause: a server
    never came up, or a verifier found no answer.
    """
    every = {score for unit in units for score in (*unit.scores_a, *unit.scores_b)}
    groups = [("", "")] + [(name, value) for name, values in dimensions(units).items() for value in values]
    found = []
    for name, value in groups:
        inside = [unit for unit in units if unit.groups.get(name, "") == value]
        outside = [unit for unit in units if unit.groups.get(name, value) != value]
        own, rest = _zeros(inside), _zeros(outside)
        which = f" with {name} {value!r}" if name else ""
        for label, other, (zeros, runs), there, (more, of) in (
            (label_a, label_b, own[0], own[1], rest[0]),
            (label_b, label_a, own[1], own[0], rest[1]),
        ):
            against = [there, (more, of)] if name else [there]
            p = max(fisher_test(*pair, zeros, runs).greater for pair in against)
            if not name and every <= {0.0, 1.0} and zeros < runs:  # a zero is a failure, and the answer counts those
                continue
            excess = zeros / max(1, runs) - max(count / max(1, total) for count, total in against)
            beside = f"{other}: {there[0]} of {there[1]}" + (f"; the rest of {label}: {more} of {of}" if name else "")
            text = (
                f"{label}: {zeros} of {runs} runs{which} scored 0 ({beside}); "
                "look at a few of them before you trust the difference."
            )
            found.append((p, excess, text))
    adjusted = holm([p for p, _, _ in found])
    named = [
        (p, text) for p, (_, excess, text) in zip(adjusted, found, strict=True) if p <= ZEROS_P and excess >= MORE_ZEROS
    ]
    return [text for _, text in sorted(named, key=lambda group: group[0])]


def _zeros(units: Sequence[UnitComparison]) -> list[tuple[int, int]]:
    """Return the number of runs that scored 0, and of all runs, in A and in B."""
    arms = ([s for u in units for s in u.scores_a], [s for u in units for s in u.scores_b])
    return [(scores.count(0), len(scores)) for scores in arms]


def _unequal_trials(comparison: Comparison, arms: Arms) -> Iterator[str]:
    """Yield a sentence if tasks have more runs in one arm; lost runs, which have a sentence of their own, are runs."""
    (_, a), (_, b) = arms
    runs_a, runs_b = (Counter(run.task_id for run in results) for results in (a, b))
    both = sorted({unit.key.task_id for unit in comparison.decision.units})
    unequal = [f"{task} ({runs_a[task]} and {runs_b[task]})" for task in both if runs_a[task] != runs_b[task]]
    if unequal and not (comparison.loss.a.missing or comparison.loss.b.missing):
        yield (
            f"The arms do not have the same number of runs: {some(unequal)}; run the missing ones before you compare "
            "single tasks."
        )


def _one_set_of_runs(arms: Arms) -> Iterator[str]:
    """Yield a sentence if every run of one arm is in the other as well, by its reward and what it took."""
    a, b = (Counter(map(_took, results)) for _, results in arms)
    if a == b and len({took[2:] for took in a}) > 1:
        (label_a, _), (label_b, _) = arms
        yield (
            f"Every run of {label_a} has one of {label_b} with the same reward, cost, time and tokens: this looks like "
            "one set of runs under two names."
        )


def _took(run: EvalResult) -> tuple[object, ...]:
    return (run.task_id, run.overall_score, run.cost_usd, run.trace.duration_seconds, run.tokens)


def _unlike_repositories(units: Sequence[UnitComparison]) -> Iterator[str]:
    """Yield a sentence if the effect differs between a few repositories, whose mean then describes none of them.

    By the ranks of the tasks' differences: Kruskal & Wallis 1952, "Use of Ranks in One-Criterion Variance Analysis".
    """
    found: dict[str, list[float]] = {}
    for name in sorted({unit.repository for unit in units}):
        own = [unit for unit in units if unit.repository == name]
        found[name], _ = per_task(own, clusters_of(own))
    if not 1 < len(found) < REPOSITORIES_FOR_ALL or len({x for own in found.values() for x in own}) < 2:
        return
    p = scipy.stats.kruskal(*found.values()).pvalue
    if p <= UNLIKE_P:
        effects = [f"{name or 'no repository'} {points(fmean(own))}" for name, own in found.items()]
        yield f"The effect differs between the repositories (p = {p_text(p)}): {some(effects)}; read each by itself."


def _unmatched(comparison: Comparison) -> Iterator[str]:
    for label, tasks in ((comparison.label_a, comparison.only_a), (comparison.label_b, comparison.only_b)):
        if tasks:
            yield (
                f"Only {label} measured {counted(len(tasks), 'task')}, left out of the comparison: {some(tasks)}; "
                "run them in the other arm as well."
            )


def _control_group(units: Sequence[UnitComparison]) -> Iterator[str]:
    """Yield a sentence if the control group moved: what one grep nearly answers should score alike in both arms."""
    if (group := _of_group(units, CONTROL_GROUP, "yes")) is None:
        return
    mean, p, tasks, told = group
    if p <= MOVED_P:
        yield (
            f"The control group moved: {told}. One grep nearly answers these tasks, so something other than search "
            "differs between the arms; find it before you trust the difference."
        )
    elif mean and tasks < FEWEST_MOVED:
        yield f"The control group, which one grep nearly answers, is too small to show whether it moved: {told}."


def _later_code(units: Sequence[UnitComparison], arms: Arms) -> Iterator[str]:
    """Yield a sentence if B has a server and gains on questions whose answer a repository's later code holds."""
    if (group := _of_group(units, "tier", HISTORY)) is None:
        return
    gained, p, _, told = group
    if gained > 0 and p <= MOVED_P and any(run.trace.offered.servers for run in arms[1][1]):
        yield (
            f"Questions from the history gained {told}. A server that indexes later code of their repository gives "
            "them away: index each project alone, or leave these tasks out."
        )


def _of_group(units: Sequence[UnitComparison], name: str, value: str) -> tuple[float, float, int, str] | None:
    """Return a group's mean difference, its two-sided p-value, its tasks, and all in words; None if it has no task."""
    own = [unit for unit in units if unit.groups.get(name) == value]
    differences, _ = per_task(own, clusters_of(own))
    if not differences:
        return None
    mean, tasks = fmean(differences), len(differences)
    p = sign_flip_test(differences, other=dealt_anew(own)).p.two_sided
    return mean, p, tasks, f"{points(mean)} over {counted(tasks, 'task')} (p = {p_text(p)})"
