"""The commands that run agents: `run` once, `matrix` many times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.output import results_and_journal, save_results, say_stopped
from harness.cli.run_options import confirm_repeats, make_runner, run_options
from harness.models import Config, EvalResult, Task
from harness.runner.matrix import MatrixStopped
from harness.runner.plan import PlannedRun, find_finished, plan
from harness.suite.load import load_config, load_configs, load_task, load_tasks
from locobench.shared.command_line import INTERRUPTED
from measure.commands.options import PATH
from measure.report.console import say
from measure.results.journal import read_journal
from measure.summary.metrics import aggregate, by_arm
from measure.summary.wording import cost_text, seconds_text, total_cost_text


@click.command()
@click.option("-t", "--task", "task_file", required=True, type=PATH, help="Task file.")
@click.option("-c", "--config", "config_file", required=True, type=PATH, help="Config file.")
@click.option("-m", "--model", help="Model to use instead of the config's.")
@run_options
@click.pass_context
def run(ctx: click.Context, /, *, task_file: Path, config_file: Path, model: str | None, **of_runs: Any) -> None:
    """Run one task with one config and grade it: a matrix of one run.

    Exit code 0 when it passes, 1 when it fails, 2 when it could not be measured, 130 when interrupted.
    """
    tasks, configs = [load_task(task_file)], [load_config(config_file)]
    (result,) = _run_matrix(ctx, tasks, configs, models=[model] if model else None, runs=1, **of_runs)
    ctx.exit(2 if not result.measured else 0 if result.passed else 1)


@click.command()
@click.option("-t", "--tasks", "task_glob", required=True, help="Glob of task files, quoted.")
@click.option("-c", "--configs", "config_glob", required=True, help="Glob of config files, quoted.")
@click.option("-m", "--models", help="Models instead of the configs' own, separated by commas.")
@click.option(
    "-r", "--runs", default=3, show_default=True, type=click.IntRange(1), help="Runs of each task with each config."
)
@click.option("-j", "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Runs at a time.")
@click.option("--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Start no run once this is spent.")
@click.option("--dry-run", is_flag=True, help="Show what would be run; run nothing.")
@run_options
@click.pass_context
def matrix(ctx: click.Context, /, *, task_glob: str, config_glob: str, models: str | None, **of_runs: Any) -> None:
    """Run every task with every config and model.

    Exit code 0 when every run was measured (passed or not), 2 when some were not, 130 when interrupted.
    """
    names = [name.strip() for name in models.split(",") if name.strip()] if models else None
    results = _run_matrix(ctx, load_tasks(task_glob), load_configs(config_glob), models=names, **of_runs)
    ctx.exit(0 if all(result.measured for result in results) else 2)


def _run_matrix(
    ctx: click.Context,
    tasks: Sequence[Task],
    configs: Sequence[Config],
    *,
    models: list[str] | None = None,
    runs: int,
    workers: int = 1,
    max_cost_usd: float | None = None,
    dry_run: bool = False,
    output: Path | None,
    resume: bool,
    yes: bool,
    quiet: bool,
    **of_runner: Any,
) -> list[EvalResult]:
    """Make the runs and save them. Exits the command if they stop early, or after a dry run."""
    runner = make_runner(**of_runner)
    planned = plan(tasks, configs, models, runs, runner.executor)
    path, journal = results_and_journal(output, resume)
    earlier = read_journal(journal)
    kept = find_finished(planned, earlier)
    if dry_run:
        _print_plan(planned, len(kept))
        ctx.exit(0)
    confirm_repeats(planned, kept, earlier, journal, yes=yes)
    if not output and not quiet:
        say(f"results go to {path}")
    stopped: MatrixStopped | None = None
    try:
        show = None if quiet else _say_run
        results = runner.run_plan(planned, journal, show, workers=workers, max_cost_usd=max_cost_usd)
    except MatrixStopped as early:
        stopped, results = early, early.results
    reason = stopped.reason if stopped else ""
    if not quiet and len(planned) > 1:
        for (name, model), group in by_arm(results).items():
            found = aggregate(group)
            lost = f", {found.lost} not measured" if found.lost else ""
            cost = total_cost_text(found.total_cost, found.unknown_costs)
            say(f"{name} ({model}): {found.passed} of {found.total_runs} passed{lost}, {cost}")
    save_results(results, path, reason)
    if stopped is not None:
        say_stopped(len(results), len(planned), reason, [] if output else ["-o", str(path)])
        ctx.exit(INTERRUPTED if stopped.interrupted else 2)
    return results


def _print_plan(runs: list[PlannedRun], kept: int) -> None:
    tasks = dict.fromkeys(run.task.id for run in runs)
    variants = dict.fromkeys((run.config.name, run.config.model) for run in runs)
    per_combination = 1 + max(run.run_index for run in runs)
    say(f"{len(runs)} runs: {len(tasks)} tasks x {len(variants)} configs and models x {per_combination} runs")
    for name, model in variants:
        say(f"  config {name} with {model}")
    for task in tasks:
        say(f"  task {task}")
    if kept:
        say(f"{kept} of them are done, {len(runs) - kept} are left")


def _say_run(result: EvalResult, done: int, total: int) -> None:
    parts = [
        result.task_id,
        result.config_name,
        result.model,
        f"Run {result.run_index + 1}",
        (result.lost_to or result.verdict).upper(),
        f"score {result.overall_score:.2f}",
        "cost not recorded" if result.cost_usd is None else cost_text(result.cost_usd),
        seconds_text(result.trace.duration_seconds),
        result.trace.error,
    ]
    say(f"[{done}/{total}] {' | '.join(filter(None, parts))}")
