"""The commands that read one set of results: report and analyze."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from locobench.shared.errors import InputError
from locobench.shared.installation import HARNESS
from measure.commands.options import PATH, load, reward_options
from measure.commands.output import keep_sources
from measure.report.console import say
from measure.report.reporter import Reporter


@click.command()
@click.argument("source", type=PATH)
@click.option("--json", "json_path", type=PATH, help="Also write a results file, with a summary in front.")
@reward_options
def report(source: Path, json_path: Path | None, reward_key: str, reward_range: tuple[float, float]) -> None:
    """Summary of a set of results: rates with intervals, pass@k, cost, lost runs.

    SOURCE is a results file, the journal of a matrix, a Harbor job folder or a folder of them, or a CSV table. Trials
    that say nothing about the agent (build, API or verifier errors) are kept and count in no rate; Harbor's own mean
    counts them as 0.
    """
    keep_sources([source], json_path)
    results, reporter = load(source, reward_key, reward_range), Reporter()
    reporter.print_summary(results)
    if json_path is not None:
        reporter.export_json(results, json_path.expanduser())
        say(f"wrote {json_path.expanduser()}")


@click.command()
@click.argument("source", type=PATH)
@click.option("-t", "--task", "task_filter", help="Only tasks whose id contains this.")
@click.option("-f", "--failed-only", is_flag=True, help="Only runs that did not pass.")
@click.option("-i", "--index", type=click.IntRange(0), help="Show everything about the run of this number instead.")
@reward_options
def analyze(
    source: Path,
    task_filter: str | None,
    failed_only: bool,
    index: int | None,
    reward_key: str,
    reward_range: tuple[float, float],
) -> None:
    """List runs with what failed in them, and how often each assertion passes.

    With -i everything about one run: prompt, transcript, changes, grades with reasons, stderr.
    """
    results, reporter = load(source, reward_key, reward_range), Reporter()
    if index is None:
        reporter.print_analysis(results, task_filter, failed_only)
        say(f"everything about one run: {HARNESS} analyze {shlex.quote(str(source))} -i #")
        return
    if index >= len(results):
        raise InputError(f"{source}: there is no run {index}; they go from 0 to {len(results) - 1}")
    reporter.print_explain(results[index])
