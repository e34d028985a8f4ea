"""What should make a reader doubt a comparison before anybody asks? One sentence for each reason found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from harness import statistics
from harness.compare.verdicts import SUITE_ALPHA, Comparison, Decision, UnitComparison, decide_without
from harness.compare.wording import counted, errors_text, metric_name, p_text, points, runs_text, some
from harness.models import EvalResult

MANY_ERRORS = 0.1
"""Share of runs lost to infrastructure, setup or judge from which a reader should know."""
MANY_ZEROS = 0.5
"""Share of runs with score 0 that looks like a broken arm rather than a weak agent."""
MORE_ZEROS = 0.2
"""Or this much more than in the other arm, when chance does not explain it at DIFFERENT_P."""
DIFFERENT_P = 0.01
SELDOM_USED = 0.5


def find_warnings(
    comparison: Comparison,
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    treatment: Sequence[str] = (),
) -> list[str]:
    """Every reason to doubt `comparison`, as sentences, the most important first.

    Args:
        comparison: complete but for its warnings.
        results_a: all runs of A, lost ones included.
        results_b: all runs of B.
        treatment: the tools that B is about, as glob patterns; without it they are read off what was offered.
    """
    arms = ((comparison.label_a, results_a), (comparison.label_b, results_b))
    return [
        *_errors(arms, (comparison.errors_a, comparison.errors_b)),
        *_zeros(arms),
        *_unused_treatment(comparison.label_b, results_a, results_b, treatment),
        *_hangs_on_one_group(comparison),
        *_mixed(comparison),
        *_unequal_trials(comparison),
        *_unmatched(comparison),
        *_confounded(arms),
        *_other_metric(comparison),
    ]


Arms = tuple[tuple[str, Sequence[EvalResult]], tuple[str, Sequence[EvalResult]]]


def _errors(arms: Arms, errors: tuple[dict[str, int], dict[str, int]]) -> Iterator[str]:
    for (label, results), counts in zip(arms, errors, strict=True):
        lost = sum(counts.values())
        if results and lost / len(results) > MANY_ERRORS:
            yield (
                f"{label}: {lost} of {len(results)} runs say nothing about the agent ({errors_text(counts)}) "
                "and are left out of the rates."
            )


def _zeros(arms: Arms) -> Iterator[str]:
    counts = []
    for _, results in arms:
        scores = [r.overall_score for r in results if r.measured]
        counts.append((sum(score == 0 for score in scores), len(scores)))
    for (label, _), (zeros, runs), (others, other_runs) in zip(arms, counts, reversed(counts), strict=True):
        if not runs:
            continue
        share, other_share = zeros / runs, others / other_runs if other_runs else 0.0
        more = share - other_share >= MORE_ZEROS
        unlikely = statistics.fisher_test(others, other_runs, zeros, runs).greater <= DIFFERENT_P
        if share >= MANY_ZEROS or (more and unlikely):
            yield (
                f"{label}: {zeros} of {runs} measured runs scored 0 "
                f"(the other arm: {others} of {other_runs}); "
                "look at a few of them before you trust the difference."
            )


def _unused_treatment(
    label: str, a: Sequence[EvalResult], b: Sequence[EvalResult], treatment: Sequence[str]
) -> Iterator[str]:
    """Tools and skills that B had and A had not, by their recorded init lines or as the caller names them."""
    runs = [r for r in b if r.measured]
    if not runs:
        return
    tools = list(treatment) or sorted(_offered(b, "tools") - _offered(a, "tools"))
    if not tools:  # Harbor records servers, not their tools
        tools = [f"mcp__{name}__*" for name in sorted(_offered(b, "servers") - _offered(a, "servers"))]
    skills = [] if treatment else sorted(_offered(b, "skills") - _offered(a, "skills"))
    for kind, names, used in (
        ("tool", tools, [any(_calls(r, pattern) for pattern in tools) for r in runs]),
        ("skill", skills, [any(_uses_skill(r, name) for name in skills) for r in runs]),
    ):
        if names and not any(used):
            yield (
                f"The treatment was never used: no run of {label} called the {kind} {some(names)}, "
                "so the difference cannot be its effect."
            )
        elif names and sum(used) < SELDOM_USED * len(runs):
            yield f"Only {sum(used)} of {len(runs)} runs of {label} used the {kind} {some(names)}."


def _offered(results: Iterable[EvalResult], key: str) -> set[str]:
    offered: set[str] = set()
    for result in results:
        offered |= set(getattr(result.trace.offered, key) or ())
    return offered


def _calls(result: EvalResult, pattern: str) -> bool:
    return any(fnmatchcase(call.name, pattern) for call in result.trace.tool_calls)


def _uses_skill(result: EvalResult, name: str) -> bool:
    return any(call.name == "Skill" and name in map(str, call.input.values()) for call in result.trace.tool_calls)


def _hangs_on_one_group(comparison: Comparison) -> Iterator[str]:
    """Groups of tasks, and single tasks, without which the verdict would change."""
    decision = comparison.decision
    for dimension in ("category", "language", "config", "model", "difficulty"):
        values = sorted({unit.groups[dimension] for unit in decision.units if dimension in unit.groups})
        if len(values) < 2:
            continue
        for value in values:
            group = [unit for unit in decision.units if unit.groups.get(dimension) == value]
            verdict, difference = decide_without(decision.units, group, threshold=comparison.threshold)
            if verdict is not decision.verdict:
                yield (
                    f"The verdict depends on {dimension} {value!r}: without those tasks it would be '{verdict}' "
                    f"({points(difference)} over the rest)."
                )
    if decision.verdict.decided:
        yield from _hangs_on_one_task(decision, comparison.threshold)


def _hangs_on_one_task(decision: Decision, threshold: float) -> Iterator[str]:
    tasks: dict[str, list[UnitComparison]] = defaultdict(list)
    for unit in decision.units:
        tasks[unit.key.task_id].append(unit)
    moving = [
        task
        for task, units in tasks.items()
        if decide_without(decision.units, units, threshold=threshold)[0] is not decision.verdict
    ]
    if moving and len(tasks) > 1:
        yield f"The verdict depends on single tasks: it would change without {some(moving, 'or')}."


def _mixed(comparison: Comparison) -> Iterator[str]:
    for unit in comparison.decision.units:
        if unit.verdict.decided and unit.verdict is not comparison.verdict:
            yield (
                f"{comparison.decision.name(unit)} goes against the overall verdict. "
                f"On its own: {unit.verdict}, {runs_text(unit)}."
            )


def _unequal_trials(comparison: Comparison) -> Iterator[str]:
    unequal = [u for u in comparison.decision.units if len(u.scores_a) != len(u.scores_b)]
    if unequal:
        name = comparison.decision.name
        examples = [f"{name(u)} ({len(u.scores_a)} and {len(u.scores_b)})" for u in unequal]
        yield f"The arms do not have the same number of measured runs: {some(examples)}."


def _unmatched(comparison: Comparison) -> Iterator[str]:
    for label, tasks in ((comparison.label_a, comparison.only_a), (comparison.label_b, comparison.only_b)):
        if tasks:
            yield f"Only {label} measured {counted(len(tasks), 'task')}, left out of the comparison: {some(tasks)}."


def _confounded(arms: Arms) -> Iterator[str]:
    """What else differs between the arms: the CLI, the judge, the tasks themselves."""
    versions, judges = [], []
    tasks: list[dict[str, set[str]]] = []
    for _, results in arms:
        versions.append({r.claude_code_version for r in results if r.claude_code_version})
        judges.append({grade.judge.model for r in results for grade in r.grades if grade.judge})
        prints: dict[str, set[str]] = defaultdict(set)
        for result in results:
            if result.fingerprints.task:
                prints[result.task_id].add(result.fingerprints.task)
        tasks.append(prints)
    for thing, (a, b) in (("Claude Code version", versions), ("judge model", judges)):
        if a and b and a != b:
            yield f"The {thing} differs between the arms: {some(sorted(a))} against {some(sorted(b))}."
    changed = [t for t in sorted(tasks[0].keys() & tasks[1].keys()) if tasks[0][t] != tasks[1][t]]
    if changed:
        yield f"The content of these tasks differs between the arms: {some(changed)}."


def _other_metric(comparison: Comparison) -> Iterator[str]:
    """The verdict is about one metric; say when the other one moved and this one did not."""
    other = comparison.metric_named("score" if comparison.metric == "pass_rate" else "pass_rate")
    if comparison.verdict.decided or other is None:
        return
    if other.p.attainable <= SUITE_ALPHA and other.p.smaller <= SUITE_ALPHA:
        yield (
            f"The {metric_name(other.name)} changed by {points(other.difference)} "
            f"(one-sided p = {p_text(other.p.smaller)}), but the verdict is about the "
            f"{metric_name(comparison.metric)} alone."
        )
