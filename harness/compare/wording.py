"""How numbers and verdicts read: the same words and digits on the terminal, in Markdown, in JUnit and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.compare.findings import Influence, ZeroCluster
from harness.compare.metrics import AggregatedMetrics
from harness.compare.verdicts import SUITE_ALPHA, Comparison, Metric, MetricDifference, UnitComparison, Verdict
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


def share_text(share: float | None) -> str:
    """0.456 -> 45.6 %; a dash for what is not known."""
    return UNKNOWN if share is None else percent(share)


def rate_interval(interval: Interval | None) -> str:
    """Confidence interval of a share, 0 to 1: 19 to 81 %."""
    return UNKNOWN if interval is None else f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"


def passes(passed: int, runs: int) -> str:
    """3/5."""
    return f"{passed}/{runs}"


def mean_text(m: AggregatedMetrics, metric: Metric) -> str:
    """Runs of one task in the metric: passed of measured runs (3/5), or the mean score (0.62)."""
    return f"{m.avg_score:.2f}" if metric == "score" and m.total_runs else passes(m.passed, m.total_runs)


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


def arm_values(unit: UnitComparison) -> tuple[str, str]:
    """The task in A and in B, in the comparison's metric: passed of measured runs (3/5), or the mean score (0.62)."""
    if unit.metric == "score":
        return f"{unit.mean_a:.2f}", f"{unit.mean_b:.2f}"
    return passes(unit.passed_a, len(unit.scores_a)), passes(unit.passed_b, len(unit.scores_b))


def runs_text(unit: UnitComparison) -> str:
    """3/5 to 0/5 passed (-60.0 points), or: score 0.62 to 0.31 (-31.0 points)."""
    before, after = arm_values(unit)
    change = f"score {before} to {after}" if unit.metric == "score" else f"{before} to {after} passed"
    return f"{change} ({points(unit.difference)})"


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


def slice_interval(interval: Interval | None) -> str:
    """The corrected interval of a slice, in points; cut at 100, since no difference of shares is larger."""
    if interval is None:
        return UNKNOWN
    return f"{100 * max(-1.0, interval.low):+.1f} to {100 * min(1.0, interval.high):+.1f}"


def group_name(dimension: str, value: str) -> str:
    """config_a 'plain', as a group reads in a sentence."""
    return f"{metric_name(dimension) if not dimension.endswith(('_a', '_b')) else dimension} {value!r}"


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


ASSOCIATED_P = 0.05


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


def some(names: Sequence[str], last: str = "and") -> str:
    """The first NAMED names as a list in a sentence, and how many more there are."""
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} {last} {len(names) - NAMED} more"
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def counted(count: int, thing: str) -> str:
    """1 task, 2 tasks."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


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
        tasks = some([decision.name(unit) for unit in decision.having(comparison.verdict)])
        return f"{change} Over all tasks together that could be chance; for {tasks} alone it is not."
    reach = comparison.detectable
    would = f" This design finds a difference of {100 * reach:.0f} points in 80 % of cases." if reach else ""
    return f"{change} That is no evidence of a difference.{would}"
