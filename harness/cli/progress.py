"""What a matrix shows while it runs: a bar with pass counts and cost on a terminal, else a line per run."""

from __future__ import annotations

from collections import defaultdict
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from harness.models import EvalResult


def verdict_of(result: EvalResult) -> str:
    """PASS or FAIL for a measured run, else how it ended."""
    if not result.measured:
        return str(result.outcome if not result.outcome.measured else "judge_error").upper()
    return "PASS" if result.passed else "FAIL"


def line_of(result: EvalResult, done: int, total: int) -> str:
    """One line for one run."""
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    parts = [
        result.task_id,
        result.config_name,
        result.model,
        f"Run {result.run_index + 1}",
        verdict_of(result),
    ]
    parts += [f"score {result.overall_score:.2f}", cost, f"{result.trace.duration_seconds:.0f} s"]
    if result.trace.error:
        parts.append(result.trace.error)
    return f"[{done}/{total}] " + " | ".join(parts)


class Progress:
    """A context manager; give `show` to the matrix as its callback."""

    def __init__(self, total: int, earlier: list[EvalResult], *, quiet: bool) -> None:
        self._total = total
        self._results = list(earlier)
        self._quiet = quiet
        console = Console()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Bar(*columns, console=console) if console.is_terminal and not quiet else None

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
            self._row = self._bar.add_task(self._counts(), total=self._total, completed=len(self._results))
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, result: EvalResult, done: int, total: int) -> None:
        """One run is done."""
        self._results.append(result)
        if self._bar is not None:
            self._bar.update(self._row, completed=done, description=self._counts())
            if not result.measured:
                self._bar.console.print(line_of(result, done, total), markup=False, highlight=False)
        elif not self._quiet:
            click.echo(line_of(result, done, total))

    def summary(self, results: list[EvalResult]) -> str:
        """One line per config and model: passed of measured runs, runs not measured, cost."""
        groups: dict[tuple[str, str], list[EvalResult]] = defaultdict(list)
        for result in results:
            groups[result.config_name, result.model].append(result)
        return "\n".join(f"{name} ({model}): {_counts(group)}" for (name, model), group in groups.items())

    def _counts(self) -> str:
        return _counts(self._results)


def _counts(results: list[EvalResult]) -> str:
    measured = [r for r in results if r.measured]
    known = [r.cost_usd for r in results if r.cost_usd is not None]
    text = f"{sum(r.passed for r in measured)} of {len(measured)} passed"
    if len(measured) < len(results):
        text += f", {len(results) - len(measured)} not measured"
    text += f", ${sum(known):.2f}"
    return text + (f" and {len(results) - len(known)} unknown" if len(known) < len(results) else "")
