"""The commands that read results: report, analyze, explain, diff, compare, regression."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from common.files import write_whole
from harness.compare.comparison import compare as compare_results
from harness.compare.verdicts import Comparison, Metric, Verdict
from harness.errors import InputError
from harness.models import EvalResult
from harness.report import exports
from harness.report import html as html_report
from harness.reporter import Reporter, regression_evidence
from harness.results.sources import choose, load_source

Function = TypeVar("Function", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
RESULTS_HELP = "results file, journal of a matrix, or Harbor job folder"


def arm_options(function: Function) -> Function:
    """What the two arms of a comparison are, and what is compared."""
    for option in (
        click.option("--treatment", multiple=True, help="Tools that B is about, as a pattern such as mcp__*."),
        click.option(
            "--threshold",
            default=0.0,
            type=click.FloatRange(0, 1),
            help="Smallest change that counts, 0 to 1.",
        ),
        click.option(
            "--metric",
            default="pass_rate",
            show_default=True,
            type=click.Choice(["pass_rate", "score"]),
            help="What the verdict is about.",
        ),
        click.option("--label-b", help="Name of B in the report."),
        click.option("--label-a", help="Name of A in the report."),
        click.option("--model-b", help="Only this model of B."),
        click.option("--model-a", help="Only this model of A."),
        click.option("--config-b", help="Only this config of B."),
        click.option("--config-a", help="Only this config of A."),
        click.argument("b", type=PATH, required=False),
        click.argument("a", type=PATH),
    ):
        function = option(function)
    return function


@click.command()
@click.option("-r", "--results", "source", required=True, type=PATH, help=f"A {RESULTS_HELP}.")
@click.option("--html", type=PATH, help="Also write an HTML report.")
@click.option("--markdown", type=PATH, help="Also write a Markdown table.")
@click.option("--junit", type=PATH, help="Also write JUnit XML, one case a run.")
@click.option("--csv", type=PATH, help="Also write one line a run.")
@click.option("--json", "json_path", type=PATH, help="Also write the results with a summary.")
def report(
    source: Path,
    html: Path | None,
    markdown: Path | None,
    junit: Path | None,
    csv: Path | None,
    json_path: Path | None,
) -> None:
    """Summary of a set of results: rates with intervals, pass@k, cost, lost runs."""
    results = load_source(source)
    Reporter().print_summary(results)
    _write(html, lambda: html_report.render([html_report.Arm(source.stem, results)], title=source.stem))
    _write(markdown, lambda: exports.results_markdown(results))
    _write(junit, lambda: exports.results_junit(results))
    _write(csv, lambda: exports.results_csv(results))
    _write(json_path, lambda: exports.results_json(results))


@click.command()
@click.argument("source", type=PATH)
@click.option("-t", "--task", "task_filter", help="Only tasks whose id contains this.")
@click.option("-f", "--failed-only", is_flag=True, help="Only runs that did not pass.")
def analyze(source: Path, task_filter: str | None, failed_only: bool) -> None:
    """List runs with what failed in them, and how often each assertion passes."""
    Reporter().print_analysis(load_source(source), task_filter, failed_only)


@click.command()
@click.argument("source", type=PATH)
@click.option("-i", "--index", required=True, type=click.IntRange(0), help="Number of the run in `analyze`.")
@click.option("--brief", is_flag=True, help="Grades, tools and files without their contents.")
def explain(source: Path, index: int, brief: bool) -> None:
    """Everything about one run: prompt, transcript, changes, grades with reasons, stderr."""
    results = load_source(source)
    if index >= len(results):
        raise InputError(f"{source}: there is no run {index}; they go from 0 to {len(results) - 1}")
    reporter = Reporter()
    if brief:
        reporter.print_detailed_result(results[index])
    else:
        reporter.print_explain(results[index])


@click.command()
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option("--label-a", help="Name of A.")
@click.option("--label-b", help="Name of B.")
def diff(a: Path, b: Path, label_a: str | None, label_b: str | None) -> None:
    """Two sets of results side by side, task by task."""
    Reporter().print_diff(load_source(a), load_source(b), label_a or a.stem, label_b or b.stem)


@click.command()
@click.option("-b", "--baseline", required=True, type=PATH, help=f"A {RESULTS_HELP}.")
@click.option("-c", "--current", required=True, type=PATH, help=f"A {RESULTS_HELP}.")
@click.option(
    "-t",
    "--threshold",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Smallest drop that counts.",
)
@click.option("--json", "json_path", type=PATH, help="Also write the evidence.")
@click.pass_context
def regression(ctx: click.Context, /, baseline: Path, current: Path, threshold: float, json_path: Path | None) -> None:
    """Is CURRENT worse than BASELINE?

    Exit code 0 no evidence of it, 1 a regression, 2 the data cannot tell.
    """
    comparison = compare_results(
        load_source(baseline),
        load_source(current),
        label_a="baseline",
        label_b="current",
        threshold=threshold,
    )
    evidence = regression_evidence(comparison)
    Reporter().print_comparison(comparison)
    _write(json_path, lambda: json.dumps(evidence, indent=2, ensure_ascii=False) + "\n")
    undecided = comparison.verdict is Verdict.NOT_ENOUGH_DATA
    ctx.exit(1 if evidence["has_regressions"] else 2 if undecided else 0)


@click.command()
@arm_options
@click.option("--all-tasks", is_flag=True, help="List every task, not only those that moved.")
@click.option("--html", type=PATH, help="Also write an HTML report with every run.")
@click.option("--markdown", type=PATH, help="Also write a comment for a pull request.")
@click.option("--junit", type=PATH, help="Also write JUnit XML, one case a task.")
@click.option("--json", "json_path", type=PATH, help="Also write the comparison as data.")
def compare(
    all_tasks: bool,
    html: Path | None,
    markdown: Path | None,
    junit: Path | None,
    json_path: Path | None,
    **arms: Any,
) -> None:
    """Did B do better or worse than A, by how much, how sure are we, at what cost?

    A and B are results files, journals or Harbor job folders; without B, two configs or models of A.
    """
    comparison, results_a, results_b = compare_arms(**arms)
    Reporter().print_comparison(comparison, all_tasks)
    _write(html, lambda: comparison_page(comparison, results_a, results_b))
    _write(markdown, lambda: exports.comparison_markdown(comparison))
    _write(junit, lambda: exports.comparison_junit(comparison))
    _write(
        json_path,
        lambda: json.dumps(exports.comparison_data(comparison), indent=1, ensure_ascii=False) + "\n",
    )


def compare_arms(
    *,
    a: Path,
    b: Path | None,
    config_a: str | None,
    config_b: str | None,
    model_a: str | None,
    model_b: str | None,
    label_a: str | None,
    label_b: str | None,
    metric: Metric,
    threshold: float,
    treatment: tuple[str, ...],
) -> tuple[Comparison, list[EvalResult], list[EvalResult]]:
    """The comparison that `arm_options` describe, and the results of both arms."""
    if b is None and (config_a, model_a) == (config_b, model_b):
        raise InputError(f"{a}: compare it with a second file, or name --config-a and --config-b")
    source = load_source(a)
    results_a = choose(source, config_a, model_a, a)
    results_b = choose(source if b is None else load_source(b), config_b, model_b, b or a)
    names = [
        given or config or model or path.stem
        for given, config, model, path in (
            (label_a, config_a, model_a if model_a != model_b else None, a),
            (label_b, config_b, model_b if model_a != model_b else None, b or a),
        )
    ]
    if names[0] == names[1]:
        names = [f"{names[0]} (A)", f"{names[1]} (B)"]
    comparison = compare_results(
        results_a,
        results_b,
        label_a=names[0],
        label_b=names[1],
        metric=metric,
        threshold=threshold,
        treatment=treatment,
    )
    return comparison, results_a, results_b


def comparison_page(comparison: Comparison, a: list[EvalResult], b: list[EvalResult]) -> str:
    """HTML report of a comparison."""
    arms = [html_report.Arm(comparison.label_a, a), html_report.Arm(comparison.label_b, b)]
    return html_report.render(arms, comparison, f"{comparison.label_b} against {comparison.label_a}")


def _write(path: Path | None, make: Callable[[], str]) -> None:
    if path is None:
        return
    write_whole(path, make())
    click.echo(f"wrote {path}")
