"""Draw a selection as inline SVG: all tasks by context length and file count, the selected ones on top.

matplotlib takes half a second to import, so import this module only when a figure is asked for.
"""

from __future__ import annotations

import re
from typing import Generic, NamedTuple, TypeVar

import matplotlib.style
import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from locobench.selection.criteria import Candidate, Criteria
from locobench.shared.svg import inline_svg, page_style, stand_ins

COLOURS = stand_ins("currentColor", "var(--failing)", "var(--passing)", "var(--selected)", "var(--paper)")
INK, FAILING, PASSING, SELECTED, PAPER = COLOURS
# Only the left and bottom axes, in the page's text colour.
AXES = {
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}
# Dots in the same cell are drawn once, which bounds the page's size and leaves the picture the same.
GRID = (900, 500)


T = TypeVar("T")


class Groups(NamedTuple, Generic[T]):
    """What holds for the tasks of each of three groups; every task is in exactly one."""

    failing: T
    passing: T
    """Of tasks that pass but are not selected."""
    selected: T


def scatter(groups: Groups[list[Candidate]], criteria: Criteria) -> Markup:
    """Return all tasks by context length and file count as an <svg> element, the selected ones as diamonds."""
    # The lines lie between their thresholds, which fail, and the next values, which pass.
    lines = np.array([(criteria.min_context_length + 0.5) / 1000, criteria.min_files_count + 0.5])
    points = [
        np.array([[task.context_length / 1000, task.files_count] for task in group], dtype=np.float64).reshape(-1, 2)
        for group in groups
    ]
    limits = np.max(np.concatenate([*points, [lines]]), axis=0) * 1.03
    cells = [np.unique((group / limits * GRID).astype(np.int64), axis=0, return_index=True)[1] for group in points]
    failing, passing, selected = (group[np.sort(first)] for group, first in zip(points, cells, strict=True))
    with page_style(), matplotlib.style.context(AXES):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        axes = figure.subplots()
        for dots, colour in ((failing, FAILING), (passing, PASSING)):
            # A stroke of zero length with round ends is a dot and takes a fifth of a marker's bytes.
            path = Path(np.repeat(dots, 2, axis=0), [Path.MOVETO, Path.LINETO] * len(dots))
            axes.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=2.2, capstyle="round"))
        axes.plot(*selected.T, "D", color=SELECTED, markersize=5, markeredgecolor=PAPER, markeredgewidth=0.6)
        axes.axvline(lines[0], color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
        axes.axhline(lines[1], color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
        axes.set(xlim=(0, limits[0]), ylim=(0, limits[1]))
        axes.set(xlabel="context length, thousand characters", ylabel="context files")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.xaxis.set_major_formatter("{x:,g}")
        drawing = inline_svg(figure, "scatter", COLOURS)
    # Selected marks share a class: thousands would each repeat their style.
    return Markup(re.sub(rf'style="fill: {re.escape(COLOURS[SELECTED])}; [^"]*"/>', 'class="mark"/>', drawing))
