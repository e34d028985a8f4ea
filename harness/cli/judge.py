"""The command that grades the trials of a Harbor job by judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import click

from harness.cli.output import journal_of, save_results
from harness.graders.service import Api, Question, Service
from harness.models import EvalResult
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.runner.panel import EXPECTED_REPLY_TOKENS, Panel, PanelReply, PanelStopped
from harness.runner.regrade import add_grade, build_question
from locobench.shared.errors import InputError
from locobench.shared.files import check_output
from measure.commands.options import PATH, load, reward_options
from measure.report.console import say
from measure.results.journal import Journal, read_entries
from measure.summary.wording import cost_text, counted

MOST_REASONS = 5
"""How many reasons for missing verdicts are shown."""


@click.command()
@click.argument("source", type=PATH, metavar="JOB")
@click.option("-t", "--tasks", type=PATH, help="Folder of the Harbor tasks.  [default: where the job found them]")
@click.option("-o", "--output", type=PATH, help="Results file to write. Default: NAME.graded.json here.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    default=[DEFAULT_JUDGE_MODEL],
    show_default=True,
    help="Model that judges; may be given several times.",
)
@click.option(
    "--api",
    default="anthropic",
    show_default=True,
    envvar="JUDGE_API",
    type=click.Choice(["anthropic", "openai"]),
    help="API of the judges' service.",
)
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    type=click.IntRange(1, 25),
    help="How often each judge is asked about each answer.",
)
@click.option("--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Ask no more once this is spent.")
@reward_options
@click.option("--dry-run", is_flag=True, help="Show what would be asked and the cost; ask nothing.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_context
def grade(
    ctx: click.Context,
    *,
    source: Path,
    tasks: Path | None,
    output: Path | None,
    judges: tuple[str, ...],
    api: Api,
    repeats: int,
    max_cost_usd: float | None,
    dry_run: bool,
    quiet: bool,
    reward_key: str,
    reward_range: tuple[float, float],
) -> None:
    """Grade the answers of a Harbor job by judges, without running the agent.

    JOB is a job folder or a folder of jobs. The judges' median is a trial's score, and the verifier's reward stays
    beside it. Every verdict is written to OUTPUT's journal before the next request. After a stop the same command
    continues, and asks again for missing verdicts.

    Exit code 0 when everything has a grade, 2 when something has none or the judges were stopped.
    """
    if not source.is_dir():
        raise InputError(f"{source}: not a Harbor job folder; `matrix --resume` judges runs of this harness")
    if tasks and not tasks.is_dir():
        raise InputError(f"{tasks}: not a folder; name the folder of the job's tasks with --tasks")
    results = load(source, reward_key, reward_range)
    output = output or Path(f"{source.resolve().name}.graded.json")
    check_output(output, [source])
    asked = [build_question(result, tasks) for result in results]
    questions = [question for question in asked if question]
    panel_of = partial(Panel, Service.of_environment(api), judges, repeats, max_cost_usd=max_cost_usd)
    path = journal_of(output)
    if dry_run:
        _say_estimate(panel_of(read_entries(path, PanelReply)), questions)
        return
    if output.expanduser().exists() and not path.exists():
        raise InputError(f"{output} exists and was not written by this command; name another with -o")
    stopped = ""

    def show(reply: PanelReply, done: int, total: int) -> None:
        if not quiet:
            said = f"no verdict: {reply.error}" if reply.verdict is None else "done"
            say(f"[{done}/{total}] {reply.task} | {reply.judge} | {said} | {cost_text(reply.cost_usd)}", err=True)

    with Journal(path, PanelReply) as journal:
        panel = panel_of(journal.entries, journal)
        try:
            panel.ask(questions, show)
        except PanelStopped as early:
            stopped = str(early)
    judged = [add_grade(result, question, panel) for result, question in zip(results, asked, strict=True)]
    _say_verdicts(panel, questions)
    _say_changes(results, judged)
    save_results(judged, output, stopped)
    if stopped:
        say(f"stopped: {stopped}", err=True)
        say(f"all verdicts so far are in {path}; the same command continues from there", err=True)
    ctx.exit(2 if stopped or any(g.status != "graded" for r in judged for g in r.grades) else 0)


def _say_changes(before: Sequence[EvalResult], after: Sequence[EvalResult]) -> None:
    changed = sum(a.verdict != b.verdict for a, b in zip(before, after, strict=True))
    measured = [result for result in after if result.measured]
    mean = f", mean score {sum(r.overall_score for r in measured) / len(measured):.3f}" if measured else ""
    say(f"{counted(len(after), 'run')}, {len(measured)} measured, {changed} with a changed verdict{mean}")
    records = [grade.judge for result in after for grade in result.grades if grade.judge]
    if spreads := [100 * record.spread for record in records if record.spread is not None]:
        apart = f"{fmean(spreads):.1f} points apart in the mean"
        say(f"  verdicts on one answer, smallest and largest: {apart} ({counted(len(spreads), 'run')})")


def _say_estimate(panel: Panel, questions: Sequence[Question]) -> None:
    """Print what asking would cost."""
    tokens, dollars = panel.estimate(questions)
    calls, total = len(panel.open_asks(questions)), len(panel.asks(questions))
    cost = "the price of a judge is not known" if dollars is None else f"about {cost_text(dollars)}"
    say(
        f"{counted(calls, 'request')} to {', '.join(panel.judges)}, {total - calls} done before; "
        f"about {tokens:,} tokens in and {calls * EXPECTED_REPLY_TOKENS:,} out: {cost}"
    )


def _say_verdicts(panel: Panel, questions: Sequence[Question]) -> None:
    """Print how many verdicts there are, what they cost, and why verdicts are missing."""
    replies = [reply for question in questions for reply in panel.replies(question)]
    failed = [reply for reply in replies if reply.verdict is None]
    say(
        f"{counted(len(questions), 'question')}, {counted(len(replies) - len(failed), 'verdict')}, "
        f"{len(failed)} missing; {cost_text(panel.spent_usd)} in all"
    )
    for text in sorted({reply.error for reply in failed})[:MOST_REASONS]:
        say(f"  no verdict: {text}", err=True)
