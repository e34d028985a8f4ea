"""Shows the progress of runs and verdicts: a bar on a terminal, else one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.compare.wording import cost_text, seconds_text
from harness.models import EvalResult
from harness.report.console import plain, report_console, say
from locobench.shared.terminal import printable_line


class Show(Protocol):
    """Shows that one more is done."""

    def __call__(self, done: int, total: int, summary: str, line: str, *, aloud: bool = False) -> None:
        """`summary` stands beside the bar, `line` is for this one; `aloud` shows it above the bar, too."""


@contextmanager
def progress(*, quiet: bool, err: bool = False) -> Iterator[Show]:
    """Show a bar while the block runs; without a terminal a line each, and nothing if `quiet`."""
    console = report_console(stderr=err)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    is_bar = console.is_terminal and not quiet
    bar = Progress(*columns, console=console, disable=not is_bar)
    row = bar.add_task("", total=None)

    def show(done: int, total: int, summary: str, line: str, *, aloud: bool = False) -> None:
        line = f"[{done}/{total}] {line}"
        bar.update(row, completed=done, total=total, description=summary)
        if is_bar and aloud:
            bar.console.print(plain(printable_line(line)))
        elif not is_bar and not quiet:
            say(line, err=err)

    with bar:
        yield show


def counts_of(results: Sequence[EvalResult]) -> str:
    """Return passed of measured runs, runs not measured, and the cost."""
    measured = [r for r in results if r.measured]
    known = [r.cost_usd for r in results if r.cost_usd is not None]
    text = f"{sum(r.passed for r in measured)} of {len(measured)} passed"
    if len(measured) < len(results):
        text += f", {len(results) - len(measured)} not measured"
    text += f", ${sum(known):.2f}"
    return text + (f" and {len(results) - len(known)} unknown" if len(known) < len(results) else "")


def line_of(result: EvalResult) -> str:
    """Sum up a run in one line."""
    parts = [
        result.task_id,
        result.config_name,
        result.model,
        f"Run {result.run_index + 1}",
        (result.lost_to or result.verdict).upper(),
        f"score {result.overall_score:.2f}",
        "cost not recorded" if result.cost_usd is None else cost_text(result.cost_usd),
        seconds_text(result.trace.duration_seconds),
        result.trace.error,
    ]
    return " | ".join(filter(None, parts))
