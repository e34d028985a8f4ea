"""The rich tables of terminal reports, and the colours of rates and verdicts in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from measure.compare.findings import Slice
from measure.compare.verdicts import ArmsComparison, Comparison, UnitComparison, Verdict
from measure.compare.wording import (
    arm_values,
    change_text,
    cost_name,
    cost_value,
    interval_text,
    ratio_interval,
    reach_interval,
    reach_value,
    unit_verdict,
)
from measure.records import EvalResult
from measure.report.console import plain
from measure.statistics.estimates import wilson_interval
from measure.summary.metrics import Metric, aggregate, by_arm, by_task, resolve_metric
from measure.summary.wording import (
    LEVEL,
    UNKNOWN,
    cost_text,
    count_text,
    errors_text,
    ks_text,
    mean_text,
    metric_name,
    p_text,
    percent,
    points,
    rate_interval,
    seconds_text,
)

COLOURS = {
    Verdict.IMPROVEMENT: "green",
    Verdict.REGRESSION: "red",
    Verdict.AS_GOOD: "cyan",
    Verdict.NO_EVIDENCE: "",
    Verdict.NOT_ENOUGH_DATA: "yellow",
}


def new_table(title: str, *columns: str) -> Table:
    """Return an empty table in the house style."""
    table = Table(title=title or None, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for name in columns:
        table.add_column(plain(name))
    return table


def summary_table(results: Sequence[EvalResult]) -> Table:
    """Show rates with intervals, pass@k, cost and lost runs, with a column per config and model."""
    arms = {arm: _summary_of(runs) for arm, runs in by_arm(results).items()}
    table = new_table("Summary", "", *("\n".join(arm) for arm in arms))
    for name in next(iter(arms.values()), {}):
        table.add_row(name, *(cells[name] for cells in arms.values()))
    return table


def _summary_of(runs: Sequence[EvalResult]) -> dict[str, Text | str]:
    m = aggregate(runs)
    return {
        "passed": f"{m.passed}/{m.total_runs}",
        "rate": plain(percent(m.pass_rate), style=_colour(m.pass_rate)) if m.total_runs else UNKNOWN,
        LEVEL: rate_interval(m.pass_interval),
        "score": f"{m.avg_score:.2f}" if m.total_runs else UNKNOWN,
        "pass@k": ks_text(m.pass_at_k),
        "pass^k": ks_text(m.pass_hat_k),
        "tokens": count_text(m.avg_tokens),
        "cost/run": cost_text(m.avg_cost),
        "time/run": seconds_text(m.avg_duration),
        "lost": errors_text(m.errors),
    }


def metrics_table(comparison: Comparison) -> Table:
    """Show both metrics of a comparison in both arms, with the difference and its interval."""
    table = new_table("Means over tasks", "")
    level = f"{100 * comparison.confidence:.3g} %"
    for name in (comparison.label_a, comparison.label_b, "difference", level, "tasks"):
        table.add_column(plain(name), justify="right", no_wrap=True)
    for m in comparison.metrics:
        cells = (percent(m.mean_a), percent(m.mean_b), points(m.difference), interval_text(m.interval), str(m.tasks))
        table.add_row(metric_name(m.name), *cells)
    return table


def costs_table(comparison: Comparison) -> Table:
    """Show what a run needed in both arms, with the change and its interval after Holm's correction."""
    table = new_table("A run needed", "")
    for name in (comparison.label_a, comparison.label_b, "change", f"{LEVEL} of all", "p (Holm)", "tasks"):
        table.add_column(plain(name), justify="right", no_wrap=True)
    for cost in comparison.costs:
        style = "bold" if cost.changed else ""
        change = (plain(change_text(cost), style), plain(ratio_interval(cost), style), p_text(cost.adjusted_p))
        means = (cost_value(cost, cost.mean_a), cost_value(cost, cost.mean_b))
        table.add_row(cost_name(cost.name), *means, *change, str(cost.tasks))
    return table


def reach_table(comparison: Comparison) -> Table:
    """Show how both arms reached the files that the answers name, with the difference after Holm's correction."""
    table = new_table("To the files of the answer", "")
    for name in (comparison.label_a, comparison.label_b, "difference", f"{LEVEL} of all", "p (Holm)", "tasks"):
        table.add_column(plain(name), justify="right", no_wrap=True)
    for row in comparison.reach:
        style = "bold" if row.changed else ""
        means = (reach_value(row.name, row.mean_a), reach_value(row.name, row.mean_b))
        change = (plain(reach_value(row.name, row.difference, signed=True), style), plain(reach_interval(row), style))
        table.add_row(row.name, *means, *change, p_text(row.adjusted_p), str(row.tasks))
    return table


def slices_table(slices: Sequence[Slice]) -> Table:
    """Show each group's difference in points with interval and p-value after Holm's correction."""
    table = new_table("By group", "")
    for name in ("tasks", "points", f"{LEVEL} of all", "p (Holm)"):
        table.add_column(name, justify="right", no_wrap=name != "p (Holm)")
    shown = ""
    for s in slices:
        if s.dimension != shown:
            shown = s.dimension
            table.add_row(plain(metric_name(shown), style="bold"))
        numbers = (f"{100 * s.difference:+.1f}", interval_text(s.interval), p_text(s.adjusted_p))
        table.add_row(plain(f"  {s.value}"), str(s.tasks), *numbers)
    return table


def arms_table(found: ArmsComparison) -> Table:
    """Show each arm's tasks, runs, metric and cost."""
    table = new_table("Arms", "")
    for name in ("tasks", "runs", metric_name(found.metric), "cost/run"):
        table.add_column(name, justify="right", no_wrap=True)
    for arm in found.arms:
        mean = UNKNOWN if arm.mean is None else percent(arm.mean)
        table.add_row(plain(arm.label), str(arm.tasks), str(arm.runs), mean, cost_text(arm.cost))
    return table


def pairs_table(found: ArmsComparison) -> Table:
    """Show the difference between each two arms: against the first, then the others against each other."""
    table = new_table("Each against each, corrected by Holm's method for all pairs", "")
    for name in ("points", "interval", "level", "p (Holm)", "money"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for pair in (*found.comparisons, *found.between):
        cost, primary = pair.cost_named("cost"), pair.primary
        difference = (points(primary.difference), interval_text(primary.interval)) if primary else (UNKNOWN, UNKNOWN)
        cells = (f"{100 * pair.confidence:.3g} %", p_text(pair.adjusted_p), change_text(cost) if cost else UNKNOWN)
        verdict = plain(str(pair.verdict), COLOURS[pair.verdict])
        table.add_row(plain(f"{pair.label_b} against {pair.label_a}"), *difference, *cells, verdict)
    return table


def means_by_task(results: Sequence[EvalResult]) -> Table:
    """Show each task's passed and measured runs, or its mean score if any is between 0 and 1; and its lost runs.

    Several configs and models have a row each below their task.
    """
    metric = resolve_metric("auto", results)
    table = new_table(
        "Passed of measured runs by task" if metric == "pass_rate" else "Mean score by task", "task", "mean"
    )
    several = len(by_arm(results)) > 1
    for task, of_task in by_task(results).items():
        if several:
            table.add_row(plain(task), "")
            for arm, runs in by_arm(of_task).items():
                table.add_row(plain(f"  {' | '.join(arm)}"), _mean(runs, metric))
        else:
            table.add_row(plain(task), _mean(of_task, metric))
    return table


def _mean(runs: Sequence[EvalResult], metric: Metric) -> Text:
    m = aggregate(runs)
    mean = m.avg_score if metric == "score" else m.pass_rate
    cell = plain(mean_text(m, metric), style=_colour(mean) if m.total_runs else "dim")
    return cell.append(f" +{m.lost} lost", style="yellow") if m.lost else cell


def assertion_table(results: Sequence[EvalResult]) -> Table:
    """Show how often each assertion of each task passes; one that always or never does cannot tell arms apart."""
    table = new_table("Assertions", "task", "assertion", "passed", LEVEL)
    for task, runs in by_task(results).items():
        grades = [g for run in runs if run.measured for g in run.grades]
        for name in dict.fromkeys(g.assertion_id for g in grades):
            of_name = [g.passed for g in grades if g.assertion_id == name]
            interval = rate_interval(wilson_interval(sum(of_name), len(of_name)))
            table.add_row(plain(task), plain(name), f"{sum(of_name)}/{len(of_name)}", interval)
    return table


def unit_table(units: Mapping[str, UnitComparison], a: str, b: str) -> Table:
    """Show each task's runs passed in both arms, difference, p before and after correction, and verdict."""
    table = new_table("Tasks", "task")
    for title in (a, b, "difference", "p", "adjusted"):
        table.add_column(plain(title), justify="right", no_wrap=True)
    table.add_column("")
    for name, u in units.items():
        verdict = plain(unit_verdict(u), style=COLOURS[u.verdict] if u.verdict.decided else "yellow")
        ps = (p_text(u.p.smaller), p_text(u.adjusted.smaller))
        table.add_row(plain(name), *arm_values(u), points(u.difference), *ps, verdict)
    return table


def _colour(rate: float) -> str:
    return "green" if rate >= 0.9 else "yellow" if rate >= 0.5 else "red"


def verdict_text(verdict: Literal["pass", "fail", "lost"]) -> Text:
    """Return the verdict on a run or a grade, coloured."""
    return plain(verdict, style={"pass": "green", "fail": "red", "lost": "yellow"}[verdict])
