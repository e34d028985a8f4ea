"""The commands about judges: grade runs, and show the evidence that a judge gets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from harness.cli.asking import JudgeOptions, judge_options, say_unfinished, say_verdicts
from harness.cli.options import PATH
from harness.cli.output import save_results
from harness.compare.wording import counted
from harness.errors import InputError
from harness.models import EvalResult
from harness.report.console import say, say_lines
from harness.results.judged_task import JudgedTask
from harness.results.sources import load_source
from harness.run.regrade import Case, is_trial, run_case, trial_case
from harness.suite.load import load_tasks
from locobench.shared.files import check_output


@click.command()
@click.argument("source", type=PATH, metavar="JOB|RESULTS")
@click.option("-t", "--tasks", help="Folder of the Harbor tasks, or a quoted glob of this harness's task files.")
@click.option("-o", "--output", type=PATH, help="Results file to write. Default: NAME.graded.json here.")
@judge_options
@click.pass_context
def grade(
    ctx: click.Context,
    /,
    source: Path,
    tasks: str | None,
    output: Path | None,
    asking: JudgeOptions,
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
    if asking.dry_run:
        asking.estimate(questions, output)
        return
    panel, stopped = asking.ask(questions, output)
    graded = [case.graded(panel) for case in cases]
    say_verdicts(panel, questions)
    _say_changes(results, graded)
    save_results(graded, output, stopped)
    if stopped:
        say_unfinished(stopped, output)
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


@click.command()
@click.argument("task", type=PATH)
@click.argument("answer", type=click.File("r", encoding="utf-8", errors="replace"))
def evidence(task: Path, answer: TextIO) -> None:
    """What of an answer can be looked up in the code, and what the code says there: what a judge is shown.

    TASK is a generated task, or any folder of code; ANSWER a file, or - for standard input. No model is asked.
    """
    say_lines(JudgedTask.load(task).pack(answer.read()))
