"""How numbers and verdicts read: the same words and digits on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from harness.compare.verdicts import SUITE_ALPHA, Comparison, MetricDifference, UnitComparison, Verdict

SHARES = ("pass_rate", "score")
"""Metrics between 0 and 1, which are shown as percentages and whose differences are percentage points."""


def percent(share: float) -> str:
    """0.456 -> 45.6 %."""
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """-0.123 -> -12.3 points."""
    return f"{100 * difference:+.1f} points"


def number(metric: MetricDifference, value: float) -> str:
    """A mean of the metric in its own unit."""
    if metric.name in SHARES:
        return percent(value)
    formats = {"cost": f"${value:.4f}", "tokens": f"{value:,.0f}", "time": f"{value:.1f} s"}
    return formats.get(metric.name, f"{value:.1f}")


# From ten times A's mean on, the absolute difference is the clearer figure.
TELLING_SHARE = 10


def signed(metric: MetricDifference) -> str:
    """The difference, with its share of A's mean where that says more."""
    if metric.name in SHARES:
        return points(metric.difference)
    sign = "+" if metric.difference >= 0 else "-"
    text = sign + number(metric, abs(metric.difference))
    if metric.relative is None or abs(metric.relative) >= TELLING_SHARE:
        return text
    return f"{text} ({100 * metric.relative:+.0f} %)"


def interval_text(metric: MetricDifference) -> str:
    """The 95 % interval of the difference."""
    if metric.interval is None:
        return "-"
    if metric.name in SHARES:
        return f"{100 * metric.interval.low:+.1f} to {100 * metric.interval.high:+.1f}"
    low, high = (
        ("+" if end >= 0 else "-") + number(metric, abs(end)) for end in (metric.interval.low, metric.interval.high)
    )
    return f"{low} to {high}"


def runs_text(unit: UnitComparison) -> str:
    """3/5 to 0/5 passed (-60.0 points)."""
    return (
        f"{unit.passed_a}/{len(unit.scores_a)} to {unit.passed_b}/{len(unit.scores_b)} passed "
        f"({points(unit.difference)})"
    )


def verdict_sentence(comparison: Comparison) -> str:
    """The verdict with its evidence, in one or two sentences."""
    primary = comparison.primary
    if primary is None:
        return "Not enough data: no task was measured in both arms."
    name = comparison.metric.replace("_", " ")
    suite = comparison.decision.suite
    interval = f", 95 % interval {interval_text(primary)}" if primary.interval else ""
    moved = f"{comparison.label_b} differs from {comparison.label_a} by {points(primary.difference)} of {name}"
    moved += f" over {primary.tasks} tasks{interval}"
    if comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        return f"{moved}. Not enough data to call it: use more tasks, more runs, or repeat the lost runs."
    p = min(suite.less, suite.greater)
    called = p <= SUITE_ALPHA and suite.attainable <= SUITE_ALPHA
    if comparison.verdict.decided and called:
        return f"{moved} (one-sided p = {p:.2g})."
    if comparison.verdict.decided:
        tasks = ", ".join(comparison.decision.name(unit) for unit in comparison.decision.having(comparison.verdict)[:5])
        return f"{moved}. The suite as a whole is not called, but these tasks are: {tasks}."
    detectable = comparison.detectable
    reach = f" This design finds {100 * detectable:.0f} points in 80 % of cases." if detectable else ""
    return f"{moved} (one-sided p = {p:.2g}): no evidence of a difference.{reach}"
