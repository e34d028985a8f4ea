"""The commands about how much to run: power before an experiment, confirm after one."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, pvariance

import click

from harness import statistics
from harness.cli.options import (
    CANNOT_TELL,
    PATH,
    RESULTS_HELP,
    ArmOptions,
    BatchOptions,
    RunOptions,
    arm_options,
    batch_options,
    run_options,
    verdict_code,
)
from harness.cli.output import refuse_existing, save_results
from harness.compare.metrics import by_task
from harness.compare.verdicts import SUITE_ALPHA
from harness.compare.wording import counted
from harness.errors import InputError
from harness.report.console import print_table, report_console
from harness.report.tables import new_table
from harness.reporter import Reporter
from harness.results.sources import load_source
from harness.run.confirm import confirm as run_confirmation
from harness.run.confirm import plan_confirmation
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
    *, effect: float, baseline: float | None, source: Path | None, effect_sd: float, tasks: int | None, runs: int
) -> None:
    """How many tasks and runs does it take to find a drop of the pass rate?

    By the noncentral t of the paired test over tasks; docs/STATISTICS.md compares it with simulations.
    """
    rate, task_sd = _observed(source) if source else (0.8, 0.0)
    rate = rate if baseline is None else baseline
    if rate - effect < 0:
        raise InputError(f"--effect {effect}: a pass rate of {rate:.2f} cannot drop by that much")
    table = new_table(
        "", "runs per task and arm", *(f"{count} tasks" for count in TASKS), f"tasks for {100 * TARGET_POWER:.0f} %"
    )
    for count in RUNS:
        sd = statistics.design_sd(rate, -effect, count, task_sd, effect_sd)
        found = (statistics.paired_power(effect, sd, number, SUITE_ALPHA) for number in TASKS)
        table.add_row(str(count), *(f"{100 * share:.0f} %" for share in found), _tasks_needed(effect, sd))
    console = report_console()
    console.print(f"Chance to find a drop of {100 * effect:.0f} points from {100 * rate:.0f} %:")
    print_table(console, table)
    if tasks:
        sd = statistics.design_sd(rate, -effect, runs, task_sd, effect_sd)
        share = statistics.paired_power(effect, sd, tasks, SUITE_ALPHA)
        detectable = statistics.minimal_detectable_effect(sd, tasks, SUITE_ALPHA) or 1.0
        console.print(
            f"{tasks} tasks with {runs} runs in each arm find it in {100 * share:.0f} % of cases; "
            f"in {100 * TARGET_POWER:.0f} % of cases they find a drop of {100 * detectable:.0f} points."
        )


@click.command()
@arm_options
@batch_options(runs=10, fewest=2, output_required=True)
@run_options
@click.pass_context
def confirm(ctx: click.Context, /, arms: ArmOptions, batch: BatchOptions, options: RunOptions) -> None:
    """Run the suspects of a comparison again, with fresh and more runs, and compare those alone.

    Only tasks that looked changed are run. Where the arms have different configs or models both are run
    again; otherwise B alone, against the runs of A that are there. Exit code 0 nothing confirmed as worse,
    1 a regression is confirmed, 2 the data cannot tell, 130 interrupted.
    """
    assert batch.output is not None
    output = batch.output.expanduser()
    tasks, configs = load_tasks(batch.task_glob), load_configs(batch.config_glob)
    plan = plan_confirmation(*arms.compare(), tasks, configs, batch.runs)
    if plan is None:
        click.echo("no task looks changed: nothing to confirm")
        return
    refuse_existing(output)
    names = ", ".join(task.id for task in plan.tasks)
    click.echo(f"{counted(len(plan.tasks), 'suspect')}, {counted(plan.fresh_runs, 'fresh run')}: {names}")
    if batch.dry_run:
        return
    runner = options.runner()
    confirmed = run_confirmation(
        plan,
        runner.run_matrix,
        journal=output.with_suffix(".journal.jsonl"),
        workers=batch.workers,
        max_cost_usd=batch.max_cost_usd,
    )
    if not options.quiet:
        Reporter().print_comparison(confirmed.comparison, all_tasks=True)
    save_results(runner, confirmed.fresh, output, save_debug=options.save_debug, stop_reason=confirmed.stop_reason)
    if confirmed.stop_reason:
        click.echo(f"stopped after {len(confirmed.fresh)} of {plan.fresh_runs} runs: {confirmed.stop_reason}", err=True)
    code = verdict_code(confirmed.comparison)
    ctx.exit(CANNOT_TELL if confirmed.stop_reason and not code else code)


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
