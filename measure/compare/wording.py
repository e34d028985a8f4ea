"""How the numbers of a comparison read: differences, ratios, and one task in both arms."""

from __future__ import annotations

from collections.abc import Callable

from measure.compare.verdicts import Measure, UnitComparison
from measure.statistics.estimates import Interval
from measure.summary.wording import UNKNOWN, cost_text, count_text, metric_name, percent, points, seconds_text

TIMES_FROM = 3.0
"""From this ratio on, "x 3.2" is clearer than "+220 %"."""


def measure_name(name: str) -> str:
    """Name a measure: pass_rate -> pass rate, cost -> money, calls -> tool calls."""
    return {"cost": "money", "calls": "tool calls"}.get(name, metric_name(name))


FORMATS: dict[str, Callable[[float], str]] = {
    "cost": cost_text,
    "time": seconds_text,
    **dict.fromkeys(("tokens", "bytes read"), lambda value: count_text(round(value))),
    **dict.fromkeys(("turns", "calls", "calls to the first file"), "{:.1f}".format),
}
"""How the mean of a measure is written; all others are shares."""


def value_text(name: str, value: float) -> str:
    """Format the mean of a measure in its own unit: $0.0123, 12.3 s, 12,345, 3.2, 45.6 %."""
    return FORMATS.get(name, percent)(value)


def change_text(measure: Measure) -> str:
    """Say by how much B differs: -31 %, x 3.2; where the difference is not relative, +4.5 points or +2.0."""
    if not measure.tasks:
        return UNKNOWN
    if not measure.relative:
        return _with_sign(measure.name, measure.difference)
    return f"x {1 + measure.difference:.1f}" if _is_factor(measure) else f"{100 * measure.difference:+.0f} %"


def _is_factor(measure: Measure) -> bool:
    """Decide whether a change reads better as a factor: its interval reaches TIMES_FROM."""
    return 1 + (measure.interval.high if measure.interval else measure.difference) >= TIMES_FROM


def change_interval(measure: Measure) -> str:
    """Say between which values that lies: -37 to -24 %, x 3.0 to 4.1, -4.1 to +2.0."""
    if measure.interval is None or (not measure.relative and measure.name not in FORMATS):
        return interval_text(measure.interval)
    low, high = measure.interval.low, measure.interval.high
    if not measure.relative:
        return f"{_with_sign(measure.name, low)} to {_with_sign(measure.name, high)}"
    if _is_factor(measure):
        return f"x {1 + low:.1f} to {1 + high:.1f}"
    return f"{100 * low:+.0f} to {100 * high:+.0f} %"


def _with_sign(name: str, difference: float) -> str:
    if name not in FORMATS:
        return points(difference)
    return f"{'-' if difference < 0 else '+'}{value_text(name, abs(difference))}"


def less_or_more(measure: Measure) -> str:
    """Say a clear relative change in words: 31 % less money (24 to 37 %), 3.2 times the time (x 2.9 to 3.6)."""
    ratio, name = 1 + measure.difference, measure_name(measure.name)
    if _is_factor(measure) or measure.interval is None:
        return f"{ratio:.1f} times the {name} ({change_interval(measure)})"
    near, far = sorted((abs(measure.interval.low), abs(measure.interval.high)))
    less = "less" if ratio < 1 else "more"
    return f"{100 * abs(measure.difference):.0f} % {less} {name} ({100 * near:.0f} to {100 * far:.0f} %)"


def interval_text(interval: Interval | None) -> str:
    """Format the interval of a difference of shares in points; it is cut at 100, the largest there can be."""
    if interval is None:
        return UNKNOWN
    return f"{100 * max(-1.0, interval.low):+.1f} to {100 * min(1.0, interval.high):+.1f}"


def arm_values(unit: UnitComparison) -> tuple[str, str]:
    """Format the task's metric in A and in B: passed of measured runs (3/5), or the mean score (0.62)."""
    if unit.metric == "score":
        return f"{unit.mean_a:.2f}", f"{unit.mean_b:.2f}"
    return f"{unit.passed_a}/{len(unit.scores_a)}", f"{unit.passed_b}/{len(unit.scores_b)}"
