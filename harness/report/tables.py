"""The rich tables of terminal reports, and the colours of rates and verdicts in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from harness.compare.metrics import by_arm, by_task
from harness.compare.verdicts import UnitComparison, Verdict
from harness.compare.wording import percent
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
        table.add_column(name)
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
        return Text("-", style="dim")
    passed = sum(run.passed for run in measured)
    cell = Text(f"{passed}/{len(measured)}", style=_colour(passed / len(measured)) if measured else "dim")
    lost = len(runs) - len(measured)
    return cell.append(f" +{lost} lost", style="yellow") if lost else cell


def assertion_table(results: Sequence[EvalResult]) -> Table:
    """How often each assertion of each task passes: one that always does or never does tells arms apart."""
    table = new_table("Assertions", "task", "assertion", "passed", "95 %")
    for task, runs in by_task(results).items():
        grades = [g for run in runs if run.measured for g in run.grades]
        for name in dict.fromkeys(g.assertion_id for g in grades):
            of_name = [g.passed for g in grades if g.assertion_id == name]
            interval = wilson_interval(sum(of_name), len(of_name))
            text = f"{100 * interval.low:.0f}-{100 * interval.high:.0f}" if interval else "-"
            table.add_row(Text(task), Text(name), f"{sum(of_name)}/{len(of_name)}", text)
    return table


def unit_table(units: Mapping[str, UnitComparison], a: str, b: str) -> Table:
    """Task by task: runs passed in both arms, difference, p before and after correction, verdict."""
    table = new_table("Tasks", "task")
    for title in (a, b, "points", "p", "adjusted"):
        table.add_column(Text(title), justify="right")
    table.add_column("")
    for name, u in units.items():
        p, adjusted = min(u.p.less, u.p.greater), min(u.adjusted.less, u.adjusted.greater)
        verdict = Text("suspect", style="yellow") if u.suspect else Text("")
        if u.verdict.decided:
            verdict = Text(str(u.verdict), style=COLOURS[u.verdict])
        counts = (f"{u.passed_a}/{len(u.scores_a)}", f"{u.passed_b}/{len(u.scores_b)}")
        table.add_row(Text(name), *counts, f"{100 * u.difference:+.1f}", f"{p:.2g}", f"{adjusted:.2g}", verdict)
    return table


def _colour(rate: float) -> str:
    return "green" if rate >= 0.9 else "yellow" if rate >= 0.5 else "red"


def rate_text(rate: float) -> Text:
    """A rate between 0 and 1 as a coloured percentage."""
    return Text(percent(rate), style=_colour(rate))


def ks_text(values: dict[int, float]) -> str:
    """k:percent for every k."""
    return " ".join(f"{k}:{100 * value:.0f}" for k, value in values.items()) or "-"


def passed_text(passed: bool) -> Text:
    """pass or fail."""
    return Text("pass", style="green") if passed else Text("fail", style="red")


def mark(result: EvalResult) -> Text:
    """pass, fail or lost."""
    return passed_text(result.passed) if result.measured else Text("lost", style="yellow")


def why(result: EvalResult) -> str:
    """What made a run fail or be lost, in one line."""
    failed = [
        g.assertion_id + ("" if g.status == "graded" else " (judge error)") for g in result.grades if not g.passed
    ]
    return "; ".join([*([result.trace.error] if result.trace.error else []), *failed])
