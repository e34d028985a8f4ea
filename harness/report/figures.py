"""The figures of a report as SVG that follows the page's colours; none when matplotlib is not installed."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.compare.metrics import aggregate, by_arm, by_task
from harness.compare.verdicts import Comparison, Verdict
from harness.models import EvalResult
from harness.statistics import paired_bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = "No figures: matplotlib is not installed (pip install 'locobench-harbor[figures]')."

CSS_COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--faint)",
    "#030303": "var(--good)",
    "#040404": "var(--bad)",
    "#050505": "var(--accent)",
    "#060606": "var(--series-2)",
    "#070707": "var(--series-3)",
    "#080808": "var(--series-4)",
}
"""Colours that matplotlib draws with, and the page's variables that take their place."""
INK, FAINT, GOOD, BAD, *SERIES = CSS_COLOURS

WIDTH = 7.2
ROW_INCHES = 0.19
LEGEND_ROW_INCHES = 0.22
NAME_CHARS = 42


def available() -> bool:
    """Whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def paired_differences(comparison: Comparison) -> str:
    """Difference of every task, sorted, with the mean and its interval; the colour is the task's verdict."""
    per_task: dict[str, list[float]] = {}
    verdicts: dict[str, set[Verdict]] = {}
    for unit in comparison.decision.units:
        per_task.setdefault(unit.key.task_id, []).append(unit.difference)
        verdicts.setdefault(unit.key.task_id, set()).add(unit.verdict)
    means = {task: sum(values) / len(values) for task, values in per_task.items()}
    tasks = sorted(means, key=lambda task: (means[task], task))
    names = [_short(task) for task in tasks]
    figure, axes = _axes(1.1 + ROW_INCHES * len(tasks), 0.2 + 0.062 * max(map(len, names)))
    values = [100 * means[task] for task in tasks]
    colours = [
        BAD if Verdict.REGRESSION in verdicts[t] else GOOD if Verdict.IMPROVEMENT in verdicts[t] else INK for t in tasks
    ]
    axes.hlines(range(len(tasks)), 0, values, colors=colours, linewidth=1.2)
    axes.scatter(values, range(len(tasks)), c=colours, s=16, zorder=3)
    axes.axvline(0, color=FAINT, linewidth=1)
    mean = 100 * comparison.decision.difference
    axes.axvline(mean, color=SERIES[0], linewidth=1.6)
    interval = paired_bootstrap(list(means.values()))
    if interval:
        axes.axvspan(100 * interval.low, 100 * interval.high, color=SERIES[0], alpha=0.15, linewidth=0)
    axes.set_yticks(range(len(tasks)), names)
    axes.set_ylim(-1, len(tasks))
    axes.set_xlabel(f"{comparison.metric.replace('_', ' ')}: {comparison.label_b} minus {comparison.label_a}, points")
    return _svg(figure, axes, f"Difference of each task; the line is their mean, {mean:+.1f} points")


def cost_against_score(results: Sequence[EvalResult]) -> str:
    """Mean cost and score of every config and model; faint dots are its tasks. Empty without any cost."""
    arms = {
        name: known
        for name, runs in by_arm(results).items()
        if (known := [run for run in runs if run.measured and run.cost_usd is not None])
    }
    if not arms:
        return ""
    figure, axes = _axes(3.6, 0.6, LEGEND_ROW_INCHES * len(arms))
    for drawn, ((config, model), known) in enumerate(arms.items()):
        colour, marker = SERIES[drawn % len(SERIES)], "osD^v"[drawn // len(SERIES) % 5]
        dots = [(m.avg_cost or 0.0, m.avg_score) for m in map(aggregate, by_task(known).values())]
        costs, scores = [cost for cost, _ in dots], [score for _, score in dots]
        axes.scatter(costs, scores, c=colour, marker=marker, s=12, alpha=0.35)
        whole = aggregate(known)
        axes.scatter(
            [whole.avg_cost or 0.0], [whole.avg_score], c=colour, marker=marker, s=90, edgecolors=INK,
            label=_short(f"{config} | {model}"), zorder=3,
        )  # fmt: skip
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlim(left=0)
    axes.set_xlabel("US$ a run")
    axes.set_ylabel("score")
    below = -0.5 / (3.6 - 0.8)  # under the axis label, so that no marker of the legend reads as data
    axes.legend(
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        loc="upper left",
        bbox_to_anchor=(0, below),
        markerscale=0.7,
    )
    return _svg(figure, axes, "Cost and score of each config (large) and of its tasks (small)")


def _axes(height: float, left: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """A figure WIDTH wide, with room for names on its left and for a legend below; all in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["text.parse_math"] = False  # a task may have a $ in its name
    height += below
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(left / WIDTH, (0.5 + below) / height, 1 - 0.1 / WIDTH, 1 - 0.3 / height)
    return figure, figure.add_subplot()


def _svg(figure: Figure, axes: Axes, title: str) -> str:
    import matplotlib

    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.tick_params(colors=INK, labelsize=7)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.set_facecolor("none")
    axes.grid(axis="x", color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    figure.patch.set_alpha(0)
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for drawn, css in CSS_COLOURS.items():
        svg = svg.replace(drawn, css)
    return svg.replace("<svg", '<svg role="img"', 1)


def _short(name: str) -> str:
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
