"""The commands that read results: report, analyze, compare."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from locobench.shared.errors import InputError
from locobench.shared.installation import HARNESS
from measure.commands.arms import ArmOptions, arm_options, verdict_code
from measure.commands.options import PATH, load, reward_options
from measure.commands.output import keep_sources, write_text
from measure.report import exports
from measure.report.console import say
from measure.report.html import render
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


@click.command()
@arm_options
@click.argument("more", type=PATH, nargs=-1)
@click.option("--all-tasks", is_flag=True, help="List every task, not only those that moved.")
@click.option("--html", type=PATH, help="Also write an HTML page with every task and run.")
@click.option("--markdown", type=PATH, help="Also write a comment for a pull request.")
@click.option("--json", "json_path", type=PATH, help="Also write the comparison as data.")
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    *,
    more: tuple[Path, ...],
    all_tasks: bool,
    html: Path | None,
    markdown: Path | None,
    json_path: Path | None,
    **of_arms: Any,
) -> None:
    """Did B do better or worse than A, by how much, how sure are we, at what cost?

    A and B are results files, journals, Harbor job folders or CSV tables (task,arm,reward); without B, two
    configs or models of A, or both arms of a table. With more paths, each is compared with A and with each other,
    corrected for the number of pairs. --regression asks a release test's question: did these very tasks get worse?
    Exit code 0: nothing got worse than A; 1: a regression, overall or of a single task; 2: the data cannot tell.
    """
    arms = ArmOptions(**of_arms)
    sources = [path for path in (arms.a, arms.b, *more) if path is not None]
    keep_sources(sources, html, markdown, json_path)
    found, labelled = arms.compare(more)
    first = found.comparisons[0]
    title = f"{len(labelled)} arms" if more else f"{first.label_b} against {first.label_a}"
    Reporter().print_arms(found, all_tasks)
    write_text(html, lambda: render(labelled, found, title))
    write_text(markdown, lambda: "\n".join(map(exports.comparison_markdown, found.comparisons)))
    write_text(json_path, lambda: exports.comparison_json(found))
    ctx.exit(verdict_code(*found.comparisons))
