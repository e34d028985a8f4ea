"""The commands about how much to run: power before an experiment, confirm after one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pvariance, variance

import click

from harness import statistics
from harness.cli import INTERRUPTED
from harness.cli.options import (
    CANNOT_TELL,
    METRIC,
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
from harness.cli.output import refuse_unwritable, results_and_journal, save_results, say_stopped
from harness.compare.metrics import by_arm, by_task, resolve_metric
from harness.compare.verdicts import SUITE_ALPHA, Metric, MetricChoice
from harness.compare.wording import counted, metric_name
from harness.errors import InputError
from harness.report.console import print_table, report_console
from harness.report.tables import new_table
from harness.reporter import Reporter
from harness.results.sources import load_source
from harness.run.confirm import confirm as run_confirmation
from harness.run.confirm import plan_confirmation
from harness.suite.load import load_tasks

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
    help="Difference to find, 0 to 1.",
)
@click.option(
    "--direction",
    default="both",
    show_default=True,
    type=click.Choice(["drop", "rise", "both"]),
    help="Which way it goes.",
)
@click.option("--baseline", type=click.FloatRange(0, 1), help="Mean of A.  [default: 0.8, or that of --from]")
@click.option("--from", "source", type=PATH, help=f"Take the mean and how much runs vary from a {RESULTS_HELP}.")
@click.option("--metric", default="auto", show_default=True, type=METRIC, help="As in `compare`, with --from.")
@click.option(
    "--run-sd",
    type=click.FloatRange(0, 0.5),
    help="Standard deviation of the score over runs of one task; without it and --from, passes are assumed.",
)
@click.option(
    "--effect-sd",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="How much the effect differs by task.",
)
@click.option(
    "--alpha",
    default=SUITE_ALPHA,
    show_default=True,
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    help="One-sided level; the default is that of `compare`.",
)
@click.option("--tasks", type=click.IntRange(2), help="Also tell what this many tasks find.")
@click.option("--runs", default=3, show_default=True, type=click.IntRange(1), help="With this many runs of each.")
def power(
    *,
    effect: float,
    direction: str,
    baseline: float | None,
    source: Path | None,
    metric: MetricChoice,
    run_sd: float | None,
    effect_sd: float,
    alpha: float,
    tasks: int | None,
    runs: int,
) -> None:
    """How many tasks and runs does it take to find a difference of pass rate or score?

    By the noncentral t of the paired test over tasks; docs/STATISTICS.md compares it with simulations.
    """
    design = (
        _observed(source, metric, run_sd) if source else Design("pass_rate" if run_sd is None else "score", 0.8, run_sd)
    )
    design = replace(design, mean=design.mean if baseline is None else baseline, effect_sd=effect_sd)
    console = report_console()
    signs = {"drop": (-1,), "rise": (1,), "both": (-1, 1)}[direction]
    possible = [sign for sign in signs if 0 <= design.mean + sign * effect <= 1]
    name = metric_name(design.metric)
    if not possible:
        way = {"drop": "drop", "rise": "rise", "both": "drop or rise"}[direction]
        raise InputError(f"--effect {effect}: a {name} of {design.mean:.2f} cannot {way} by that much")
    words = {-1: "drop", 1: "rise"}
    if design.run_sd is not None and len(possible) == 2:
        possible, words = [1], {1: "difference, drop or rise,"}  # the noise is the same either way
    for sign in possible:
        change = sign * effect
        table = new_table(
            "", "runs per task and arm", *(f"{count} tasks" for count in TASKS), f"tasks for {100 * TARGET_POWER:.0f} %"
        )
        for count in RUNS:
            sd = design.sd(change, count)
            found = (statistics.paired_power(effect, sd, number, alpha) for number in TASKS)
            table.add_row(str(count), *(f"{100 * share:.0f} %" for share in found), _tasks_needed(effect, sd, alpha))
        console.print(
            f"Chance to find a {words[sign]} of {100 * effect:.0f} points from a {name} of {100 * design.mean:.0f} %"
            f"{design.noise_text}:"
        )
        print_table(console, table)
        if tasks:
            sd = design.sd(change, runs)
            share = statistics.paired_power(effect, sd, tasks, alpha)
            detectable = statistics.minimal_detectable_effect(sd, tasks, alpha) or 1.0
            console.print(
                f"{tasks} tasks with {counted(runs, 'run')} in each arm find it in {100 * share:.0f} % of cases; "
                f"in {100 * TARGET_POWER:.0f} % of cases they find a {words[sign].split(',')[0]} of "
                f"{100 * detectable:.0f} points."
            )


@dataclass(frozen=True)
class Design:
    """What an experiment's noise is taken to be."""

    metric: Metric
    mean: float
    """Of A, 0 to 1."""
    run_sd: float | None = None
    """Standard deviation of one run's metric within a task; None for passes, whose mean tells it."""
    task_sd: float = 0.0
    """Standard deviation of the tasks' true pass rates."""
    effect_sd: float = 0.0

    def sd(self, change: float, runs: int) -> float:
        """Standard deviation of one task's difference when B's mean is `change` more than A's."""
        if self.run_sd is not None:
            return statistics.score_sd(self.run_sd, runs, self.effect_sd)
        return statistics.design_sd(self.mean, change, runs, self.task_sd, self.effect_sd)

    @property
    def noise_text(self) -> str:
        """How much runs are taken to vary, as part of a sentence."""
        return "" if self.run_sd is None else f", runs of a task varying by {100 * self.run_sd:.1f} points (one sd)"


@click.command()
@arm_options
@batch_options(runs=10, fewest=2, output_required=True)
@click.option("--resume", is_flag=True, help="Go on with OUTPUT: keep its finished runs, run the others.")
@run_options
@click.pass_context
def confirm(ctx: click.Context, /, arms: ArmOptions, batch: BatchOptions, resume: bool, options: RunOptions) -> None:
    """Run the suspects of a comparison again, with fresh and more runs, and compare those alone.

    Only tasks that looked changed are run. Where the arms have different configs or models both are run
    again; otherwise B alone, against the runs of A that are there. Exit code 0 nothing confirmed as worse,
    1 a regression is confirmed, 2 the data cannot tell or not all runs were made, 130 interrupted.
    """
    tasks, configs = load_tasks(batch.task_glob), batch.configs()
    plan = plan_confirmation(*arms.compare(), tasks, configs, batch.runs)
    if plan is None:
        click.echo("no task looks changed: nothing to confirm")
        return
    output, journal = results_and_journal(batch.output, resume)
    names = ", ".join(task.id for task in plan.tasks)
    click.echo(f"{counted(len(plan.tasks), 'suspect')}, {counted(plan.fresh_runs, 'fresh run')}: {names}")
    if batch.dry_run:
        return
    refuse_unwritable(output)
    runner = options.runner()
    confirmed = run_confirmation(
        plan,
        runner.run_matrix,
        journal=journal,
        workers=batch.workers,
        max_cost_usd=batch.max_cost_usd,
    )
    save_results(runner, confirmed.fresh, output, save_debug=options.save_debug, stop_reason=confirmed.stop_reason)
    if confirmed.comparison is None:
        say_stopped(len(confirmed.fresh), plan.fresh_runs, confirmed.stop_reason)
        ctx.exit(INTERRUPTED if confirmed.interrupted else CANNOT_TELL)
    if not options.quiet:
        Reporter().print_comparison(confirmed.comparison, all_tasks=True)
    ctx.exit(verdict_code(confirmed.comparison))


def _observed(source: Path, choice: MetricChoice, run_sd: float | None) -> Design:
    """Mean over tasks, and how much runs of a task vary; InputError where only `--run-sd` can tell the latter."""
    results = load_source(source)
    metric = resolve_metric(choice, results)
    measured = by_arm(run for run in results if run.measured)
    runs_of = [runs for of_arm in measured.values() for runs in by_task(of_arm).values()]
    tasks = [[float(run.passed) if metric == "pass_rate" else run.overall_score for run in runs] for runs in runs_of]
    if not tasks:
        raise InputError(f"{source}: holds no measured run")
    mean = fmean(fmean(values) for values in tasks)
    if run_sd is not None:
        return Design(metric, mean, run_sd)
    repeated = [variance(values) for values in tasks if len(values) > 1]
    if not repeated:
        most = pvariance([value for values in tasks for value in values]) ** 0.5
        raise InputError(
            f"{source}: holds one run of each task, which cannot tell how much runs of a task vary; give --run-sd "
            f"(over all tasks together the {metric_name(metric)} varies by {most:.2f}, which is a cautious choice) or "
            "results with two runs of a task"
        )
    if metric == "score":
        return Design(metric, mean, fmean(repeated) ** 0.5)
    noise = fmean(fmean(values) * (1 - fmean(values)) / (len(values) - 1) for values in tasks if len(values) > 1)
    spread = max(0.0, pvariance([fmean(values) for values in tasks if len(values) > 1]) - noise)
    return Design(metric, mean, task_sd=spread**0.5)


def _tasks_needed(effect: float, sd: float, alpha: float) -> str:
    """Smallest number of tasks that finds the effect with TARGET_POWER."""
    low, high = 2, MOST_TASKS
    if statistics.paired_power(effect, sd, high, alpha) < TARGET_POWER:
        return f"> {MOST_TASKS}"
    while low < high:
        middle = (low + high) // 2
        enough = statistics.paired_power(effect, sd, middle, alpha) >= TARGET_POWER
        low, high = (low, middle) if enough else (middle + 1, high)
    return str(max(low, 5))
