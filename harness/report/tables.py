"""The rich tables of terminal reports, and the colours of rates and verdicts in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from harness.compare.metrics import aggregate, by_arm, by_task
from harness.compare.verdicts import Comparison, UnitComparison, Verdict
from harness.compare.wording import (
    UNKNOWN,
    arm_passes,
    cost_text,
    count_text,
    errors_text,
    interval_text,
    ks_text,
    metric_name,
    number,
    p_text,
    passes,
    percent,
    points,
    rate_interval,
    seconds_text,
    signed,
    unit_verdict,
)
from harness.models import EvalResult
from harness.statistics import wilson_interval

COLOURS = {
    Verdict.IMPROVEMENT: "green",
    Verdict.REGRESSION: "red",
    Verdict.NO_EVIDENCE: "",
    Verdict.NOT_ENOUGH_DATA: "yellow",
}


def new_table(title: str, *columns: str) -> Table:
    """An empty table in the house style."""
    table = Table(title=title or None, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for name in columns:
        table.add_column(Text(name))
    return table


def summary_table(results: Sequence[EvalResult]) -> Table:
    """Rates with 95 % intervals, pass@k, cost and lost runs of every config and model."""
    table = new_table("Summary", "config", "model")
    for name in ("passed", "rate", "95 %", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("pass@k", "pass^k"):
        table.add_column(name)
    for name in ("tokens", "cost/run", "time/run"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("lost", justify="right")
    for (config, model), runs in by_arm(results).items():
        m = aggregate(runs)
        table.add_row(
            Text(config),
            Text(model),
            passes(m.passed, m.total_runs),
            Text(percent(m.pass_rate), style=_colour(m.pass_rate)) if m.total_runs else UNKNOWN,
            rate_interval(m.pass_interval),
            f"{m.avg_score:.2f}",
            ks_text(m.pass_at_k),
            ks_text(m.pass_hat_k),
            count_text(m.avg_tokens),
            cost_text(m.avg_cost),
            seconds_text(m.avg_duration),
            errors_text(m.errors),
        )
    return table


def metrics_table(comparison: Comparison) -> Table:
    """Every quantity of a comparison in both arms, with its difference and the interval of that."""
    table = new_table("Means over tasks", "")
    for name in (comparison.label_a, comparison.label_b, "difference", "95 %", "tasks"):
        table.add_column(Text(name), justify="right", no_wrap=True)
    for m in comparison.metrics:
        cells = (number(m, m.mean_a), number(m, m.mean_b), signed(m), interval_text(m), str(m.tasks))
        table.add_row(metric_name(m.name), *cells)
    return table


def passes_by_task(results: Sequence[EvalResult]) -> Table:
    """Task x config and model: passed of measured runs, and how many were lost."""
    arms = list(by_arm(results))
    table = new_table("Passed of measured runs by task", "task", *(f"{config}\n{model}" for config, model in arms))
    for task, of_task in by_task(results).items():
        cells = by_arm(of_task)
        table.add_row(Text(task), *(_passes(cells.get(arm, [])) for arm in arms))
    return table


def _passes(runs: Sequence[EvalResult]) -> Text:
    measured = [run for run in runs if run.measured]
    if not runs:
        return Text(UNKNOWN, style="dim")
    passed = sum(run.passed for run in measured)
    cell = Text(passes(passed, len(measured)), style=_colour(passed / len(measured)) if measured else "dim")
    lost = len(runs) - len(measured)
    return cell.append(f" +{lost} lost", style="yellow") if lost else cell


def assertion_table(results: Sequence[EvalResult]) -> Table:
    """How often each assertion of each task passes; one that always or never does cannot tell two arms apart."""
    table = new_table("Assertions", "task", "assertion", "passed", "95 %")
    for task, runs in by_task(results).items():
        grades = [g for run in runs if run.measured for g in run.grades]
        for name in dict.fromkeys(g.assertion_id for g in grades):
            of_name = [g.passed for g in grades if g.assertion_id == name]
            interval = rate_interval(wilson_interval(sum(of_name), len(of_name)))
            table.add_row(Text(task), Text(name), passes(sum(of_name), len(of_name)), interval)
    return table


def unit_table(units: Mapping[str, UnitComparison], a: str, b: str) -> Table:
    """Task by task: runs passed in both arms, difference, p before and after correction, verdict."""
    table = new_table("Tasks", "task")
    for title in (a, b, "difference", "p", "adjusted"):
        table.add_column(Text(title), justify="right", no_wrap=True)
    table.add_column("")
    for name, u in units.items():
        verdict = Text(unit_verdict(u), style=COLOURS[u.verdict] if u.verdict.decided else "yellow")
        ps = (p_text(u.p.smaller), p_text(u.adjusted.smaller))
        table.add_row(Text(name), *arm_passes(u), points(u.difference), *ps, verdict)
    return table


def _colour(rate: float) -> str:
    return "green" if rate >= 0.9 else "yellow" if rate >= 0.5 else "red"


def passed_text(passed: bool) -> Text:
    """pass or fail."""
    return _VERDICTS["pass" if passed else "fail"].copy()


def mark(result: EvalResult) -> Text:
    """pass, fail or lost."""
    return _VERDICTS[result.verdict].copy()


_VERDICTS = {
    "pass": Text("pass", style="green"),
    "fail": Text("fail", style="red"),
    "lost": Text("lost", style="yellow"),
}
