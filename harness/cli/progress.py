"""Shows the progress of a matrix: a bar with pass counts and cost on a terminal, else one line per run."""

from __future__ import annotations

from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from harness.compare.metrics import by_arm
from harness.compare.wording import cost_text, seconds_text
from harness.models import EvalResult
from harness.report.console import plain, report_console, say
from locobench.shared.terminal import printable_line


def verdict_of(result: EvalResult) -> str:
    """Return PASS or FAIL for a measured run, else what it was lost to."""
    return (result.lost_to or result.verdict).upper()


def line_of(result: EvalResult, done: int, total: int) -> str:
    """Return one line about a run."""
    cost = "cost not recorded" if result.cost_usd is None else cost_text(result.cost_usd)
    parts = [
        result.task_id,
        result.config_name,
        result.model,
        f"Run {result.run_index + 1}",
        verdict_of(result),
    ]
    parts += [f"score {result.overall_score:.2f}", cost, seconds_text(result.trace.duration_seconds)]
    if result.trace.error:
        parts.append(result.trace.error)
    return f"[{done}/{total}] " + " | ".join(parts)


class Progress:
    """A context manager that shows progress; pass `show` to the matrix as its callback."""

    def __init__(self, total: int, earlier: list[EvalResult], *, quiet: bool) -> None:
        self._total = total
        self._results = list(earlier)
        self._quiet = quiet
        console = report_console()
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
        """Show a finished run."""
        self._results.append(result)
        if self._bar is not None:
            self._bar.update(self._row, completed=done, description=self._counts())
            if not result.measured:
                self._bar.console.print(plain(printable_line(line_of(result, done, total))))
        elif not self._quiet:
            say(line_of(result, done, total))

    def summary(self, results: list[EvalResult]) -> list[str]:
        """Return one line per config and model: passed of measured runs, runs not measured, cost."""
        return [f"{name} ({model}): {_counts(group)}" for (name, model), group in by_arm(results).items()]

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
