"""The commands about judges: grade saved runs again, and compare the judge with people."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import track
from rich.text import Text

from harness.cli.options import PATH
from harness.cli.output import save_results, write_text
from harness.compare import calibration
from harness.compare.wording import cost_text, counted, percent, rate_interval
from harness.errors import InputError
from harness.graders.llm_graders import LLMGrader
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.report.console import print_table, report_console
from harness.report.tables import new_table
from harness.results.sources import load_source
from harness.run.regrade import regrade
from harness.runner import EvalRunner
from harness.suite.load import load_tasks


@click.command()
@click.argument("source", type=PATH)
@click.option("-t", "--tasks", "task_glob", required=True, help="Glob of task files, quoted.")
@click.option("-o", "--output", required=True, type=PATH, help="Results file to write.")
@click.option("--judge-model", default=DEFAULT_JUDGE_MODEL, show_default=True, help="Model of the judge.")
@click.option(
    "--samples",
    default=1,
    show_default=True,
    type=click.IntRange(1, 25),
    help="Verdicts to take the median of.",
)
@click.option("--only-errors", is_flag=True, help="Ask again only where the judge gave no verdict.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.pass_context
def grade(
    ctx: click.Context,
    /,
    source: Path,
    task_glob: str,
    output: Path,
    judge_model: str,
    samples: int,
    only_errors: bool,
    quiet: bool,
) -> None:
    """Judge saved runs again from their traces, without running the agent; code checks keep their grades.

    Exit code 0 when every assertion has a verdict, 2 when some have none.
    """
    results = load_source(source)
    tasks = {task.id: task for task in load_tasks(task_glob)}
    judge = LLMGrader(judge_model, samples=samples)
    if judge.warning:
        click.echo(f"warning: {judge.warning}", err=True)
    console = report_console(stderr=True)
    shown = track(results, "judging", console=console, disable=quiet or not console.is_terminal)
    graded = [regrade(result, tasks, judge, only_errors=only_errors) for result in shown]
    judged = [g for result in graded for g in result.grades if g.judge]
    failed = [g for g in judged if g.status != "graded"]
    changed = sum(before.passed != after.passed for before, after in zip(results, graded, strict=True))
    cost = sum(g.judge.cost_usd or 0.0 for g in judged if g.judge)
    click.echo(
        f"{counted(len(judged), 'judged assertion')}, {len(failed)} without a verdict; "
        f"{counted(changed, 'run')} changed; {cost_text(cost)}"
    )
    for text in sorted({g.details for g in failed})[:5]:
        click.echo(f"  {text}", err=True)
    save_results(EvalRunner(), graded, output)
    ctx.exit(2 if failed else 0)


@click.command()
@click.argument("source", type=PATH)
@click.argument("labels", type=PATH, required=False)
@click.option("--template", "template_path", type=PATH, help="Write the CSV to fill in, with every judged assertion.")
def calibrate(source: Path, labels: Path | None, template_path: Path | None) -> None:
    """How far does the judge agree with people?

    SOURCE is a results file whose judge is to be checked, LABELS a CSV with the columns task_id, config_name,
    model, run_index, assertion_id, passed. Judge with another model by `grade` first.
    """
    results = load_source(source)
    write_text(template_path, lambda: calibration.template(results))
    if labels is None:
        if template_path is None:
            raise InputError("name a CSV with labels, or --template to make one")
        return
    found = calibration.calibrate(results, calibration.read_labels(labels))
    console = report_console()
    table = new_table("Verdicts", "", "human: pass", "human: fail")
    table.add_row("judge: pass", str(found.both_pass), str(found.only_judge_passes))
    table.add_row("judge: fail", str(found.only_human_passes), str(found.both_fail))
    print_table(console, table)
    if found.agreement:
        same = found.both_pass + found.both_fail
        share = percent(same / found.compared)
        console.print(f"agreement {same}/{found.compared} = {share} (95 % interval {rate_interval(found.agreement)})")
    kappa = "undefined, since only one label occurs" if found.kappa is None else f"{found.kappa:.2f}"
    console.print(f"Cohen's kappa {kappa}; {counted(found.judge_errors, 'labelled assertion')} without a verdict")
    for verdict in found.disagreements:
        console.print(Text(f"  disagree: {' | '.join(map(str, verdict))}"))
