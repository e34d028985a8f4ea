"""Draw a selection as inline SVG: how the tasks are distributed, and which are selected.

matplotlib takes half a second to import, so import this module only when figures are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import matplotlib.style
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from locobench.selection.criteria import Candidate
from locobench.shared.svg import inline_svg, page_style, stand_ins

COLOURS = stand_ins("currentColor", "var(--failing)", "var(--passing)", "var(--selected)", "var(--paper)")
INK, FAILING, PASSING, SELECTED, PAPER = COLOURS
# Only the left and bottom axes, in the page's text colour.
AXES = {
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}

BARS = 100
# Scatter dots in the same cell are drawn once, which bounds the page's size and leaves the picture the same.
GRID = (900, 500)

Numbers = NDArray[np.float64]


class Groups(NamedTuple):
    """All tasks, each in exactly one group."""

    failing: list[Candidate]
    passing: list[Candidate]
    """Tasks that pass but are not selected."""
    selected: list[Candidate]


class Measure(NamedTuple):
    """A number that every task has, with its threshold."""

    name: str
    label: str
    """The axis title, with the unit."""
    of: Callable[[Candidate], int]
    threshold: int
    per_unit: int
    """The values are divided by this for the axis."""


def values_of(tasks: Iterable[Candidate], measure: Measure) -> Numbers:
    """Return the measure of each task, in their order."""
    return np.array([measure.of(task) for task in tasks], dtype=np.float64)


def draw_figures(groups: Groups, measures: Sequence[Measure]) -> dict[str, Markup]:
    """Return the figures as SVG by name: a histogram per measure, and a scatter plot of both."""
    with page_style(), matplotlib.style.context(AXES):
        figures = {measure.name: _histogram(groups, measure) for measure in measures}
        figures["scatter"] = _scatter(groups, *measures)
        return {name: _svg(figure, name) for name, figure in figures.items()}


def bars(groups: Sequence[Numbers], threshold: int) -> tuple[Numbers, list[Numbers]]:
    """Return the edges of a histogram's bars, and for each group of whole numbers the count in each bar.

    One edge is half a step above the threshold, so that no bar mixes failing and passing values.
    """
    most = max(np.max(values, initial=0) for values in groups)
    line, width = threshold + 0.5, max(1.0, float(np.ceil((max(most, threshold) + 1) / BARS)))
    first, last = np.ceil(line / width), max(1.0, np.ceil((most - line) / width))
    edges = line + width * np.arange(-first, last + 1)
    # Clip, because beyond 2**53 rounding may put the last edge below the largest value.
    return edges, [np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] for values in groups]


def _histogram(groups: Groups, measure: Measure) -> Figure:
    """Draw a histogram of all tasks and below it, on a scale of its own, one of the selected tasks."""
    edges, (failing, passing, selected) = bars([values_of(group, measure) for group in groups], measure.threshold)
    edges = edges / measure.per_unit

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    above.stairs(passing + selected, edges, fill=True, color=PASSING)
    above.stairs(passing + selected + failing, edges, baseline=passing + selected, fill=True, color=FAILING)
    below.stairs(selected, edges, fill=True, color=SELECTED)
    for axes, title in ((above, "tasks"), (below, "selected")):
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0, top=None if selected.any() or axes is above else 1)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5 if axes is above else 2, integer=True))
        axes.axvline(_line(measure), color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
        axes.xaxis.set_major_formatter("{x:,g}")
    above.set_xlim(edges[0], edges[-1])
    below.set_xlabel(measure.label)
    _label_threshold(above, measure)
    return figure


def _scatter(groups: Groups, horizontal: Measure, vertical: Measure) -> Figure:
    """Draw all tasks by both measures, the selected ones as diamonds on top."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    points = [
        np.column_stack([values_of(group, measure) / measure.per_unit for measure in (horizontal, vertical)])
        for group in groups
    ]
    lines = np.array([_line(horizontal), _line(vertical)])
    limits = np.max(np.concatenate([*points, [lines]]), axis=0) * 1.03
    failing, passing, selected = (_thin(group, limits) for group in points)
    for dots, colour in ((failing, FAILING), (passing, PASSING)):
        # A stroke of zero length with round ends is a dot and takes a fifth of a marker's bytes.
        path = Path(np.repeat(dots, 2, axis=0), [Path.MOVETO, Path.LINETO] * len(dots))
        axes.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=2.2, capstyle="round"))
    axes.plot(*selected.T, "D", color=SELECTED, markersize=5, markeredgecolor=PAPER, markeredgewidth=0.6)
    axes.axvline(lines[0], color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
    axes.axhline(lines[1], color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
    axes.set(xlim=(0, limits[0]), ylim=(0, limits[1]), xlabel=horizontal.label, ylabel=vertical.label)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_major_formatter("{x:,g}")
    _label_threshold(axes, horizontal)
    return figure


def _thin(points: Numbers, limits: Numbers) -> Numbers:
    """Keep the first point in each cell of GRID."""
    _, first = np.unique((points / limits * GRID).astype(np.int64), axis=0, return_index=True)
    return points[np.sort(first)]


def _line(measure: Measure) -> float:
    """Return the position of the threshold line: between its value, which fails, and the next, which passes."""
    return (measure.threshold + 0.5) / measure.per_unit


def _label_threshold(axes: Axes, measure: Measure) -> None:
    """Label the threshold line above the plot, on the side that has room."""
    left, right = axes.get_xlim()
    axes.annotate(
        f"over {measure.threshold:,}",
        (_line(measure), 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="left" if _line(measure) <= (left + right) / 2 else "right",
        color=INK,
        fontsize=9,
    )


def _svg(figure: Figure, name: str) -> Markup:
    """Return the figure as an <svg> element. Selected marks share a class: thousands would each repeat their style."""
    drawing = inline_svg(figure, name, COLOURS)
    return Markup(re.sub(rf'style="fill: {re.escape(COLOURS[SELECTED])}; [^"]*"/>', 'class="mark"/>', drawing))
