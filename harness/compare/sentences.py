"""What a comparison says, in whole sentences: its verdict, what it cost, what the tools did, what carries it."""

from __future__ import annotations

from harness.compare.findings import Influence, ZeroCluster
from harness.compare.verdicts import SUITE_ALPHA, Comparison, Verdict
from harness.compare.wording import (
    cost_text,
    counted,
    group_name,
    interval_text,
    metric_name,
    p_text,
    points,
    some,
)

ASSOCIATED_P = 0.05
"""Two-sided p up to which calls and the metric are said to go together."""


def shares_sentence(comparison: Comparison) -> str:
    """How many tasks were better, the same and worse; empty without tasks."""
    shares = comparison.shares
    total = shares.better + shares.same + shares.worse
    if not total:
        return ""
    parts = (("better", shares.better), ("the same", shares.same), ("worse", shares.worse))
    told = ", ".join(f"{count} {name} ({100 * count / total:.0f} %)" for name, count in parts)
    return f"Of {counted(total, 'task')} in {comparison.label_b}: {told}."


def cost_sentence(comparison: Comparison) -> str:
    """What the metric cost in both arms, and what one more point of it costs."""
    effect = comparison.cost
    if effect is None:
        return "Cost: not recorded in both arms for any task."
    name, a, b = metric_name(comparison.metric), comparison.label_a, comparison.label_b
    text = f"Cost over {counted(effect.tasks, 'task')}: {cost_text(effect.cost_a)} a run in {a}, "
    text += f"{cost_text(effect.cost_b)} in {b}"
    if effect.per_dollar_a is not None and effect.per_dollar_b is not None:
        text += f"; {name} per dollar {effect.per_dollar_a:.2f} and {effect.per_dollar_b:.2f}"
    if effect.per_point is None or effect.per_point_interval is None:
        return f"{text}. The price of a further point is not given: the difference is not clear of 0."
    low, high = (_dollars(end) for end in (effect.per_point_interval.low, effect.per_point_interval.high))
    note = "; less than nothing, since the better arm was the cheaper one" if effect.per_point < 0 else ""
    return f"{text}. A further point costs {_dollars(effect.per_point)} a run (95 % interval {low} to {high}{note})."


def _dollars(value: float) -> str:
    return ("-" if value < 0 else "") + cost_text(abs(value))


def tools_sentence(comparison: Comparison) -> str:
    """Tool calls a run in both arms, and the tools called most."""
    parts = []
    for label, use in ((comparison.label_a, comparison.tools_a), (comparison.label_b, comparison.tools_b)):
        if use is None:
            parts.append(f"{label}: not recorded")
            continue
        most = [f"{t.name} ({counted(t.calls, 'call')}, {100 * t.runs / use.runs:.0f} % of runs)" for t in use.tools]
        told = f": {some(most)}" if most else ""
        parts.append(f"{label}: {use.calls / use.runs:.1f} a run over {counted(use.runs, 'run')}{told}")
    return f"Tool calls. {'. '.join(parts)}."


def association_sentence(comparison: Comparison) -> str:
    """Calls against the metric in B; empty where it cannot be told."""
    found = comparison.association
    if found is None:
        return ""
    which = f"calls of {some(found.tools)}" if found.tools else "tool calls"
    more = "higher" if found.rho > 0 else "lower"
    name = metric_name(comparison.metric)
    text = f"Over {counted(len(found.points), 'task')} of {comparison.label_b}, Spearman's rank correlation of {which}"
    text += f" with the {name} is {found.rho:+.2f} (two-sided p = {p_text(found.p)})"
    if found.p > ASSOCIATED_P:
        return f"{text}: no sign that they go together."
    return (
        f"{text}: tasks with more calls had a {more} {name}. That is an association, not an effect: what makes a task "
        "hard also changes how much an agent searches."
    )


def influence_sentence(comparison: Comparison, group: Influence) -> str:
    """A group that carries the difference or holds it back, with the numbers without it."""
    what = "carries more than its share of the difference" if group.carries else "pulls against the difference"
    verdict = ""
    if group.verdict_without != comparison.verdict:
        verdict = f", and the verdict would be '{group.verdict_without}' instead of '{comparison.verdict}'"
    return (
        f"The group {group_name(group.dimension, group.value)} {what}: "
        f"{points(group.within)} over its {counted(group.tasks, 'task')}. Without it the "
        f"{metric_name(comparison.metric)} changes by {points(group.without)} instead of "
        f"{points(comparison.decision.difference)}{verdict}. Random groups as far from the rest as this one: "
        f"p = {p_text(group.p)}, corrected for the number of groups; read a few of its runs before you generalise."
    )


def zero_cluster_sentence(comparison: Comparison, cluster: ZeroCluster) -> str:
    """A group full of zeros in one arm alone."""
    arm, other = comparison.label_a, comparison.label_b
    if cluster.arm == "B":
        arm, other = other, arm
    return (
        f"{arm}: {cluster.zeros} of {cluster.runs} runs with {group_name(cluster.dimension, cluster.value)} scored 0 "
        f"(the same tasks in {other}: {cluster.other_arm_zeros} of {cluster.other_arm_runs}; the rest of {arm}: "
        f"{cluster.rest_zeros} of {cluster.rest_runs}). Without this group the {metric_name(comparison.metric)} "
        f"changes by {points(cluster.without)} instead of {points(comparison.decision.difference)}; "
        "look at a few of these runs before you trust the difference."
    )


def plain_verdict(comparison: Comparison) -> str:
    """The verdict in plain words, in one sentence without a number."""
    a, b = comparison.label_a, comparison.label_b
    if comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        return f"Not enough data to say whether {b} is better or worse than {a}."
    if not comparison.verdict.decided:
        return f"No evidence that {b} is better or worse than {a}."
    side = "better" if comparison.verdict is Verdict.IMPROVEMENT else "worse"
    if not _decided_by_all(comparison):
        return f"{b} is {side} than {a} in single tasks; over all tasks together there is no evidence of a difference."
    return f"{b} is {side} than {a}, by more than chance explains."


def _decided_by_all(comparison: Comparison) -> bool:
    """Whether the test over all tasks supports the verdict, not single tasks alone."""
    suite = comparison.decision.suite
    p = suite.greater if comparison.verdict is Verdict.IMPROVEMENT else suite.less
    return p <= SUITE_ALPHA and suite.attainable <= SUITE_ALPHA


def verdict_sentence(comparison: Comparison) -> str:
    """The verdict with its evidence, in one or two sentences."""
    primary = comparison.primary
    if primary is None:
        return "Not enough data: no task was measured in both arms."
    suite = comparison.decision.suite
    evidence = [f"95 % interval {interval_text(primary)}"] if primary.interval else []
    if comparison.verdict is not Verdict.NOT_ENOUGH_DATA:
        several = f" after Holm's correction for {comparison.comparisons} comparisons"
        evidence.append(f"one-sided p = {p_text(suite.smaller)}{several if comparison.comparisons > 1 else ''}")
    change = (
        f"From {comparison.label_a} to {comparison.label_b}, the {metric_name(comparison.metric)} changed by "
        f"{points(primary.difference)} over {counted(primary.tasks, 'task')}"
    )
    change += f" ({', '.join(evidence)})." if evidence else "."
    if comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        return f"{change} That is not enough data for a verdict: use more tasks or more runs, or repeat the lost runs."
    if comparison.verdict.decided:
        if _decided_by_all(comparison):
            return change
        decision = comparison.decision
        alone = decision.having(comparison.verdict)
        if not alone:
            return f"{change} Every run of one arm passed and none of the other did, which chance does not explain."
        tasks = some([decision.name(unit) for unit in alone])
        return f"{change} Over all tasks together that could be chance; for {tasks} alone it is not."
    reach = comparison.detectable
    would = f" This design finds a difference of {100 * reach:.0f} points in 80 % of cases." if reach else ""
    return f"{change} That is no evidence of a difference.{would}"
