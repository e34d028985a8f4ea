"""What do results look like? The metric against cost and tool calls, plotted as SVG for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.compare.metrics import by_task
from harness.compare.verdicts import Metric
from harness.compare.wording import metric_name
from harness.models import EvalResult
from locobench.shared.svg import inline_svg, page_style, stand_ins

COLOURS = stand_ins(
    "var(--ink)",
    "var(--faint)",
    "var(--accent)",
    "var(--series-2)",
    "var(--series-3)",
    "var(--series-4)",
)
INK, FAINT, *SERIES = COLOURS
MARKERS = "osD^v"

WIDTH = 7.2
"""Inches, like all sizes here."""
LEGEND_ROW = 0.22
SCATTER_HEIGHT = 3.6
NAME_CHARS = 50


@page_style()
def value_against_cost(arms: Mapping[str, Sequence[EvalResult]], metric: Metric) -> Markup:
    """Plot every arm's mean cost and metric, with its tasks as faint dots; empty without any cost.

    Args:
        arms: name in the legend to runs; runs without a known cost are left out.
        metric: the metric to plot.
    """
    known = _having(arms, lambda run: run.cost_usd)
    if not known:
        return Markup()
    figure, axes = _axes(SCATTER_HEIGHT, 0.6, LEGEND_ROW * len(known))
    for drawn, (name, runs) in enumerate(known.items()):
        colour, marker = _look(drawn)
        dots = [
            (fmean(run.cost_usd or 0.0 for run in of_task), fmean(_value(run, metric) for run in of_task))
            for of_task in by_task(runs).values()
        ]
        costs, means = [cost for cost, _ in dots], [mean for _, mean in dots]
        axes.scatter(costs, means, c=colour, marker=marker, s=12, alpha=0.35)
        axes.scatter([fmean(costs)], [fmean(means)], c=colour, marker=marker, s=90, edgecolors=INK,
                     label=_short(name), zorder=3)  # fmt: skip
    axes.set_xlabel("US$ a run")
    title = f"Cost and {metric_name(metric)} of each arm (large) and of its tasks (small)"
    return _scattered(figure, axes, "cost", title, metric)


@page_style()
def value_against_calls(arms: Mapping[str, Sequence[EvalResult]], metric: Metric) -> Markup:
    """Plot every arm's mean tool calls and metric, with its tasks as faint dots; empty without recorded calls."""
    known = _having(arms, lambda run: run.trace.tool_count)
    if not any(run.trace.tool_calls for runs in known.values() for run in runs):
        return Markup()
    figure, axes = _axes(SCATTER_HEIGHT, 0.6, LEGEND_ROW * len(known))
    for drawn, (name, runs) in enumerate(known.items()):
        colour, marker = _look(drawn)
        tasks = by_task(runs).values()
        calls = [fmean(run.trace.tool_count or 0 for run in of_task) for of_task in tasks]
        values = [fmean(_value(run, metric) for run in of_task) for of_task in tasks]
        axes.scatter(calls, values, c=colour, marker=marker, s=12, alpha=0.35)
        axes.scatter([fmean(calls)], [fmean(values)], c=colour, marker=marker, s=90, edgecolors=INK,
                     label=_short(name), zorder=3)  # fmt: skip
    axes.set_xlabel("tool calls a run")
    title = f"Tool calls and {metric_name(metric)} of each arm (large) and of its tasks (small)"
    return _scattered(figure, axes, "calls", title, metric)


def _having(
    arms: Mapping[str, Sequence[EvalResult]], value: Callable[[EvalResult], float | None]
) -> dict[str, list[EvalResult]]:
    """Return the measured runs of each arm that recorded a value; arms without such runs are left out."""
    known = {name: [r for r in runs if r.measured and value(r) is not None] for name, runs in arms.items()}
    return {name: runs for name, runs in known.items() if runs}


def _value(run: EvalResult, metric: Metric) -> float:
    return float(run.passed) if metric == "pass_rate" else run.overall_score


def _look(drawn: int) -> tuple[str, str]:
    return SERIES[drawn % len(SERIES)], MARKERS[drawn // len(SERIES) % len(MARKERS)]


def _scattered(figure: Figure, axes: Axes, name: str, title: str, metric: Metric) -> Markup:
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlim(left=-0.03 * axes.get_xlim()[1])  # a marker at 0 is not cut
    axes.set_ylabel(metric_name(metric))
    axes.legend(
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        loc="upper left",
        # under the axis label, so that no marker of the legend reads as data
        bbox_to_anchor=(0, -0.5 / (SCATTER_HEIGHT - 0.8)),
        markerscale=0.7,
    )
    return _finished(figure, axes, name, title, grid="x")


def _axes(height: float, left: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """Return a figure WIDTH wide, with room for names on its left and for a legend below."""
    height += below
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(left / WIDTH, (0.5 + below) / height, 1 - 0.1 / WIDTH, 1 - 0.3 / height)
    return figure, figure.add_subplot()


def _finished(figure: Figure, axes: Axes, name: str, title: str, *, grid: str) -> Markup:
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.tick_params(colors=INK, labelsize=7)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(color=INK, fontsize=8)
    (axes.xaxis if grid == "x" else axes.yaxis).grid(color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    return inline_svg(figure, name, COLOURS, label=title)


def _short(name: str, limit: int = NAME_CHARS) -> str:
    """Cut the middle out of a long name; ids mostly differ at their ends."""
    half = limit // 2
    return name if len(name) <= limit else f"{name[:half]}…{name[1 - half :]}"
