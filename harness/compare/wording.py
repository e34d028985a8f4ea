"""How numbers and verdicts read: the same words and digits on the terminal, in Markdown, in JUnit and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.compare.verdicts import SUITE_ALPHA, Comparison, MetricDifference, UnitComparison, Verdict
from harness.models import EvalResult
from harness.statistics import Interval

SHARES = ("pass_rate", "score")
"""Metrics between 0 and 1, which are shown as percentages and whose differences are percentage points."""

UNKNOWN = "-"
"""In place of a number that was not recorded or cannot be given."""

TELLING_SHARE = 10
"""From ten times A's mean on, the absolute difference is clearer than its share of A's mean."""

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


def passes(passed: int, runs: int) -> str:
    """3/5."""
    return f"{passed}/{runs}"


def p_text(p: float) -> str:
    """A p-value with two significant digits."""
    return f"{p:.2g}"


def count_text(value: int | None) -> str:
    """12345 -> 12,345."""
    return UNKNOWN if value is None else f"{value:,}"


def cost_text(dollars: float | None) -> str:
    """Cost of one run: $0.0123."""
    return UNKNOWN if dollars is None else f"${dollars:.4f}"


def seconds_text(seconds: float | None) -> str:
    """12.3 s."""
    return UNKNOWN if seconds is None else f"{seconds:.1f} s"


def ks_text(values: Mapping[int, float]) -> str:
    """pass@k or pass^k in percent for every k: 1:67 3:100."""
    return " ".join(f"{k}:{100 * value:.0f}" for k, value in values.items()) or UNKNOWN


def errors_text(errors: Mapping[str, int]) -> str:
    """Runs outside the rates by reason: 1 infra_error, 2 judge_error."""
    return ", ".join(f"{count} {reason}" for reason, count in errors.items()) or UNKNOWN


def number(metric: MetricDifference, value: float) -> str:
    """A mean of the metric in its own unit."""
    if metric.name in SHARES:
        return percent(value)
    formats = {"cost": cost_text(value), "tokens": count_text(round(value)), "time": seconds_text(value)}
    return formats.get(metric.name, f"{value:.1f}")


def signed(metric: MetricDifference) -> str:
    """The difference, with its share of A's mean where that says more."""
    if metric.name in SHARES:
        return points(metric.difference)
    text = _with_sign(metric, metric.difference)
    if metric.relative is None or abs(metric.relative) >= TELLING_SHARE:
        return text
    return f"{text} ({100 * metric.relative:+.0f} %)"


def interval_text(metric: MetricDifference) -> str:
    """The 95 % interval of the difference."""
    if metric.interval is None:
        return UNKNOWN
    if metric.name in SHARES:
        return f"{100 * metric.interval.low:+.1f} to {100 * metric.interval.high:+.1f}"
    return f"{_with_sign(metric, metric.interval.low)} to {_with_sign(metric, metric.interval.high)}"


def _with_sign(metric: MetricDifference, value: float) -> str:
    return ("+" if value >= 0 else "-") + number(metric, abs(value))


def arm_passes(unit: UnitComparison) -> tuple[str, str]:
    """Passed of measured runs in A and in B."""
    return passes(unit.passed_a, len(unit.scores_a)), passes(unit.passed_b, len(unit.scores_b))


def runs_text(unit: UnitComparison) -> str:
    """3/5 to 0/5 passed (-60.0 points)."""
    before, after = arm_passes(unit)
    return f"{before} to {after} passed ({points(unit.difference)})"


def unit_verdict(unit: UnitComparison) -> str:
    """The task's own verdict; `suspect` for one that is worth more runs; empty for the others."""
    if unit.verdict.decided:
        return str(unit.verdict)
    return "suspect" if unit.suspect else ""


def run_facts(result: EvalResult) -> str:
    """Score, ending, time, turns, tokens and cost of a run in one line."""
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


def some(names: Sequence[str], last: str = "and") -> str:
    """The first NAMED names as a list in a sentence, and how many more there are."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} {last} {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def counted(count: int, thing: str) -> str:
    """1 task, 2 tasks."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def verdict_sentence(comparison: Comparison) -> str:
    """The verdict with its evidence, in one or two sentences."""
    primary = comparison.primary
    if primary is None:
        return "Not enough data: no task was measured in both arms."
    suite = comparison.decision.suite
    evidence = [f"95 % interval {interval_text(primary)}"] if primary.interval else []
    if comparison.verdict is not Verdict.NOT_ENOUGH_DATA:
        evidence.append(f"one-sided p = {p_text(suite.smaller)}")
    change = (
        f"From {comparison.label_a} to {comparison.label_b}, the {metric_name(comparison.metric)} changed by "
        f"{points(primary.difference)} over {counted(primary.tasks, 'task')}"
    )
    change += f" ({', '.join(evidence)})." if evidence else "."
    if comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        return f"{change} That is not enough data for a verdict: use more tasks or more runs, or repeat the lost runs."
    if comparison.verdict.decided:
        if suite.smaller <= SUITE_ALPHA and suite.attainable <= SUITE_ALPHA:
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
