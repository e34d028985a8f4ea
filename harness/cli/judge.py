"""The command that grades finished runs by judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from harness.cli.asking import JudgeOptions, judge_options, say_unfinished, say_verdicts
from harness.cli.options import PATH
from harness.cli.output import save_results
from harness.compare.wording import counted
from harness.errors import InputError
from harness.graders.composite_grader import CompositeGrader
from harness.models import EvalResult, Task
from harness.report.console import say
from harness.results.sources import load_source
from harness.run.regrade import Case, is_trial, run_case, trial_case
from harness.run.repair import repair
from harness.suite.load import load_tasks
from locobench.shared.files import check_output


@click.command()
@click.argument("source", type=PATH, metavar="JOB|RESULTS")
@click.option("-t", "--tasks", help="Folder of the Harbor tasks, or a quoted glob of this harness's task files.")
@click.option("-o", "--output", type=PATH, help="Results file to write. Default: NAME.graded.json here.")
@click.option("--only-errors", is_flag=True, help="Keep the verdicts that are there, ask where there is none.")
@judge_options
@click.pass_context
def grade(
    ctx: click.Context,
    /,
    source: Path,
    tasks: str | None,
    output: Path | None,
    only_errors: bool,
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
    cases = _cases(results, tasks, only_errors=only_errors)
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


def _cases(results: Sequence[EvalResult], tasks: str | None, *, only_errors: bool) -> list[Case]:
    if all(is_trial(result) for result in results):
        folder = _folder(tasks)
        return [trial_case(result, folder, only_errors=only_errors) for result in results]
    if tasks is None:
        raise InputError("these runs are of this harness; name their task files with --tasks")
    files = {task.id: task for task in load_tasks(tasks)}
    return [
        trial_case(result, None, only_errors=only_errors)
        if is_trial(result)
        else run_case(_checked(result, files), files, only_errors=only_errors)
        for result in results
    ]


def _checked(result: EvalResult, files: Mapping[str, Task]) -> EvalResult:
    """Carry out the checks that failed to run in the original grading, if the run's files were kept."""
    task = files.get(result.task_id)
    return repair(result, task, CompositeGrader(), checks_only=True) if task and result.can_be_checked else result


def _folder(tasks: str | None) -> Path | None:
    if tasks is not None and not Path(tasks).is_dir():
        raise InputError(f"{tasks}: no such folder; name the folder of the Harbor tasks")
    return None if tasks is None else Path(tasks)


def _say_changes(before: Sequence[EvalResult], after: Sequence[EvalResult]) -> None:
    changed = sum(a.verdict != b.verdict for a, b in zip(before, after, strict=True))
    measured = [result for result in after if result.measured]
    mean = f", mean score {sum(r.overall_score for r in measured) / len(measured):.3f}" if measured else ""
    say(f"{counted(len(after), 'run')}, {len(measured)} measured, {changed} with another verdict{mean}")
