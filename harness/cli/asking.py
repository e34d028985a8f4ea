"""What the commands that ask judges share: options, dry run, progress, journal and summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from harness.agreement.judges import between_judges, within_judge
from harness.cli.options import gathered
from harness.cli.output import journal_of
from harness.cli.progress import progress_bar
from harness.compare.wording import cost_text, counted
from harness.errors import InputError
from harness.graders.service import Question, Reply, Service
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.report.console import say
from harness.results.journal import Journal, read_entries
from harness.run.panel import EXPECTED_REPLY_TOKENS, Callback, Panel, PanelReply, PanelStopped

MOST_REASONS = 5
"""How many reasons for missing verdicts are shown."""


@dataclass(frozen=True)
class JudgeOptions:
    """Which judges are asked, where, how often and up to what cost."""

    judges: tuple[str, ...]
    api: str
    base_url: str | None
    repeats: int
    max_cost_usd: float | None
    dry_run: bool
    quiet: bool

    def estimate(self, questions: Sequence[Question], output: Path) -> None:
        """Print what asking would cost, without asking."""
        panel = self._panel(read_entries(journal_of(output), PanelReply), lambda _reply: None)
        tokens, dollars = panel.estimate(questions)
        calls, total = len(panel.left(questions)), len(panel.asks(questions))
        cost = "the price of a judge is not known" if dollars is None else f"about {cost_text(dollars)}"
        say(
            f"{counted(calls, 'request')} to {', '.join(panel.judges)}, {total - calls} done before; "
            f"about {tokens:,} tokens in and {calls * EXPECTED_REPLY_TOKENS:,} out: {cost}"
        )

    def ask(self, questions: Sequence[Question], output: Path) -> tuple[Panel, str]:
        """Ask the questions that have no verdict in the journal next to `output`.

        Returns:
            The panel, and why it stopped early; empty if it did not.

        Raises:
            InputError: `output` exists without a journal, so this command did not write it.
        """
        path = journal_of(output)
        if output.expanduser().exists() and not path.exists():
            raise InputError(f"{output} exists, and no journal of this command beside it; name another with -o")
        with Journal(path, PanelReply) as journal, _progress(quiet=self.quiet) as shown:
            panel = self._panel(journal.entries, journal.append)
            try:
                panel.ask(questions, shown)
            except PanelStopped as stopped:
                return panel, str(stopped)
        return panel, ""

    def _panel(self, earlier: Sequence[PanelReply], append: Callable[[PanelReply], None]) -> Panel:
        service = Service.of_environment(self.api, self.base_url)
        return Panel(service, self.judges, self.repeats, earlier, append, max_cost_usd=self.max_cost_usd)


judge_options = gathered(
    "asking",
    JudgeOptions,
    click.option(
        "--judge",
        "judges",
        multiple=True,
        default=[DEFAULT_JUDGE_MODEL],
        show_default=True,
        help="Model that judges; repeatable.",
    ),
    click.option(
        "--api",
        default="anthropic",
        show_default=True,
        envvar="JUDGE_API",
        type=click.Choice(["anthropic", "openai"]),
        help="What the judges' service speaks.",
    ),
    click.option(
        "--base-url", help="Address of the service. Default: JUDGE_BASE_URL, else the provider's own variable."
    ),
    click.option(
        "--repeats",
        default=1,
        show_default=True,
        type=click.IntRange(1, 25),
        help="Verdicts of each judge on each question.",
    ),
    click.option(
        "--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Stop before the total could exceed this."
    ),
    click.option("--dry-run", is_flag=True, help="Show what would be asked and what it may cost, ask nothing."),
    click.option("--quiet", is_flag=True, help="No progress."),
)


def say_verdicts(panel: Panel, questions: Sequence[Question]) -> list[Reply]:
    """Print how many verdicts there are, what they cost and how far judges agree; return the replies without one."""
    replies = [reply for question in questions for reply in panel.replies(question)]
    failed = [reply for reply in replies if reply.verdict is None]
    say(
        f"{counted(len(questions), 'question')}, {counted(len(replies) - len(failed), 'verdict')}, "
        f"{len(failed)} missing; {cost_text(panel.spent_usd)} in all"
    )
    points = panel.points(questions)
    for judge, grades in points.items():
        again = within_judge(grades)
        if again:
            say(f"  {judge} asked again: grades of one answer scatter by {again[1]:.1f} points ({again[0]} of them)")
    for pair in between_judges(points):
        ranks = "not told" if pair.rank_correlation is None else f"{pair.rank_correlation:.2f}"
        say(
            f"  {pair.first} and {pair.second} on {pair.compared}: {pair.mean_difference:.1f} points apart, "
            f"the second gives {pair.bias:+.1f}; rank correlation {ranks}"
        )
    for text in sorted({reply.error for reply in failed})[:MOST_REASONS]:
        say(f"  no verdict: {text}", err=True)
    return failed


def say_unfinished(reason: str, output: Path) -> None:
    """Print why asking stopped early, and how to continue."""
    say(f"stopped: {reason}", err=True)
    say(f"what was said is in {journal_of(output)}; the same command goes on from there", err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callback | None]:
    """Show a progress bar on a terminal, else one line per verdict on stderr."""
    with progress_bar(quiet=quiet, stderr=True) as bar:
        if bar is not None:
            row = bar.add_task("judging")
            yield lambda _verdict, done, total: bar.update(row, completed=done, total=total)
        else:
            yield None if quiet else lambda verdict, done, total: say(_line(verdict, done, total), err=True)


def _line(verdict: PanelReply, done: int, total: int) -> str:
    said = f"no verdict: {verdict.error}" if verdict.verdict is None else "done"
    return f"[{done}/{total}] {verdict.task} | {verdict.judge} | {said} | {cost_text(verdict.cost_usd)}"
