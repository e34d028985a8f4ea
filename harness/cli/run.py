"""The commands that run agents: `run` once, `matrix` many times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli import INTERRUPTED
from harness.cli.output import refuse_unwritable, results_and_journal, save_results, say_stopped
from harness.cli.progress import counts_of, matrix_progress
from harness.cli.run_options import (
    OUTPUT_HELP,
    BatchOptions,
    RunOptions,
    batch_options,
    run_options,
)
from harness.compare.metrics import by_arm
from harness.models import EvalResult, Task
from harness.report.console import say
from harness.reporter import Reporter
from harness.results.journal import read_journal
from harness.run.matrix import MatrixStopped
from harness.run.plan import PlannedRun, finished_before, plan, refuse_other_experiment
from harness.runner import EvalRunner
from harness.suite.load import load_tasks
from harness.suite.resolved import ResolvedConfig


@click.command()
@click.option("-t", "--task", "task_file", required=True, type=click.Path(path_type=Path), help="Task file.")
@click.option("-c", "--config", "config_file", required=True, type=click.Path(path_type=Path), help="Config file.")
@click.option("-m", "--model", help="Model instead of the config's.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help=OUTPUT_HELP)
@click.option("-v", "--verbose", is_flag=True, help="Show grades, changed files and the answer.")
@run_options
@click.pass_context
def run(
    ctx: click.Context,
    /,
    task_file: Path,
    config_file: Path,
    model: str | None,
    output: Path | None,
    verbose: bool,
    options: RunOptions,
) -> None:
    """Run one task with one config and grade it: a matrix of one run.

    Exit code 0 when it passes, 1 when it fails, 2 when it could not be measured, 130 when interrupted.
    """
    runner = options.runner()
    config = runner.load_config(config_file)
    config = runner.executor.resolve(config.model_copy(update={"model": model}) if model else config)
    batch = BatchOptions(
        task_glob="", config_glob=None, snapshots=(), runs=1, workers=1, max_cost_usd=None, dry_run=False, output=output
    )
    results = _run_matrix(ctx, runner, [runner.load_task(task_file)], [config], None, batch, options)
    if verbose and not options.quiet:
        Reporter().print_detailed_result(results[0], verbose=True)
    (result,) = results
    ctx.exit(2 if not result.measured else 0 if result.passed else 1)


@click.command()
@batch_options
@click.option("-m", "--models", help="Models instead of the configs' own, separated by commas.")
@run_options
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    batch: BatchOptions,
    models: str | None,
    options: RunOptions,
) -> None:
    """Run every task with every config and model.

    Exit code 0 when every run was measured (passed or not), 2 when some were not, 130 when interrupted.
    """
    runner = options.runner()
    tasks = load_tasks(batch.task_glob)
    configs = [runner.executor.resolve(config) for config in batch.configs()]
    model_list = [name.strip() for name in models.split(",") if name.strip()] if models else None
    results = _run_matrix(ctx, runner, tasks, configs, model_list, batch, options)
    ctx.exit(0 if all(result.measured for result in results) else 2)


def _run_matrix(
    ctx: click.Context,
    runner: EvalRunner,
    tasks: Sequence[Task],
    configs: Sequence[ResolvedConfig],
    models: list[str] | None,
    batch: BatchOptions,
    options: RunOptions,
) -> list[EvalResult]:
    """Make the runs and save them. Exits the command if they stop early, or after a dry run."""
    planned = plan(tasks, configs, models, batch.runs, runner.executor)
    path, journal = results_and_journal(batch.output, options.resume)
    earlier = read_journal(journal)
    refuse_other_experiment(journal, earlier, planned, runner.grader.judge_model)
    kept = finished_before(planned, earlier)
    if batch.dry_run:
        _print_plan(planned, len(kept))
        ctx.exit(0)
    refuse_unwritable(path)
    options.agree(planned, earlier, journal)
    if not batch.output and not options.quiet:
        say(f"results go to {path}")
    stopped: MatrixStopped | None = None
    with matrix_progress(len(planned), kept.values(), quiet=options.quiet) as show:
        try:
            results = runner.run_matrix(
                tasks,
                configs,
                models,
                batch.runs,
                show,
                workers=batch.workers,
                journal=journal,
                max_cost_usd=batch.max_cost_usd,
            )
        except MatrixStopped as early:
            stopped, results = early, early.results
    reason = stopped.reason if stopped else ""
    if not options.quiet and len(planned) > 1:
        for (name, model), group in by_arm(results).items():
            say(f"{name} ({model}): {counts_of(group)}")
    save_results(results, path, reason)
    if stopped is not None:
        say_stopped(len(results), len(planned), reason, [] if batch.output else ["-o", str(path)])
        ctx.exit(INTERRUPTED if stopped.interrupted else 2)
    return results


def _print_plan(runs: list[PlannedRun], kept: int) -> None:
    tasks = list(dict.fromkeys(run.task.id for run in runs))
    variants = list(dict.fromkeys((run.config.name, run.config.model) for run in runs))
    per_combination = 1 + max(run.run_index for run in runs)
    say(f"{len(runs)} runs: {len(tasks)} tasks x {len(variants)} configs and models x {per_combination} runs")
    for name, model in variants:
        say(f"  config {name} with {model}")
    for task in tasks:
        say(f"  task {task}")
    if kept:
        say(f"{kept} of them are done, {len(runs) - kept} are left")
