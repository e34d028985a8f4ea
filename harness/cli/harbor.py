"""The command that reads Harbor jobs into a results file."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import PATH
from harness.cli.output import save_results
from harness.compare.wording import counted
from harness.models import PASS_SCORE, Outcome
from harness.report.console import say
from harness.results.harbor import load_jobs
from harness.runner import EvalRunner


@click.command()
@click.argument("job", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, type=PATH, help="Results file to write.")
@click.option("--config-name", help="Config name of all trials. Default: the job's name, and agents' if several.")
@click.option(
    "--tasks-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the task folders, for language, category and difficulty.",
)
@click.option(
    "--pass-score", default=PASS_SCORE, show_default=True, type=click.FloatRange(0, 1), help="Reward to pass."
)
def import_harbor(job: Path, output: Path, config_name: str | None, tasks_dir: Path | None, pass_score: float) -> None:
    """Read the trials of a Harbor JOB folder, or of a folder of jobs, into a results file.

    Trials that say nothing about the agent (build, API or verifier errors) are kept and count in no rate;
    Harbor's own mean counts them as 0.
    """
    results = load_jobs(job, config_name=config_name, tasks_dir=tasks_dir, pass_score=pass_score)
    measured = [result for result in results if result.measured]
    say(f"{counted(len(results), 'trial')}, {len(measured)} measured, {sum(r.passed for r in measured)} passed")
    for outcome in Outcome:
        count = sum(result.outcome is outcome for result in results)
        if count and outcome is not Outcome.COMPLETED:
            say(f"  {outcome}: {count}")
    save_results(EvalRunner(), results, output)
