"""How numbers and verdicts read: the same words and digits on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measure.compare.findings import MetricDifference
from measure.compare.metrics import AggregatedMetrics
from measure.compare.verdicts import Metric, UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import CONFIDENCE, Interval

SHARES = ("pass_rate", "score")
"""Metrics between 0 and 1, which are shown as percentages and whose differences are percentage points."""

LEVEL = f"{100 * CONFIDENCE:g} %"
"""Level of every interval that is shown, unless several comparisons share it."""

UNKNOWN = "-"
"""Shown in place of a number that was not recorded or cannot be given."""

TELLING_SHARE = 10
"""From ten times A's mean on, the absolute difference is clearer than the relative one."""

NAMED = 5
"""How many names a sentence lists before it says how many more there are."""


def metric_name(name: str) -> str:
    """pass_rate -> pass rate."""
    return name.replace("_", " ")


def percent(share: float) -> str:
    """0.456 -> 45.6 %."""
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """-0.123 -> -12.3 points."""
    return f"{100 * difference:+.1f} points"


def rate_interval(interval: Interval | None) -> str:
    """Confidence interval of a share, 0 to 1: 19 to 81 %."""
    return UNKNOWN if interval is None else f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"


def mean_text(m: AggregatedMetrics, metric: Metric) -> str:
    """Sum up runs of one task by the metric: passed of measured runs (3/5), or the mean score (0.62)."""
    return f"{m.avg_score:.2f}" if metric == "score" and m.total_runs else f"{m.passed}/{m.total_runs}"


def p_text(p: float) -> str:
    """A p-value with two significant digits."""
    return f"{p:.2g}"


def count_text(value: int | None) -> str:
    """12345 -> 12,345."""
    return UNKNOWN if value is None else f"{value:,}"


def cost_text(dollars: float | None) -> str:
    """Cost of one run: $0.0123."""
    return UNKNOWN if dollars is None else f"${dollars:.4f}"


def total_cost_text(dollars: float | None, unknown: int = 0) -> str:
    """Cost of many runs: $1.23 in all as the agents reported, without 2 runs whose cost was not recorded."""
    if dollars is None:
        return "cost not recorded"
    without = f", without {counted(unknown, 'run')} whose cost was not recorded" if unknown else ""
    return f"${dollars:.2f} in all as the agents reported{without}"


def seconds_text(seconds: float | None) -> str:
    """12.3 s."""
    return UNKNOWN if seconds is None else f"{seconds:.1f} s"


def ks_text(values: Mapping[int, float]) -> str:
    """pass@k or pass^k in percent for every k: 1:67 3:100."""
    return " ".join(f"{k}:{100 * value:.0f}" for k, value in values.items()) or UNKNOWN


def errors_text(errors: Mapping[str, int]) -> str:
    """Runs that count in no rate, by reason: 1 infra_error, 2 judge_error."""
    return ", ".join(f"{count} {reason}" for reason, count in errors.items()) or UNKNOWN


def number(metric: MetricDifference, value: float) -> str:
    """Format a mean of the metric in its own unit."""
    if metric.name in SHARES:
        return percent(value)
    formats = {"cost": cost_text(value), "tokens": count_text(round(value)), "time": seconds_text(value)}
    return formats.get(metric.name, f"{value:.1f}")


def signed(metric: MetricDifference) -> str:
    """Format the difference, with its share of A's mean where that helps."""
    if metric.name in SHARES:
        return points(metric.difference)
    text = _with_sign(metric, metric.difference)
    if metric.relative is None or abs(metric.relative) >= TELLING_SHARE:
        return text
    return f"{text} ({100 * metric.relative:+.0f} %)"


def interval_text(metric: MetricDifference) -> str:
    """Format the interval of the difference."""
    if metric.interval is None or metric.name in SHARES:
        return slice_interval(metric.interval)
    return f"{_with_sign(metric, metric.interval.low)} to {_with_sign(metric, metric.interval.high)}"


def _with_sign(metric: MetricDifference, value: float) -> str:
    return ("+" if value >= 0 else "-") + number(metric, abs(value))


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
    """Return the task's own verdict; `suspect` if it deserves more runs; empty otherwise."""
    if unit.verdict.decided:
        return str(unit.verdict)
    return "suspect" if unit.suspect else ""


def run_facts(result: EvalResult) -> str:
    """Sum up a run in one line: score, outcome, time, turns, tokens and cost."""
    trace = result.trace
    facts = (
        f"score {result.overall_score:.2f}",
        str(result.outcome),
        "time not recorded" if trace.duration_seconds is None else seconds_text(trace.duration_seconds),
        "turns not recorded" if trace.num_turns is None else f"{trace.num_turns} turns",
        "tokens not recorded" if result.tokens is None else f"{count_text(result.tokens)} tokens with cache",
        "cost not recorded" if result.cost_usd is None else cost_text(result.cost_usd),
    )
    return ", ".join(facts)


def slice_interval(interval: Interval | None) -> str:
    """Format the interval of a difference of shares in points; it is cut at 100, the largest there can be."""
    if interval is None:
        return UNKNOWN
    return f"{100 * max(-1.0, interval.low):+.1f} to {100 * min(1.0, interval.high):+.1f}"


def group_name(dimension: str, value: str) -> str:
    """Name a group in a sentence: config_a 'plain', repository name 'r0'."""
    return f"{metric_name(dimension) if not dimension.endswith(('_a', '_b')) else dimension} {value!r}"


def some(names: Sequence[str]) -> str:
    """List the first NAMED names in a sentence, and say how many more there are."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def counted(count: int, thing: str) -> str:
    """1 task, 2 tasks."""
    return f"{count} {thing}" + ("" if count == 1 else "s")
