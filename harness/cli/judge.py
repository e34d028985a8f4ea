"""The command that grades finished runs by judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from harness.cli.options import PATH
from harness.cli.output import journal_of, save_results
from harness.cli.progress import progress
from harness.compare.judges import judge_agreement
from harness.compare.wording import cost_text, counted
from harness.errors import InputError
from harness.graders.service import Question, Service
from harness.models import EvalResult
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.report.console import say
from harness.results.journal import Journal, read_entries
from harness.results.sources import load_source
from harness.run.panel import EXPECTED_REPLY_TOKENS, Panel, PanelReply, PanelStopped
from harness.run.regrade import Case, is_trial, run_case, trial_case
from harness.suite.load import load_tasks
from locobench.shared.files import check_output

MOST_REASONS = 5
"""How many reasons for missing verdicts are shown."""


@click.command()
@click.argument("source", type=PATH, metavar="JOB|RESULTS")
@click.option("-t", "--tasks", help="Folder of the Harbor tasks, or a quoted glob of this harness's task files.")
@click.option("-o", "--output", type=PATH, help="Results file to write. Default: NAME.graded.json here.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    default=[DEFAULT_JUDGE_MODEL],
    show_default=True,
    help="Model that judges; repeatable.",
)
@click.option(
    "--api",
    default="anthropic",
    show_default=True,
    envvar="JUDGE_API",
    type=click.Choice(["anthropic", "openai"]),
    help="What the judges' service speaks.",
)
@click.option("--base-url", help="Address of the service. Default: JUDGE_BASE_URL, else the provider's own variable.")
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    type=click.IntRange(1, 25),
    help="Verdicts of each judge on each question.",
)
@click.option(
    "--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Stop before the total could exceed this."
)
@click.option("--dry-run", is_flag=True, help="Show what would be asked and what it may cost, ask nothing.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_context
def grade(
    ctx: click.Context,
    *,
    source: Path,
    tasks: str | None,
    output: Path | None,
    judges: tuple[str, ...],
    api: str,
    base_url: str | None,
    repeats: int,
    max_cost_usd: float | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Grade finished runs by judges, without running the agent.

    JOB is a Harbor job folder, RESULTS a results file or the journal of a matrix. Of a Harbor trial the answer is
    judged: the judges' median is its score, and the verifier's reward stays beside it. Of a run of this harness the
    LLM assertions are judged again. Every verdict is in OUTPUT's journal before the next one is asked for; the same
    command goes on after a stop, and asks again where there was no verdict.

    Exit code 0 when everything has a grade, 2 when something has none or the judges were stopped.
    """
    results = load_source(source)
    whole = source.resolve()
    output = output or Path(f"{whole.name if whole.is_dir() else whole.stem}.graded.json")
    check_output(output, [source])
    cases = _cases(results, tasks)
    questions = [question for case in cases for question in case.questions]
    panel_of = partial(Panel, Service.of_environment(api, base_url), judges, repeats, max_cost_usd=max_cost_usd)
    path = journal_of(output)
    if dry_run:
        _say_estimate(panel_of(read_entries(path, PanelReply), lambda _reply: None), questions)
        return
    if output.expanduser().exists() and not path.exists():
        raise InputError(f"{output} exists, and no journal of this command beside it; name another with -o")
    stopped = ""
    with Journal(path, PanelReply) as journal, progress(quiet=quiet, err=True) as show:
        panel = panel_of(journal.entries, journal.append)
        try:
            panel.ask(questions, lambda reply, done, total: show(done, total, "judging", _line(reply)))
        except PanelStopped as early:
            stopped = str(early)
    graded = [case.graded(panel) for case in cases]
    _say_verdicts(panel, questions)
    _say_changes(results, graded)
    save_results(graded, output, stopped)
    if stopped:
        say(f"stopped: {stopped}", err=True)
        say(f"what was said is in {path}; the same command goes on from there", err=True)
    ctx.exit(2 if stopped or any(g.status != "graded" for r in graded for g in r.grades) else 0)


def _cases(results: Sequence[EvalResult], tasks: str | None) -> list[Case]:
    if all(is_trial(result) for result in results):
        folder = _folder(tasks)
        return [trial_case(result, folder) for result in results]
    if tasks is None:
        raise InputError("these runs are of this harness; name their task files with --tasks")
    files = {task.id: task for task in load_tasks(tasks)}
    return [trial_case(result, None) if is_trial(result) else run_case(result, files) for result in results]


def _folder(tasks: str | None) -> Path | None:
    if tasks is not None and not Path(tasks).is_dir():
        raise InputError(f"{tasks}: no such folder; name the folder of the Harbor tasks")
    return None if tasks is None else Path(tasks)


def _say_changes(before: Sequence[EvalResult], after: Sequence[EvalResult]) -> None:
    changed = sum(a.verdict != b.verdict for a, b in zip(before, after, strict=True))
    measured = [result for result in after if result.measured]
    mean = f", mean score {sum(r.overall_score for r in measured) / len(measured):.3f}" if measured else ""
    say(f"{counted(len(after), 'run')}, {len(measured)} measured, {changed} with another verdict{mean}")


def _say_estimate(panel: Panel, questions: Sequence[Question]) -> None:
    """Print what asking would cost."""
    tokens, dollars = panel.estimate(questions)
    calls, total = len(panel.left(questions)), len(panel.asks(questions))
    cost = "the price of a judge is not known" if dollars is None else f"about {cost_text(dollars)}"
    say(
        f"{counted(calls, 'request')} to {', '.join(panel.judges)}, {total - calls} done before; "
        f"about {tokens:,} tokens in and {calls * EXPECTED_REPLY_TOKENS:,} out: {cost}"
    )


def _line(reply: PanelReply) -> str:
    said = f"no verdict: {reply.error}" if reply.verdict is None else "done"
    return f"{reply.task} | {reply.judge} | {said} | {cost_text(reply.cost_usd)}"


def _say_verdicts(panel: Panel, questions: Sequence[Question]) -> None:
    """Print how many verdicts there are, what they cost, how far judges agree, and why verdicts are missing."""
    replies = [reply for question in questions for reply in panel.replies(question)]
    failed = [reply for reply in replies if reply.verdict is None]
    say(
        f"{counted(len(questions), 'question')}, {counted(len(replies) - len(failed), 'verdict')}, "
        f"{len(failed)} missing; {cost_text(panel.spent_usd)} in all"
    )
    for line in judge_agreement(panel.points(questions)):
        say(f"  {line}")
    for text in sorted({reply.error for reply in failed})[:MOST_REASONS]:
        say(f"  no verdict: {text}", err=True)
