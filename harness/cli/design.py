"""The commands about how much to run: power before an experiment, confirm after one."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import click
from rich.console import Console

from harness import statistics
from harness.cli.report import PATH, RESULTS_HELP, arm_options, compare_arms
from harness.cli.run import runner_options
from harness.compare.comparison import compare
from harness.compare.metrics import by_task
from harness.compare.verdicts import SUITE_ALPHA, Verdict
from harness.errors import InputError
from harness.executor import ClaudeExecutor
from harness.graders.composite_grader import CompositeGrader
from harness.models import Config, EvalResult, Task
from harness.report.tables import new_table
from harness.reporter import Reporter
from harness.results.sources import load_source
from harness.run.matrix import MatrixStopped
from harness.runner import EvalRunner
from harness.suite.load import load_configs, load_tasks

RUNS = (1, 3, 5, 10)
TASKS = (10, 20, 50, 100, 200)
TARGET_POWER = 0.8
MOST_TASKS = 5000


@click.command()
@click.option(
    "--effect",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Drop to find, 0 to 1.",
)
@click.option("--baseline", type=click.FloatRange(0, 1), help="Pass rate of A.  [default: 0.8, or that of --from]")
@click.option("--from", "source", type=PATH, help=f"Take the pass rate and its spread from a {RESULTS_HELP}.")
@click.option(
    "--effect-sd",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="How much the effect differs by task.",
)
@click.option("--tasks", type=click.IntRange(2), help="Also tell what this many tasks find.")
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="With this many runs of each.")
def power(
    effect: float, baseline: float | None, source: Path | None, effect_sd: float, tasks: int | None, runs: int
) -> None:
    """How many tasks and runs does it take to find a drop of the pass rate?

    By the noncentral t of the paired test over tasks; docs/STATISTICS.md compares it with simulations.
    """
    rate, task_sd = _observed(source) if source else (0.8, 0.0)
    rate = rate if baseline is None else baseline
    if rate - effect < 0:
        raise InputError(f"--effect {effect}: a pass rate of {rate:.2f} cannot drop by that much")
    table = new_table("", "runs a task and arm", *(f"{count} tasks" for count in TASKS), "tasks for 80 %")
    for count in RUNS:
        sd = statistics.design_sd(rate, -effect, count, task_sd, effect_sd)
        found = (statistics.paired_power(effect, sd, number, SUITE_ALPHA) for number in TASKS)
        table.add_row(str(count), *(f"{100 * share:.0f} %" for share in found), _tasks_needed(effect, sd))
    console = Console()
    console.print(f"Chance to find a drop of {100 * effect:.0f} points from {100 * rate:.0f} %:")
    console.print(table)
    if tasks:
        sd = statistics.design_sd(rate, -effect, runs, task_sd, effect_sd)
        share = statistics.paired_power(effect, sd, tasks, SUITE_ALPHA)
        detectable = statistics.minimal_detectable_effect(sd, tasks, SUITE_ALPHA) or 1.0
        console.print(
            f"{tasks} tasks x {runs} runs an arm find it in {100 * share:.0f} % of cases; "
            f"they find {100 * detectable:.0f} points in {100 * TARGET_POWER:.0f} %."
        )


@click.command()
@arm_options
@click.option("-t", "--tasks", "task_glob", required=True, help="Glob of task files, quoted.")
@click.option("-c", "--configs", "config_glob", required=True, help="Glob of config files, quoted.")
@click.option("-r", "--runs", default=10, show_default=True, type=click.IntRange(2), help="Fresh runs of each.")
@click.option("-j", "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Runs at a time.")
@click.option("-o", "--output", required=True, type=PATH, help="Results file for the fresh runs.")
@click.option("--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Start no run once this is spent.")
@click.option("--dry-run", is_flag=True, help="Show what would be run, run nothing.")
@runner_options
@click.pass_context
def confirm(
    ctx: click.Context,
    /,
    task_glob: str,
    config_glob: str,
    runs: int,
    workers: int,
    output: Path,
    max_cost_usd: float | None,
    dry_run: bool,
    quiet: bool,
    judge_model: str,
    ci: bool,
    mcp_config: Path | None,
    claude_path: str,
    save_debug: bool,
    **arms: Any,
) -> None:
    """Run the suspects of a comparison again, with fresh and more runs, and compare those alone.

    Only tasks that looked changed are run. Where the arms have different configs or models both are run
    again; otherwise B alone, against the runs of A that are there. Exit code 0 nothing confirmed as worse,
    1 a regression is confirmed, 2 the data cannot tell.
    """
    comparison, results_a, results_b = compare_arms(**arms)
    suspects = {u.key.task_id for u in comparison.decision.units if u.suspect or u.verdict.decided}
    if not suspects:
        click.echo("no task looks changed: nothing to confirm")
        return
    if output.exists():
        raise InputError(f"{output} exists and holds paid runs; name another -o")
    tasks = _named(load_tasks(task_glob), suspects, task_glob)
    fresh_a = _variants(results_a, config_glob) if _variant_names(results_a) != _variant_names(results_b) else []
    fresh_b = _variants(results_b, config_glob)
    planned = len(tasks) * (len(fresh_a) + len(fresh_b)) * runs
    click.echo(f"{len(tasks)} suspects, {planned} fresh runs: {', '.join(task.id for task in tasks)}")
    if dry_run:
        return
    runner = EvalRunner(ClaudeExecutor(claude_path, ci, mcp_config), CompositeGrader(judge_model))
    fresh: list[EvalResult] = []
    stop_reason = ""
    for number, model in enumerate(sorted({config.model for config in [*fresh_a, *fresh_b]})):
        configs = {config.name: config for config in [*fresh_a, *fresh_b] if config.model == model}
        spent = sum(result.cost_usd or 0.0 for result in fresh)
        try:
            fresh += runner.run_matrix(
                tasks,
                configs.values(),
                [model],
                runs,
                workers=workers,
                journal=output.with_suffix(f".{number}.journal.jsonl"),
                max_cost_usd=None if max_cost_usd is None else max(0.0, max_cost_usd - spent),
            )
        except MatrixStopped as stopped:
            fresh += stopped.results
            stop_reason = stopped.reason
            break
    runner.save_results(fresh, str(output.absolute()), save_debug, stop_reason=stop_reason)
    new_a = _of(fresh, fresh_a) if fresh_a else [r for r in results_a if r.task_id in suspects]
    confirmed = compare(
        new_a,
        _of(fresh, fresh_b),
        label_a=comparison.label_a,
        label_b=comparison.label_b,
        metric=comparison.metric,
    )
    if not quiet:
        Reporter().print_comparison(confirmed, all_tasks=True)
    click.echo(f"saved to {output}")
    worse = confirmed.verdict is Verdict.REGRESSION or confirmed.decision.having(Verdict.REGRESSION)
    ctx.exit(1 if worse else 2 if stop_reason or confirmed.verdict is Verdict.NOT_ENOUGH_DATA else 0)


def _observed(source: Path) -> tuple[float, float]:
    """Pass rate over tasks, and its spread among tasks beyond what the runs of a task vary by themselves."""
    tasks = [[run.passed for run in runs if run.measured] for runs in by_task(load_source(source)).values()]
    rates = [(fmean(passed), len(passed)) for passed in tasks if passed]
    if not rates:
        raise InputError(f"{source}: holds no measured run")
    noise = fmean(rate * (1 - rate) / (count - 1) if count > 1 else 0.0 for rate, count in rates)
    spread = max(0.0, pvariance([rate for rate, _ in rates]) - noise)
    return fmean(rate for rate, _ in rates), spread**0.5


def _tasks_needed(effect: float, sd: float) -> str:
    """Smallest number of tasks that finds the effect with TARGET_POWER."""
    low, high = 2, MOST_TASKS
    if statistics.paired_power(effect, sd, high, SUITE_ALPHA) < TARGET_POWER:
        return f"> {MOST_TASKS}"
    while low < high:
        middle = (low + high) // 2
        enough = statistics.paired_power(effect, sd, middle, SUITE_ALPHA) >= TARGET_POWER
        low, high = (low, middle) if enough else (middle + 1, high)
    return str(max(low, 5))


def _named(tasks: list[Task], ids: set[str], pattern: str) -> list[Task]:
    missing = ids - {task.id for task in tasks}
    if missing:
        raise InputError(f"{pattern}: no task file for {', '.join(sorted(missing))}")
    return [task for task in tasks if task.id in ids]


def _variant_names(results: list[EvalResult]) -> set[tuple[str, str]]:
    return {(result.config_name, result.model) for result in results}


def _variants(results: list[EvalResult], pattern: str) -> list[Config]:
    """The configs of an arm, each with the model it ran with."""
    configs = {config.name: config for config in load_configs(pattern)}
    names = _variant_names(results)
    missing = {name for name, _ in names} - configs.keys()
    if missing:
        raise InputError(f"{pattern}: no config file for {', '.join(sorted(missing))}")
    return [configs[name].model_copy(update={"model": model}) for name, model in sorted(names)]


def _of(results: list[EvalResult], configs: list[Config]) -> list[EvalResult]:
    names = {(config.name, config.model) for config in configs}
    return [result for result in results if (result.config_name, result.model) in names]
