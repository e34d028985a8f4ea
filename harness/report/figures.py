"""What do results look like? The metric against cost and tool calls, plotted as SVG for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from markupsafe import Markup
from matplotlib.figure import Figure

from harness.compare.metrics import by_task, metric_value
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
HEIGHT = 3.6
NAME_CHARS = 50


def value_against_cost(arms: Mapping[str, Sequence[EvalResult]], metric: Metric) -> Markup:
    """Plot every arm's mean cost and metric, with its tasks as faint dots; empty without any cost.

    Args:
        arms: name in the legend to runs; runs without a known cost are left out.
        metric: the metric to plot.
    """
    return _scatter(arms, metric, lambda run: run.cost_usd, "cost", "US$ a run")


def value_against_calls(arms: Mapping[str, Sequence[EvalResult]], metric: Metric) -> Markup:
    """Plot every arm's mean tool calls and metric, with its tasks as faint dots; empty without recorded calls."""
    if not any(run.measured and run.trace.tool_calls for runs in arms.values() for run in runs):
        return Markup()
    return _scatter(arms, metric, lambda run: run.trace.tool_count, "tool calls", "tool calls a run")


@page_style()
def _scatter(
    arms: Mapping[str, Sequence[EvalResult]],
    metric: Metric,
    spent: Callable[[EvalResult], float | None],
    name: str,
    axis: str,
) -> Markup:
    known = {arm: [r for r in runs if r.measured and spent(r) is not None] for arm, runs in arms.items()}
    known = {arm: runs for arm, runs in known.items() if runs}
    if not known:
        return Markup()
    below = LEGEND_ROW * len(known)
    height = HEIGHT + below
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(0.6 / WIDTH, (0.5 + below) / height, 1 - 0.1 / WIDTH, 1 - 0.3 / height)
    axes = figure.add_subplot()
    for drawn, (arm, runs) in enumerate(known.items()):
        colour, marker = SERIES[drawn % len(SERIES)], MARKERS[drawn // len(SERIES) % len(MARKERS)]
        tasks = by_task(runs).values()
        across = [fmean(spent(run) or 0.0 for run in of_task) for of_task in tasks]
        up = [fmean(metric_value(run, metric) for run in of_task) for of_task in tasks]
        axes.scatter(across, up, c=colour, marker=marker, s=12, alpha=0.35)
        axes.scatter([fmean(across)], [fmean(up)], c=colour, marker=marker, s=90, edgecolors=INK,
                     label=_short(arm), zorder=3)  # fmt: skip
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlim(left=-0.03 * axes.get_xlim()[1])  # a marker at 0 is not cut
    axes.set_xlabel(axis, color=INK, fontsize=8)
    axes.set_ylabel(metric_name(metric), color=INK, fontsize=8)
    axes.legend(
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        loc="upper left",
        # under the axis label, so that no marker of the legend reads as data
        bbox_to_anchor=(0, -0.5 / (HEIGHT - 0.8)),
        markerscale=0.7,
    )
    title = f"{name.capitalize()} and {metric_name(metric)} of each arm (large) and of its tasks (small)"
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.tick_params(colors=INK, labelsize=7)
    axes.xaxis.grid(color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    return inline_svg(figure, name.split()[-1], COLOURS, label=title)


def _short(name: str) -> str:
    """Cut the middle out of a long name; ids mostly differ at their ends."""
    half = NAME_CHARS // 2
    return name if len(name) <= NAME_CHARS else f"{name[:half]}…{name[1 - half :]}"
