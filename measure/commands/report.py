"""The commands that read results: report, analyze, compare."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from locobench.shared.errors import InputError
from locobench.shared.files import check_output, write_whole
from locobench.shared.installation import HARNESS
from measure.commands.options import MARGIN_OPTION, PATH, load, reward_hint, reward_options
from measure.compare.comparison import compare_arms
from measure.compare.pairing import without_pilot
from measure.compare.verdicts import Verdict
from measure.records import EvalResult
from measure.report import exports
from measure.report.console import say
from measure.report.html import render
from measure.report.reporter import Reporter
from measure.results.names import same_names
from measure.results.rewards import RewardScale
from measure.results.sources import choose, is_table, load_source
from measure.results.table import load_table
from measure.summary.metrics import MetricChoice

REGRESSION_THRESHOLD = 0.05
GOT_WORSE, CANNOT_TELL = 1, 2
"""Exit codes of a comparison."""
Choice = tuple[str | None, str | None]
"""Config and model of an arm's runs; None for any."""


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
    if json_path is not None:  # before anything is printed, since a pipe may end early
        reporter.export_json(results, json_path.expanduser())
    reporter.print_summary(results)
    if json_path is not None:
        say(f"wrote {json_path.expanduser()}")


@click.command()
@click.argument("source", type=PATH)
@click.option("-t", "--task", "task_filter", help="Only tasks whose id contains this.")
@click.option("-f", "--failed-only", is_flag=True, help="Only runs that did not pass.")
@click.option("-i", "--index", type=click.IntRange(0), help="Show everything about the run with this number instead.")
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
@click.argument("a", type=PATH)
@click.argument("b", type=PATH, required=False)
@click.option("--config-a", help="Only this config of A.")
@click.option("--config-b", help="Only this config of B.")
@click.option("--model-a", help="Only this model of A.")
@click.option("--model-b", help="Only this model of B.")
@click.option("--label", multiple=True, help="Name of an arm in the report; give one for each arm, in order.")
@click.option(
    "--metric",
    type=click.Choice(["auto", "pass_rate", "score"]),
    help="What the verdict is about; auto: the score, unless all scores are 0 or 1.  [default: auto, with "
    "--regression pass_rate]",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help=f"Smallest change that counts, 0 to 1.  [default: 0, with --regression {REGRESSION_THRESHOLD}]",
)
@MARGIN_OPTION
@click.option("--treatment", multiple=True, help="Tools under test, as a pattern such as mcp__*.")
@click.option("--strip-prefix", multiple=True, help="Prefix to remove from the task names of every arm.")
@reward_options
@click.option("--regression", is_flag=True, help="Ask whether B is worse on these very tasks, as a CI job does.")
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
    a: Path,
    b: Path | None,
    config_a: str | None,
    config_b: str | None,
    model_a: str | None,
    model_b: str | None,
    label: tuple[str, ...],
    metric: MetricChoice | None,
    threshold: float | None,
    margin: float,
    treatment: tuple[str, ...],
    strip_prefix: tuple[str, ...],
    reward_key: str,
    reward_range: tuple[float, float],
    regression: bool,
    more: tuple[Path, ...],
    all_tasks: bool,
    html: Path | None,
    markdown: Path | None,
    json_path: Path | None,
) -> None:
    """Did B do better or worse than A, by how much, how sure are we, at what cost?

    A and B are results files, journals, Harbor job folders or CSV tables (task,arm,reward); without B, two
    configs or models of A, or both arms of a table. With more paths, each is compared with A and with each other,
    corrected for the number of pairs. --regression asks a release test's question: did these very tasks get worse?
    Exit code 0: nothing got worse than A; 1: a regression, overall or of a single task; 2: the data cannot tell.
    """
    paths = [path for path in (a, b, *more) if path is not None]
    keep_sources(paths, html, markdown, json_path)
    with reward_hint():
        arms = _load(paths, [(config_a, model_a), (config_b, model_b)], RewardScale(reward_key, *reward_range))
    if label and len(label) != len(arms):
        raise InputError(f"--label: {len(label)} given for {len(arms)} arms; give one for each, in order, or none")
    labels = label or [name for name, _ in arms]
    arms = same_names([(name, runs) for name, (_, runs) in zip(labels, arms, strict=True)], strip_prefix)
    (baseline, runs_of_a), *others = arms
    for name, runs in others:
        if not {run.task_id for run in runs_of_a} & {run.task_id for run in runs}:
            say(f"{name} and {baseline} share no task name; --strip-prefix can make them alike", err=True)
    if threshold is None:
        threshold = REGRESSION_THRESHOLD if regression else 0.0
    found = compare_arms(
        arms,
        metric=metric or ("pass_rate" if regression else "auto"),
        threshold=threshold,
        margin=margin,
        treatment=treatment,
        fixed_tasks=regression,
    )
    compared, _ = without_pilot(arms)
    first = found.comparisons[0]
    title = f"{len(arms)} arms" if more else f"{first.label_b} against {first.label_a}"
    pages: tuple[tuple[Path | None, Callable[[], str]], ...] = (
        (html, lambda: render(compared, found, title)),
        (markdown, lambda: exports.arms_markdown(found)),
        (json_path, lambda: exports.comparison_json(found)),
    )
    outputs = [(path.expanduser(), make) for path, make in pages if path]
    for path, make in outputs:  # before anything is printed, since a pipe may end early
        write_whole(path, make())
    Reporter().print_arms(found, all_tasks)
    for path, _ in outputs:
        say(f"wrote {path}")
    if any(comparison.got_worse for comparison in found.comparisons):
        ctx.exit(GOT_WORSE)
    if any(comparison.verdict is Verdict.NOT_ENOUGH_DATA for comparison in found.comparisons):
        ctx.exit(CANNOT_TELL)


def _load(paths: Sequence[Path], chosen: Sequence[Choice], scale: RewardScale) -> list[tuple[str, list[EvalResult]]]:
    """Load all arms by label: the config, model or name of the file, with a number if it repeats."""
    of_a, of_b = chosen
    if len(paths) == 1 and of_a == of_b:
        if not is_table(paths[0]) or any(of_a):
            raise InputError(f"{paths[0]}: compare it with a second file, or name --config-a and --config-b")
        return list(load_table(paths[0], scale).items())
    if len(paths) == 1:
        paths = [*paths, *paths]
    sources = {path: load_source(path, scale) for path in paths}
    of_arms = list(zip(paths, [*chosen, *[(None, None)] * (len(paths) - 2)], strict=True))
    one_model = of_a[1] == of_b[1]
    names = [config or (None if one_model else model) or path.stem for path, (config, model) in of_arms]
    return [
        (f"{name} ({at})" if names.count(name) > 1 else name, choose(sources[path], *choice, path))
        for at, (name, (path, choice)) in enumerate(zip(names, of_arms, strict=True), start=1)
    ]


def keep_sources(sources: Sequence[Path], *outputs: Path | None) -> None:
    """Raise InputError if one of the outputs, a report, is one of the sources, the results that it is about."""
    for output in filter(None, outputs):
        check_output(output.expanduser(), sources)
