"""How numbers and verdicts read: the same words and digits on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measure.compare.findings import CostRatio
from measure.compare.metrics import AggregatedMetrics
from measure.compare.verdicts import Metric, UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import CONFIDENCE, Interval

LEVEL = f"{100 * CONFIDENCE:g} %"
"""Level of the intervals of single arms and of groups and costs together."""

UNKNOWN = "-"
"""Shown in place of a number that was not recorded or cannot be given."""

TIMES_FROM = 3.0
"""From this ratio on, "x 3.2" is clearer than "+220 %"."""

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
    """Cost of many runs: $1.23 in all, without 2 runs whose cost was not recorded."""
    if dollars is None:
        return "cost not recorded"
    without = f", without {counted(unknown, 'run')} whose cost was not recorded" if unknown else ""
    return f"${dollars:.2f} in all{without}"


def seconds_text(seconds: float | None) -> str:
    """12.3 s."""
    return UNKNOWN if seconds is None else f"{seconds:.1f} s"


def ks_text(values: Mapping[int, float]) -> str:
    """pass@k or pass^k in percent for every k: 1:67 3:100."""
    return " ".join(f"{k}:{100 * value:.0f}" for k, value in values.items()) or UNKNOWN


def errors_text(errors: Mapping[str, int]) -> str:
    """Runs that count in no rate, by reason: 1 infra_error, 2 judge_error."""
    return ", ".join(f"{count} {reason}" for reason, count in errors.items()) or UNKNOWN


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


def group_name(dimension: str, value: str) -> str:
    """Name a group in a sentence: config_a 'plain', repository name 'r0'."""
    return f"{metric_name(dimension) if not dimension.endswith(('_a', '_b')) else dimension} {value!r}"


def some(names: Sequence[str]) -> str:
    """List the first NAMED names in a sentence, and say how many more there are."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def counted(count: int, thing: str, things: str = "") -> str:
    """1 task, 2 tasks; `things` is the plural where an s does not make it."""
    return f"{count} {thing if count == 1 else things or thing + 's'}"
