"""Shows the progress of runs and verdicts: a bar with counts and cost on a terminal, else one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.compare.wording import cost_text, seconds_text
from harness.models import EvalResult
from harness.report.console import plain, report_console, say
from harness.run.matrix import Callback
from locobench.shared.terminal import printable_line


@contextmanager
def progress_bar(*, quiet: bool, stderr: bool = False) -> Iterator[Progress | None]:
    """Show a bar while the block runs; None if `quiet`, or without a terminal."""
    console = report_console(stderr=stderr)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        yield bar


@contextmanager
def matrix_progress(total: int, earlier: Iterable[EvalResult], *, quiet: bool) -> Iterator[Callback]:
    """Yield the callback of a matrix, which shows every finished run.

    Args:
        total: number of runs, the earlier ones included.
        earlier: the runs that were finished before.
        quiet: show nothing.
    """
    results = list(earlier)
    with progress_bar(quiet=quiet) as bar:
        row = bar.add_task(counts_of(results), total=total, completed=len(results)) if bar else None

        def show(result: EvalResult, done: int, total: int) -> None:
            results.append(result)
            if bar is not None and row is not None:
                bar.update(row, completed=done, description=counts_of(results))
                if not result.measured:
                    bar.console.print(plain(printable_line(_line_of(result, done, total))))
            elif not quiet:
                say(_line_of(result, done, total))

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


def _line_of(result: EvalResult, done: int, total: int) -> str:
    parts = [
        result.task_id,
        result.config_name,
        result.model,
        f"Run {result.run_index + 1}",
        (result.lost_to or result.verdict).upper(),
        f"score {result.overall_score:.2f}",
        "cost not recorded" if result.cost_usd is None else cost_text(result.cost_usd),
        seconds_text(result.trace.duration_seconds),
    ]
    if result.trace.error:
        parts.append(result.trace.error)
    return f"[{done}/{total}] " + " | ".join(parts)
