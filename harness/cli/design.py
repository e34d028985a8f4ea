"""The commands before an experiment: power says how much to run, plan writes the two Harbor jobs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import click

from harness import statistics
from harness.cli.options import METRIC, PATH, RESULTS_HELP
from harness.compare.verdicts import MetricChoice
from harness.compare.wording import counted, metric_name
from harness.design.jobs import ARMS, Earlier, choose_attempts, count_tasks, hours, job_yaml
from harness.design.jobs import power as power_of
from harness.design.noise import Noise, observed_noise
from harness.errors import InputError
from harness.report.console import print_table, report_console, say, say_lines
from harness.report.tables import new_table
from harness.results.sources import load_source
from locobench.harbor.mcp import McpServer
from locobench.shared.files import write_whole
from locobench.shared.installation import HARNESS

RUNS = (1, 3, 5, 10)
TASKS = (10, 20, 50, 100, 200)
BRIDGE_NETWORKS = 30
"""User networks that fit into Docker's default address pools; each trial needs one unless an overlay says otherwise."""
RETRIES = 2
"""How often Harbor repeats a trial that failed to start."""
WITHOUT_SERVERS = ("oracle", "nop")
"""Agents that Harbor refuses to run with a server."""


@click.command()
@click.option(
    "--effect",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Difference to find, 0 to 1.",
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
    type=click.FloatRange(0, 1),
    help="How much the effect differs by task.  [default: 0, or that of --from where it has two arms]",
)
def power(
    *,
    effect: float,
    baseline: float | None,
    source: Path | None,
    metric: MetricChoice,
    run_sd: float | None,
    effect_sd: float | None,
) -> None:
    """How many tasks and runs does it take to find a difference of pass rate or score?

    By the noncentral t of the paired test over tasks; docs/STATISTICS.md compares it with simulations.
    """
    if source:
        noise = _noise_of(source, metric, run_sd)
    else:
        noise = Noise("pass_rate" if run_sd is None else "score", 0.8, run_sd)
    noise = replace(
        noise,
        mean=noise.mean if baseline is None else baseline,
        effect_sd=noise.effect_sd if effect_sd is None else effect_sd,
    )
    varying = "" if noise.run_sd is None else f", runs of a task varying by {100 * noise.run_sd:.1f} points (one sd)"
    console = report_console()
    possible = [sign for sign in (-1, 1) if 0 <= noise.mean + sign * effect <= 1]
    name = metric_name(noise.metric)
    if not possible:
        raise InputError(f"--effect {effect}: a {name} of {noise.mean:.2f} cannot drop or rise by that much")
    words = {-1: "drop", 1: "rise"}
    for sign in {-1, 1} - set(possible):
        room = noise.mean if sign < 0 else 1 - noise.mean
        say(f"A {name} of {100 * noise.mean:.0f} % leaves room for a {words[sign]} of {100 * room:.1f} points at most.")
    if noise.run_sd is not None and len(possible) == 2:
        possible, words = [1], {1: "difference, drop or rise,"}  # the noise is the same either way
    for sign in possible:
        change = sign * effect
        table = new_table(
            "",
            "runs per task and arm",
            *(f"{count} tasks" for count in TASKS),
            f"tasks for {100 * statistics.TARGET_POWER:.0f} %",
        )
        for count in RUNS:
            sd = noise.sd(change, count)
            found = (statistics.paired_power(effect, sd, number) for number in TASKS)
            table.add_row(str(count), *(f"{100 * share:.0f} %" for share in found), _needed_text(effect, sd))
        console.print(
            f"Chance to find a {words[sign]} of {100 * effect:.0f} points from a {name} of {100 * noise.mean:.0f} %"
            f"{varying}:"
        )
        print_table(console, table)


def _noise_of(source: Path, metric: MetricChoice, run_sd: float | None) -> Noise:
    results = load_source(source)
    noise = observed_noise(results, metric, run_sd)
    if noise is None:
        raise InputError(
            f"{source}: holds one run of each task, which cannot tell how much runs of a task vary; give --run-sd, or "
            "results with two runs of a task or of two arms"
        )
    return noise


def _needed_text(effect: float, sd: float) -> str:
    needed = statistics.tasks_needed(effect, sd)
    return f"> {statistics.MOST_TASKS}" if needed is None else str(needed)


@click.command()
@click.argument("tasks", type=PATH)
@click.option("--agent", required=True, help="Agent of both jobs: a name that Harbor knows, or module:Class.")
@click.option("--model", help="Model of both jobs, as Harbor wants it, such as anthropic/<model>.")
@click.option(
    "--mcp-config",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="MCP servers of the job `with`, as a .mcp.json has them.",
)
@click.option(
    "--budget-usd", required=True, type=click.FloatRange(0, min_open=True), help="Dollars for both jobs together."
)
@click.option("--from", "source", type=PATH, help=f"Take costs, times and spread from a {RESULTS_HELP}.")
@click.option("-n", "--concurrency", default=4, show_default=True, type=click.IntRange(1), help="Trials at a time.")
@click.option("--env", "environment", default="docker", show_default=True, help="Harbor's environment type.")
@click.option(
    "--extra-docker-compose", multiple=True, type=PATH, help="Compose overlay for both jobs; may be given repeatedly."
)
@click.option(
    "--jobs-dir", default="jobs", show_default=True, type=PATH, help="Folder that Harbor keeps the two jobs in."
)
@click.option(
    "-o", "--output-dir", default=".", type=PATH, help="Folder for without.yaml and with.yaml.  [default: this one]"
)
def plan(
    *,
    tasks: Path,
    agent: str,
    model: str | None,
    mcp_config: Path,
    budget_usd: float,
    source: Path | None,
    concurrency: int,
    environment: str,
    extra_docker_compose: tuple[Path, ...],
    jobs_dir: Path,
    output_dir: Path,
) -> None:
    """Write two Harbor jobs over TASKS, without and with MCP servers, and say what they will cost and find.

    They differ in the servers alone, and run each task as often as the budget pays for: at most 10 times, and once if
    the cost of a run is not known. Nothing is run: the commands to run are printed. What no earlier result
    tells is said to be not known. The paths in the jobs are meant from the folder that this command is run in.
    """
    if agent in WITHOUT_SERVERS:
        raise InputError(f"--agent {agent}: Harbor gives it no MCP servers, so the job `with` would fail; name another")
    servers = McpServer.load(mcp_config)
    if not servers:
        raise InputError(f"{mcp_config}: holds no server, so both jobs would be the same")
    _refuse_existing(output_dir, jobs_dir)
    count = count_tasks(tasks)
    earlier = Earlier.of(load_source(source), model) if source else None
    if earlier is not None and not earlier.runs:
        raise InputError(f"{source}: holds no run of the model {model}; leave --from out, or name other results")
    usd = earlier.usd if earlier else None
    attempts = choose_attempts(count, usd, budget_usd)
    settings = {
        "jobs_dir": str(jobs_dir),
        "n_attempts": attempts,
        "n_concurrent_trials": concurrency,
        "retry": {"max_retries": RETRIES},
        "environment": {"type": environment},
    }
    if extra_docker_compose:
        settings["environment"] = {"type": environment, "extra_docker_compose": list(map(str, extra_docker_compose))}
    files = {name: output_dir / f"{name}.yaml" for name in ("without", "with")}
    for name, path in files.items():
        given = servers if name == "with" else ()
        write_whole(path, job_yaml({"job_name": name, **settings}, tasks, agent, model, given))
    say(f"wrote {files['without']} and {files['with']}")
    if environment == "docker" and concurrency > BRIDGE_NETWORKS and not extra_docker_compose:
        say(
            f"-n {concurrency}: Docker's default address pools hold about {BRIDGE_NETWORKS} networks, one a trial;"
            " docs/RUNNING_AT_SCALE.md says what to do",
            err=True,
        )
    trials = ARMS * count * attempts
    basis = f", from {counted(earlier.runs, 'earlier run')} in {source}" if earlier else ""
    dollars = "not known" if usd is None else f"about ${count * attempts * sum(usd):.2f}{basis}"
    say_lines(
        f"trials:  {trials} = {counted(count, 'task')} x {counted(attempts, 'attempt')} x {ARMS} jobs, "
        f"{concurrency} at a time\n"
        f"dollars: {dollars}, of ${budget_usd:.2f}; Harbor itself stops at no budget\n"
        f"hours:   {hours(earlier, count, attempts, concurrency)}\n"
        f"power:   {power_of(earlier, count, attempts)}\n"
    )
    say("Run, from this folder:")
    for path in files.values():
        say(f"  harbor run -y -c {shlex.quote(str(path))}")
    places = " ".join(shlex.quote(str(jobs_dir / name)) for name in files)
    say(f"  {HARNESS} compare {places} --html report.html")
    say(f"A job that was stopped goes on with: harbor job resume -p {shlex.quote(str(jobs_dir))}/<job>")


def _refuse_existing(output_dir: Path, jobs_dir: Path) -> None:
    """Raise InputError if a file would be overwritten, or if Harbor already has a job of that name."""
    for name in ("without", "with"):
        if (path := output_dir / f"{name}.yaml").exists():
            raise InputError(f"{path} exists; name another folder with -o, or remove it")
        if (job := jobs_dir / name).exists():
            raise InputError(f"{job} exists and holds a job that was run; name another folder with --jobs-dir")
