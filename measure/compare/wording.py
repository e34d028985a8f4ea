"""How the numbers of a comparison read: differences, ratios, and one task in both arms."""

from __future__ import annotations

from measure.compare.findings import CostRatio, ReachDifference
from measure.compare.verdicts import UnitComparison
from measure.statistics.estimates import Interval
from measure.summary.wording import UNKNOWN, cost_text, count_text, metric_name, percent, points, seconds_text

TIMES_FROM = 3.0
"""From this ratio on, "x 3.2" is clearer than "+220 %"."""


def cost_name(name: str) -> str:
    """Name what a run needs: cost -> money, calls -> tool calls."""
    return {"cost": "money", "calls": "tool calls"}.get(name, name)


def cost_value(cost: CostRatio, value: float) -> str:
    """Format a mean in the quantity's own unit."""
    formats = {"cost": cost_text(value), "time": seconds_text(value), "tokens": count_text(round(value))}
    return formats.get(cost.name, f"{value:.1f}")


def amount(cost: CostRatio) -> str:
    """31 % less, 12 % more, 3.2 times the."""
    ratio = cost.ratio or 1.0
    if ratio >= TIMES_FROM:
        return f"{ratio:.1f} times the"
    return f"{100 * abs(ratio - 1):.0f} % {'less' if ratio < 1 else 'more'}"


def change_text(cost: CostRatio) -> str:
    """-31 %, +12 %, x 3.2."""
    return UNKNOWN if cost.ratio is None else _change(cost.ratio)


def _change(ratio: float) -> str:
    return f"x {ratio:.1f}" if ratio >= TIMES_FROM else f"{100 * (ratio - 1):+.0f} %"


def ratio_interval(cost: CostRatio, *, signed: bool = True) -> str:
    """-37 to -24 %; unsigned, for a clear change in words: 24 to 37 %."""
    if cost.interval is None:
        return UNKNOWN
    low, high = cost.interval.low, cost.interval.high
    if high >= TIMES_FROM:
        return f"x {low:.1f} to {high:.1f}"
    if signed:
        return f"{100 * (low - 1):+.0f} to {100 * (high - 1):+.0f} %"
    near, far = sorted((abs(low - 1), abs(high - 1)))
    return f"{100 * near:.0f} to {100 * far:.0f} %"


def interval_text(interval: Interval | None) -> str:
    """Format the interval of a difference of shares in points; it is cut at 100, the largest there can be."""
    if interval is None:
        return UNKNOWN
    return f"{100 * max(-1.0, interval.low):+.1f} to {100 * min(1.0, interval.high):+.1f}"


def reach_value(name: str, value: float, *, signed: bool = False) -> str:
    """Format a measure of how files were reached: 3.2 calls, 45.0 %, 12,300 bytes; signed for a difference."""
    sign = "+" if signed else ""
    if name == "bytes read":
        return f"{value:{sign},.0f}"
    if name == "calls to the first file":
        return f"{value:{sign}.1f}"
    return points(value) if signed else percent(value)


def reach_interval(row: ReachDifference) -> str:
    """-1.2 to +3.4."""
    if row.interval is None:
        return UNKNOWN
    ends = (reach_value(row.name, end, signed=True) for end in (row.interval.low, row.interval.high))
    return " to ".join(end.replace(" points", "") for end in ends)


def arm_values(unit: UnitComparison) -> tuple[str, str]:
    """Format the task's metric in A and in B: passed of measured runs (3/5), or the mean score (0.62)."""
    if unit.metric == "score":
        return f"{unit.mean_a:.2f}", f"{unit.mean_b:.2f}"
    return f"{unit.passed_a}/{len(unit.scores_a)}", f"{unit.passed_b}/{len(unit.scores_b)}"


def runs_text(unit: UnitComparison) -> str:
    """3/5 to 0/5 passed (-60.0 points), or: score 0.62 to 0.31 (-31.0 points)."""
    before, after = arm_values(unit)
    change = f"score {before} to {after}" if unit.metric == "score" else f"{before} to {after} passed"
    return f"{change} ({points(unit.difference)})"


def unit_verdict(unit: UnitComparison) -> str:
    """Return the task's own verdict; empty if it has none."""
    return str(unit.verdict) if unit.verdict.decided else ""


def group_name(dimension: str, value: str) -> str:
    """Name a group in a sentence: config_a 'plain', repository name 'r0'."""
    return f"{metric_name(dimension) if not dimension.endswith(('_a', '_b')) else dimension} {value!r}"
