"""What does a comparison say? Whole sentences on the verdict, the lost runs, the costs and the tool calls."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2

from measure.compare.findings import CostEffect, ToolCount
from measure.compare.verdicts import Comparison, Verdict
from measure.compare.wording import (
    cost_text,
    counted,
    interval_text,
    metric_name,
    p_text,
    percent,
    points,
    some,
)


def shares_sentence(comparison: Comparison) -> str:
    """Say how many tasks were better, the same and worse; empty without tasks."""
    shares = comparison.shares
    parts = {"better": shares.better, "the same": shares.same, "worse": shares.worse}
    total = sum(parts.values())
    told = ", ".join(f"{count} {name} ({100 * count / total:.0f} %)" for name, count in parts.items() if total)
    return f"Of {counted(total, 'task')} in {comparison.label_b}: {told}." if total else ""


def cost_sentence(comparison: Comparison) -> str:
    """Say what the metric cost in both arms, and what one more point of it costs."""
    effect = comparison.cost
    if effect is None:
        return "Cost: not recorded in both arms for any task."
    text = (
        f"Cost over {counted(effect.tasks, 'task')}: {cost_text(effect.cost_a)} a run in {comparison.label_a}, "
        f"{cost_text(effect.cost_b)} in {comparison.label_b}"
    )
    price = price_text(comparison, effect, cost_text)
    return f"{text}; {price or 'no price of a further point, since the difference is not clear of 0'}."


def price_text(comparison: Comparison, effect: CostEffect, text: Callable[[float | None], str]) -> str:
    """Say what one more point of the metric costs per run; empty where the difference is not clear of 0.

    Args:
        comparison: what the cost is part of.
        effect: the cost in dollars or in seconds.
        text: formats an amount of it.
    """
    if effect.per_point is None or effect.per_point_interval is None:
        return ""
    values = (effect.per_point, effect.per_point_interval.low, effect.per_point_interval.high)
    price, low, high = (("-" if value < 0 else "") + text(abs(value)) for value in values)
    note = "; less than nothing, since the better arm was the cheaper one" if effect.per_point < 0 else ""
    return f"{price} for each further point ({interval_name(comparison)} {low} to {high}{note})"


def tools_sentence(comparison: Comparison) -> str:
    """Name the tool calls per run in both arms, and the tools called most."""
    parts = []
    for label, use in ((comparison.label_a, comparison.tools_a), (comparison.label_b, comparison.tools_b)):
        if use is None:
            parts.append(f"{label}: not recorded")
            continue
        most = [f"{t.name} ({_use_text(t)}, {100 * t.runs / use.runs:.0f} % of runs)" for t in use.tools]
        told = f": {some(most)}" if most else ""
        parts.append(f"{label}: {use.calls / use.runs:.1f} a run over {counted(use.runs, 'run')}{told}")
    return f"Tool calls. {'. '.join(parts)}."


def _use_text(tool: ToolCount) -> str:
    """Say how often a tool was called, how often it failed, and how long an MCP tool took."""
    failed = f", {tool.failed} failed" if tool.failed else ""
    took = f", {tool.seconds:.1f} s each" if tool.seconds is not None and tool.name.startswith("mcp__") else ""
    return f"{counted(tool.calls, 'call')}{failed}{took}"


def plain_verdict(comparison: Comparison) -> str:
    """State the verdict in one plain sentence without numbers."""
    a, b = comparison.label_a, comparison.label_b
    where = " on these tasks" if comparison.decision.these_tasks else ""
    if comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        return f"Not enough data to say whether {b} is better or worse than {a}{where}."
    if not comparison.verdict.decided:
        return f"No evidence that {b} is better or worse than {a}{where}."
    side = "better" if comparison.verdict is Verdict.IMPROVEMENT else "worse"
    return f"{b} is {side} than {a}{where}, by more than chance explains."


def verdict_sentence(comparison: Comparison) -> str:
    """State the verdict and its evidence in a few sentences."""
    primary, decision = comparison.primary, comparison.decision
    if primary is None:
        return "Not enough data: no task was measured in both arms."
    projects = f" of {counted(decision.clusters, 'project')}" if decision.clusters < primary.tasks else ""
    change = (
        f"From {comparison.label_a} to {comparison.label_b}, the {metric_name(comparison.metric)} changed by "
        f"{points(primary.difference)} over {counted(primary.tasks, 'task')}{projects}"
    )
    if primary.interval:
        lost = ", lost runs included" if comparison.loss.worst else ""
        change += f" ({interval_name(comparison)} {interval_text(primary)}{lost})"
    return " ".join([f"{change}.", *reasons(comparison)])


def reasons(comparison: Comparison) -> list[str]:
    """Explain the verdict and what lost runs could change about it: the sentences after the numbers."""
    decision, loss, texts = comparison.decision, comparison.loss, []
    if loss.cap:
        texts.append(f"No verdict: {loss.cap}. Run the lost ones again, then compare.")
    elif comparison.verdict is Verdict.NOT_ENOUGH_DATA and decision.these_tasks:
        texts.append("So few runs cannot show a change: use more of them.")
    elif comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        of = "projects" if decision.clusters < len({unit.key.task_id for unit in decision.units}) else "tasks"
        least = ceil(-log2((1 - comparison.confidence) / 2))
        texts.append(f"A verdict about tasks like these takes {least} {of} or more.")
    elif comparison.verdict is Verdict.NO_EVIDENCE and (reach := _reach(comparison)):
        texts.append(reach)
    if p := decision.these_tasks:
        texts.append(
            f"Dealt out anew within their tasks, these runs {'fall' if p.less <= p.greater else 'rise'} as far with "
            f"p = {p_text(p.smaller)} (one-sided); the interval is about tasks like these."
        )
    alone = [f"{decision.name(unit)} ({unit.verdict})" for unit in decision.units if unit.verdict.decided]
    if alone and not (comparison.verdict.decided and not decision.these_tasks):
        texts.append(f"By themselves, by more than chance explains, changed: {some(alone)}.")
    if loss.worst and loss.best:
        worst, best = (f"{100 * side.low:+.1f} to {100 * side.high:+.1f}" for side in (loss.worst, loss.best))
        against = f"Had every lost run gone against {comparison.label_b}: {worst}"
        texts.append(f"{against}; had every one gone its way: {best}.")
    return texts


def _reach(comparison: Comparison) -> str:
    """Say which differences the design could have found, and which it could not; empty when unknown."""
    reach, primary = comparison.detectable, comparison.primary
    if reach is None or primary is None:
        return ""
    text = f"This design finds a difference of {100 * reach:.1f} points in 80 % of cases."
    for room, way in ((1 - primary.mean_a, "rise"), (primary.mean_a, "drop")):
        if room < reach:
            text += (
                f" {comparison.label_a} is at {percent(primary.mean_a)}, so it could not have found a {way}: "
                f"the largest there can be is {100 * room:.1f} points."
            )
    return text


def loss_sentence(comparison: Comparison) -> str:
    """Count the runs lost in each arm, and those that the agent did not complete."""
    parts = []
    for label, arm in ((comparison.label_a, comparison.loss.a), (comparison.label_b, comparison.loss.b)):
        text = f"{label} {arm.lost} of {arm.planned} ({percent(arm.share)})"
        if arm.ended:
            zeros = f", {arm.without_reward} of them without a reward, as 0" if arm.without_reward else ""
            text += f"; {counted(arm.ended, 'run')} ended by the agent's own limits and counted{zeros}"
        parts.append(text)
    return f"Lost runs: {'. '.join(parts)}."


def interval_name(comparison: Comparison) -> str:
    """98 % interval."""
    return f"{100 * comparison.confidence:.3g} % interval"
