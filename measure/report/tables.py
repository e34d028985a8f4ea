"""The rich tables of terminal reports, and the colours of rates and verdicts in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from measure.records import EvalResult
from measure.report.console import plain
from measure.report.grids import Grid, Tone
from measure.statistics.estimates import wilson_interval
from measure.summary import wording
from measure.summary.metrics import Metric, aggregate, by_arm, by_task, resolve_metric

STYLES: dict[Tone, str] = {"good": "green", "bad": "red", "equal": "cyan", "doubt": "yellow", "clear": "bold", "": ""}


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
        "rate": plain(wording.percent(m.pass_rate), style=_colour(m.pass_rate)) if m.total_runs else wording.UNKNOWN,
        wording.LEVEL: wording.rate_interval(m.pass_interval),
        "score": f"{m.avg_score:.2f}" if m.total_runs else wording.UNKNOWN,
        "pass@k": wording.ks_text(m.pass_at_k),
        "pass^k": wording.ks_text(m.pass_hat_k),
        "tokens": wording.count_text(m.avg_tokens),
        "cost/run": wording.cost_text(m.avg_cost),
        "time/run": wording.seconds_text(m.avg_duration),
        "lost": wording.errors_text(m.errors),
    }


def grid_table(grid: Grid) -> Table:
    """Show a grid; rows whose first cell repeats that of the row before leave it out."""
    table = new_table(grid.title)
    for at, name in enumerate(grid.columns):
        table.add_column(plain(name), justify="right" if at and name != "group" else "left", no_wrap=at > 0)
    shown = ""
    for row in grid.rows:
        first, *others = row.cells
        cells = ["" if first == shown else first, *others]
        shown = first
        table.add_row(*(plain(cell, STYLES[row.tone] if at == grid.marked else "") for at, cell in enumerate(cells)))
    return table


def means_by_task(results: Sequence[EvalResult]) -> Table:
    """Show each task's passed and measured runs, or its mean score if any is between 0 and 1; and its lost runs.

    Several configs and models have a row each below their task.
    """
    metric = resolve_metric("auto", results)
    title = "Passed of measured runs by task" if metric == "pass_rate" else "Mean score by task"
    table = new_table(title, "task", "mean")
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
    cell = plain(wording.mean_text(m, metric), style=_colour(mean) if m.total_runs else "dim")
    return cell.append(f" +{m.lost} lost", style="yellow") if m.lost else cell


def assertion_table(results: Sequence[EvalResult]) -> Table:
    """Show how often each assertion of each task passes; one that always or never does cannot tell arms apart."""
    table = new_table("Assertions", "task", "assertion", "passed", wording.LEVEL)
    for task, runs in by_task(results).items():
        grades = [g for run in runs if run.measured for g in run.grades]
        for name in dict.fromkeys(g.assertion_id for g in grades):
            of_name = [g.passed for g in grades if g.assertion_id == name]
            interval = wording.rate_interval(wilson_interval(sum(of_name), len(of_name)))
            table.add_row(plain(task), plain(name), f"{sum(of_name)}/{len(of_name)}", interval)
    return table


def _colour(rate: float) -> str:
    return "green" if rate >= 0.9 else "yellow" if rate >= 0.5 else "red"


def verdict_text(verdict: Literal["pass", "fail", "lost"]) -> Text:
    """Return the verdict on a run or a grade, coloured."""
    return plain(verdict, style={"pass": "green", "fail": "red", "lost": "yellow"}[verdict])
