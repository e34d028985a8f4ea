"""What do results look like? The differences of the tasks, and cost against score, as SVG in the page's colours."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from common.svg import inline_svg, page_style, stand_ins
from harness.compare.metrics import aggregate, by_arm, by_task
from harness.compare.verdicts import Comparison, Verdict
from harness.compare.wording import metric_name, points
from harness.models import EvalResult
from harness.statistics import paired_bootstrap

COLOURS = stand_ins(
    "var(--ink)",
    "var(--faint)",
    "var(--good)",
    "var(--bad)",
    "var(--accent)",
    "var(--series-2)",
    "var(--series-3)",
    "var(--series-4)",
)
INK, FAINT, GOOD, BAD, *SERIES = COLOURS

WIDTH = 7.2
"""Inches, as all sizes here."""
ROW = 0.19
LEGEND_ROW = 0.22
SCATTER_HEIGHT = 3.6
NAME_CHARS = 42


@page_style()
def paired_differences(comparison: Comparison) -> Markup:
    """Difference of every task, sorted, with the mean and its interval; the colour is the task's verdict."""
    per_task: dict[str, list[float]] = {}
    verdicts: dict[str, set[Verdict]] = {}
    for unit in comparison.decision.units:
        per_task.setdefault(unit.key.task_id, []).append(unit.difference)
        verdicts.setdefault(unit.key.task_id, set()).add(unit.verdict)
    means = {task: sum(values) / len(values) for task, values in per_task.items()}
    tasks = sorted(means, key=lambda task: (means[task], task))
    names = [_short(task) for task in tasks]
    figure, axes = _axes(1.1 + ROW * len(tasks), 0.2 + 0.062 * max(map(len, names)))
    values = [100 * means[task] for task in tasks]
    colours = [
        BAD if Verdict.REGRESSION in verdicts[t] else GOOD if Verdict.IMPROVEMENT in verdicts[t] else INK for t in tasks
    ]
    axes.hlines(range(len(tasks)), 0, values, colors=colours, linewidth=1.2)
    axes.scatter(values, range(len(tasks)), c=colours, s=16, zorder=3)
    axes.axvline(0, color=FAINT, linewidth=1)
    axes.axvline(100 * comparison.decision.difference, color=SERIES[0], linewidth=1.6)
    interval = paired_bootstrap(list(means.values()))
    if interval:
        axes.axvspan(100 * interval.low, 100 * interval.high, color=SERIES[0], alpha=0.15, linewidth=0)
    axes.set_yticks(range(len(tasks)), names)
    axes.set_ylim(-1, len(tasks))
    axes.set_xlabel(f"{metric_name(comparison.metric)}: {comparison.label_b} minus {comparison.label_a}, points")
    title = f"Difference of each task; the line is their mean, {points(comparison.decision.difference)}"
    return _finished(figure, axes, "differences", title)


@page_style()
def cost_against_score(results: Sequence[EvalResult]) -> Markup:
    """Mean cost and score of every config and model; faint dots are its tasks. Empty without any cost."""
    arms = {
        name: known
        for name, runs in by_arm(results).items()
        if (known := [run for run in runs if run.measured and run.cost_usd is not None])
    }
    if not arms:
        return Markup()
    figure, axes = _axes(SCATTER_HEIGHT, 0.6, LEGEND_ROW * len(arms))
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
    axes.legend(
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        loc="upper left",
        # under the axis label, so that no marker of the legend reads as data
        bbox_to_anchor=(0, -0.5 / (SCATTER_HEIGHT - 0.8)),
        markerscale=0.7,
    )
    return _finished(figure, axes, "cost", "Cost and score of each config (large) and of its tasks (small)")


def _axes(height: float, left: float, below: float = 0.0) -> tuple[Figure, Axes]:
    """A figure WIDTH wide, with room for names on its left and for a legend below."""
    height += below
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(left / WIDTH, (0.5 + below) / height, 1 - 0.1 / WIDTH, 1 - 0.3 / height)
    return figure, figure.add_subplot()


def _finished(figure: Figure, axes: Axes, name: str, title: str) -> Markup:
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    axes.tick_params(colors=INK, labelsize=7)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.grid(axis="x", color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    return inline_svg(figure, name, COLOURS, label=title)


def _short(name: str) -> str:
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
