"""The commands before an experiment: power says how much to run, plan writes the Harbor jobs."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from locobench.harbor.task import TASK_FILE, TaskToml, task_folders
from locobench.shared.claim import claim_beforehand
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole
from locobench.shared.installation import GENERATE, HARNESS
from measure.commands.jobs import FILES, OVERLAY, as_yaml, run_here, servers_of_jobs
from measure.commands.options import MARGIN_OPTION, PATH, RESULTS_HELP
from measure.compare.decision import fewest_tasks
from measure.records import ErrorKind, EvalResult
from measure.report.console import print_table, report_console, say, say_lines
from measure.report.tables import new_table
from measure.results.endings import EXCEPTIONS
from measure.results.sources import load_source
from measure.statistics import estimates
from measure.summary.noise import Noise, observed_noise
from measure.summary.wording import counted, metric_name

RUNS = (1, 3, 5, 10)
TASKS = (10, 20, 50, 100, 200)
MOST_ATTEMPTS = 10
"""Most attempts that a budget is spent on. Beyond ten, add tasks instead: they reduce the error faster."""
RETRIES = 2
"""How often Harbor repeats a trial that was lost."""
NOT_RETRIED = sorted(
    name
    for name, (outcome, kind) in EXCEPTIONS.items()
    if outcome.measured or kind in (ErrorKind.AUTH, ErrorKind.MODEL_NOT_FOUND, ErrorKind.CREDIT, ErrorKind.GRADING)
)
"""The agent's own failures, which Harbor before 0.26 would repeat and delete, and what a repetition cannot mend."""
NEEDED = (TASK_FILE, "instruction.md", "environment", "tests/test.sh")
"""What a folder must have for Harbor to run it."""


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
@click.option(
    "--arms", default=2, show_default=True, type=click.IntRange(2), help="Number of arms, the baseline included."
)
@MARGIN_OPTION
def power(*, effect: float, baseline: float | None, source: Path | None, arms: int, margin: float) -> None:
    """How many tasks and runs does it take to find a difference of pass rate or score, or to show that there is none?

    Computed from the noncentral t distribution of the paired test over tasks, at the level that remains for each pair
    of arms. docs/STATISTICS.md compares the figures with simulations.
    """
    alpha = _alpha(arms)
    noise = observed_noise(load_source(source)) if source else Noise("pass_rate", 0.8)
    if noise is None:
        raise InputError(
            f"{source}: holds one run of each task, so how much runs vary is not known; give results with "
            "two runs of a task or of two arms"
        )
    if baseline is not None:
        noise = replace(noise, mean=baseline)
    name, rooms = metric_name(noise.metric), {"drop": -noise.mean, "rise": 1 - noise.mean}
    possible = {word: math.copysign(effect, room) for word, room in rooms.items() if effect <= abs(room)}
    if not possible:
        raise InputError(f"--effect {effect}: a {name} of {noise.mean:.2f} cannot drop or rise by that much")
    for word in rooms.keys() - possible.keys():
        room = f"a {word} of {100 * abs(rooms[word]):.1f} points at most"
        say(f"A {name} of {100 * noise.mean:.0f} % leaves room for {room}.")
    varying = ""
    if noise.run_sd is not None:
        varying = f", runs of a task varying by {100 * noise.run_sd:.1f} points (one sd)"
        if len(possible) == 2:
            possible = {"drop or rise": effect}  # the noise is the same either way
    among = "" if arms == 2 else f", between two of {arms} arms"
    console = report_console()
    console.print(f"Chance to show a change from a {name} of {100 * noise.mean:.0f} %{varying}{among}:")
    columns = (
        "runs per task and arm",
        *(f"{count} tasks" for count in TASKS),
        f"tasks for {100 * estimates.TARGET_POWER:.0f} %",
    )
    table = new_table("", "", *columns)
    for word, change in possible.items():
        for runs in RUNS:
            sd = noise.sd(change, runs)
            label = f"{word} of {100 * effect:.3g} points" if runs == RUNS[0] else ""
            chances = (f"{100 * estimates.paired_power(effect, sd, tasks, alpha / 2):.0f} %" for tasks in TASKS)
            needed = str(estimates.tasks_needed(effect, sd, alpha / 2) or f"> {estimates.MOST_TASKS}")
            table.add_row(label, str(runs), *chances, needed)
    for runs in RUNS:
        label = f"none: as good within {100 * margin:g} points" if runs == RUNS[0] else ""
        chances = (f"{100 * _as_good(noise, margin, tasks, runs, alpha):.0f} %" for tasks in TASKS)
        table.add_row(label, str(runs), *chances, "")
    print_table(console, table)


def _alpha(arms: int) -> float:
    """Return the two-sided level that is left to each pair of arms before any is called."""
    return estimates.ALPHA / math.comb(arms, 2)


def _as_good(noise: Noise, margin: float, tasks: int, runs: int, alpha: float) -> float:
    """Return the chance to show that arms which do not differ are as good within a margin."""
    if tasks < fewest_tasks(margin):
        return 0.0
    return estimates.equivalence_power(margin, noise.sd(0.0, runs), tasks, alpha)


@click.command()
@click.argument("tasks", type=PATH)
@click.option("--agent", required=True, help="Agent of all jobs: a name that Harbor knows, or module:Class.")
@click.option("--model", help="Model of all jobs, as Harbor names it, such as anthropic/<model>.")
@click.option(
    "--mcp-config",
    "mcp_configs",
    required=True,
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="MCP servers of the job `search`, in the format of .mcp.json; each of several files is a job, named like it.",
)
@click.option(
    "--remote", type=PATH, help=f"Folder of {GENERATE} --remote_output_dir, to ask whether the server replaces a clone."
)
@click.option(
    "--budget-usd", required=True, type=click.FloatRange(0, min_open=True), help="Dollars for all jobs together."
)
@MARGIN_OPTION
@click.option("--from", "source", type=PATH, help=f"Take costs and spread from a {RESULTS_HELP}.")
@click.option(
    "-o", "--output-dir", default=".", type=PATH, help="Folder for without.yaml and with.yaml.  [default: this one]"
)
def plan(
    *,
    tasks: Path,
    agent: str,
    model: str | None,
    mcp_configs: tuple[Path, ...],
    remote: Path | None,
    budget_usd: float,
    margin: float,
    source: Path | None,
    output_dir: Path,
) -> None:
    """Write two Harbor jobs over TASKS, without and with MCP servers, and estimate their cost and power.

    The jobs differ in the servers alone. They run each task as often as the budget pays for, up to 10 times, or once if
    the cost of a run is not known. With several --mcp-config, each gets a job beside the one without. If a server runs
    on this machine (http://host.docker.internal:PORT), all jobs get a Compose overlay that lets containers reach it.
    Nothing is run; the command prints what to run. Without earlier runs (--from), cost and power are not known. Paths
    in the jobs are relative to the current folder.

    With --remote, the job `clone` has the code and no server, and the job `remote` the servers and no code.
    """
    jobs = servers_of_jobs(mcp_configs, remote=remote is not None)
    overlay = output_dir / "host.yaml" if run_here(server for servers in jobs.values() for server in servers) else None
    stems = FILES if len(jobs) == len(FILES) else {}
    files = {name: output_dir / f"{stems.get(name, name)}.yaml" for name in jobs}
    for path in filter(None, (*files.values(), overlay)):
        if path.exists():
            raise InputError(f"{path} exists; name another folder with -o, or remove it")
    tomls = _whole_tasks(tasks)
    for name, toml in tomls.items():
        if toml.environment.mcp_servers:
            raise InputError(
                f"{tasks / name}: brings MCP servers of its own, so both jobs would have them;"
                " generate the tasks without --mcp_config"
            )
    if remote:
        _check_remote(remote, tomls, {server.name for servers in jobs.values() for server in servers})
    repositories = {toml.metadata.repository for toml in tomls.values()} - {""}
    claim = claim_beforehand(len(repositories)) if repositories else "not known: the tasks name no repository"
    history = sum(toml.metadata.derived is not None and toml.metadata.derived.is_history for toml in tomls.values())
    count, arms = len(tomls), len(jobs)
    earlier = _earlier_runs(source, model) if source else []
    usd = _usd_of_all_arms(earlier, arms)
    attempts = _attempts(count, usd, budget_usd)
    job: dict[str, Any] = {"n_attempts": attempts, "retry": {"max_retries": RETRIES, "exclude_exceptions": NOT_RETRIED}}
    if overlay:
        write_whole(overlay, OVERLAY)
        job["environment"] = {"extra_docker_compose": [str(overlay)]}
    given = {"import_path" if ":" in agent else "name": agent} | ({"model_name": model} if model else {})
    for name, path in files.items():
        # Tasks without the code bring their servers, of which the instruction speaks.
        elsewhere = remote if jobs[name] else None
        served = [] if elsewhere else [server.model_dump(mode="json", exclude_none=True) for server in jobs[name]]
        agents = [given | ({"mcp_servers": served} if served else {})]
        datasets = [{"path": str(elsewhere or tasks)}]
        write_whole(path, as_yaml({"job_name": name, **job, "agents": agents, "datasets": datasets}))
    shared = f", which share {overlay}" if overlay else ""
    say(f"wrote {', '.join(map(str, [*files.values()][:-1]))} and {files[[*jobs][-1]]}{shared}")
    if any(server.headers for servers in jobs.values() for server in servers):
        say("headers need Harbor 0.26 or later, and one of the agents claude-code, codex and opencode-v2")
    basis = f", from {counted(len(earlier), 'earlier run')} in {source}" if earlier else ""
    dollars = "not known" if usd is None else f"about ${count * attempts * usd:.2f}{basis}"
    trials = f"{arms * count * attempts} = {counted(count, 'task')} x {counted(attempts, 'attempt')} x {arms} jobs"
    say_lines(
        f"trials:  {trials}\n"
        f"dollars: {dollars}; the budget is ${budget_usd:.2f}, and Harbor does not enforce it\n"
        f"power:   {_power_text(earlier, count, attempts, arms, margin)}\n"
        f"claim:   {claim}\n"
    )
    if history:
        say(
            f"! {counted(history, 'task asks', 'tasks ask')} which functions a later commit changed. A server that"
            " indexes later code of the repository gives that away: index each project alone, or leave these tasks out."
        )
    say("Run, from this folder, the jobs side by side if you can:")
    if ":" in agent and (places := os.environ.get("PYTHONPATH")):
        say(f"  export PYTHONPATH={shlex.quote(places)}")
    quoted = [shlex.quote(str(path)) for path in files.values()]
    if source is None:
        once = f"once each: {counted(count, 'trial')}, cost not known"
        say(f"  harbor run -y -c {quoted[0]} -k 1 --job-name pilot  # {once}")
        say(f"  {HARNESS} headroom jobs/pilot --attempts {attempts}  # can these tasks show a difference?")
    for config in quoted:
        say(f"  harbor run -y -c {config}")
    say(f"  {HARNESS} compare {' '.join(shlex.quote(f'jobs/{name}') for name in jobs)} --html report.html")


def _whole_tasks(path: Path) -> dict[str, TaskToml]:
    """Read the whole tasks of a folder, by name; Harbor skips the others. InputError if there is none."""
    folders = task_folders(path)
    if folders == [path]:
        raise InputError(f"{path}: a single task; name the folder that holds the tasks")
    whole = [folder for folder in folders if all((folder / needed).exists() for needed in NEEDED)]
    if not whole:
        raise InputError(f"{path}: holds no task; name the folder that {GENERATE} wrote")
    return {folder.name: TaskToml.read(folder) for folder in whole}


def _check_remote(path: Path, here: Mapping[str, TaskToml], servers: set[str]) -> None:
    """Raise InputError unless a folder holds the tasks `here`, without the code and with exactly these servers."""
    there = _whole_tasks(path)
    cure = f"write it together with the tasks, by {GENERATE} --remote_output_dir"
    if unlike := sorted(here.keys() ^ there.keys()):
        raise InputError(f"{path}: --remote: not the same tasks, such as {unlike[0]}; {cure}")
    for name, toml in there.items():
        if not toml.metadata.closed_book or here[name].metadata.closed_book:
            raise InputError(f"{path}: --remote: {name} must be without the code here and with it there; {cure}")
        if toml.metadata.content_fingerprint != here[name].metadata.content_fingerprint:
            raise InputError(f"{path}: --remote: {name} differs in more than the way to the code; {cure}")
        if {server.name for server in toml.environment.mcp_servers} != servers:
            raise InputError(f"{path}: --remote: {name} has other servers than --mcp-config; {cure}")


def _earlier_runs(source: Path, model: str | None) -> list[EvalResult]:
    """Return the earlier runs of a model; Harbor may name it with its provider, as in provider/model."""
    bare = (model or "none").rpartition("/")[2]
    runs = [run for run in load_source(source) if run.model.rpartition("/")[2] == bare]
    if not runs:
        raise InputError(f"{source}: holds no run of the model {model}; leave --from out, or name other results")
    return runs


def _usd_of_all_arms(runs: Sequence[EvalResult], arms: int) -> float | None:
    """Return the mean dollars of one run in every arm: one without a server, the others with one.

    An arm that was not run before costs like the other. None if no cost is known.
    """
    known = [(bool(run.trace.offered.servers), usd) for run in runs if (usd := run.cost_usd) is not None]
    without, served = ([usd for with_server, usd in known if with_server is served] for served in (False, True))
    if not known:
        return None
    whole = [usd for _, usd in known]
    return fmean(without or whole) + (arms - 1) * fmean(served or whole)


def _attempts(tasks: int, usd: float | None, budget: float) -> int:
    """Return how often each task is run in each arm: what the budget for all pays for, up to MOST_ATTEMPTS.

    `usd` is the cost of one run in every arm; if None, the answer is 1. InputError if the budget is too small.
    """
    if usd is None:
        return 1
    once = tasks * usd
    if once > budget:
        fewer = f"{math.floor(budget / usd)} of the {tasks} tasks"
        raise InputError(f"--budget-usd {budget:g}: one attempt costs about ${once:.2f}; the budget pays for {fewer}")
    return min(MOST_ATTEMPTS, math.floor(budget / once)) if once else MOST_ATTEMPTS


def _power_text(earlier: Sequence[EvalResult], tasks: int, attempts: int, arms: int, margin: float) -> str:
    """Say which differences the jobs will find, and how likely they show that there is none."""
    if not earlier:
        return "not known without earlier runs (--from)"
    noise = observed_noise(earlier) if any(run.measured for run in earlier) else None
    if noise is None or not noise.sd(0.0, attempts):
        return "not known (the earlier results hold no two measured runs of a task that differ)"
    alpha = _alpha(arms)
    good = 100 * _as_good(noise, margin, tasks, attempts, alpha)
    return (
        f"{noise.found_text(tasks, attempts, alpha / 2)} of the {metric_name(noise.metric)}; "
        f"{good:.0f} % to show that no difference exceeds {100 * margin:g} points, if so"
    )
