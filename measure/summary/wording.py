"""How numbers and runs read: the same words and digits on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from measure.records import EvalResult
from measure.statistics.estimates import CONFIDENCE, Interval
from measure.summary.metrics import AggregatedMetrics, Metric

LEVEL = f"{100 * CONFIDENCE:g} %"
"""Level of the intervals of single arms and of groups and costs together."""

UNKNOWN = "-"
"""Shown in place of a number that was not recorded or cannot be given."""

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


def rise_and_fall(rise: float | None, fall: float | None) -> str:
    """Say which changes a design detects: a fall of 4.0 points or more, but no rise."""
    sizes = {"rise": rise, "fall": fall}
    found = [f"a {name} of {100 * size:.1f} points or more" for name, size in sizes.items() if size]
    missed = [name for name, size in sizes.items() if not size]
    if not found:
        return "neither a rise nor a fall"
    return " and ".join(found) + (f", but no {missed[0]}" if missed else "")


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
    """pass@k or pass^k for every k: k=1 67 %, k=3 100 %."""
    return ", ".join(f"k={k} {100 * value:.0f} %" for k, value in values.items()) or UNKNOWN


def errors_text(errors: Mapping[str, int]) -> str:
    """Runs that count in no rate, by reason: 1 infra_error, 2 judge_error."""
    return ", ".join(f"{count} {reason}" for reason, count in errors.items()) or UNKNOWN


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


def some(names: Sequence[str]) -> str:
    """List the first NAMED names in a sentence, and say how many more there are."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def counted(count: int, thing: str, things: str = "") -> str:
    """1 task, 2 tasks; `things` is the plural where an s does not make it."""
    return f"{count} {thing if count == 1 else things or thing + 's'}"
