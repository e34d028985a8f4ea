"""What do results look like? Differences of tasks, and cost and tool calls against the metric, as SVG for the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.compare.metrics import by_task
from harness.compare.verdicts import Comparison, Metric, Verdict
from harness.compare.wording import metric_name, points
from harness.models import EvalResult
from locobench.shared.svg import inline_svg, page_style, stand_ins

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
MARKERS = "osD^v"

WIDTH = 7.2
"""Inches, as all sizes here."""
ROW = 0.19
LEGEND_ROW = 0.22
SCATTER_HEIGHT = 3.6
WATERFALL_HEIGHT = 3.8
NAME_CHARS = 50
LONG_NAME_CHARS = 64
MOST_ROWS = 60
"""Tasks that get a row and a name each; more are drawn as a waterfall."""
NAMED = 5
"""Tasks at each end of a waterfall that are named."""


@page_style()
def task_differences(comparison: Comparison, name: str = "differences") -> Markup:
    """Difference of every task, sorted; the colour is the task's own verdict.

    Args:
        comparison: with a task at least.
        name: of the figure in its page.
    """
    per_task: dict[str, list[float]] = defaultdict(list)
    verdicts: dict[str, set[Verdict]] = defaultdict(set)
    for unit in comparison.decision.units:
        per_task[unit.key.task_id].append(unit.difference)
        verdicts[unit.key.task_id].add(unit.verdict)
    means = {task: 100 * fmean(values) for task, values in per_task.items()}
    tasks = sorted(means, key=lambda task: (means[task], task))
    colours = [
        BAD if Verdict.REGRESSION in verdicts[t] else GOOD if Verdict.IMPROVEMENT in verdicts[t] else INK for t in tasks
    ]
    draw = _rows if len(tasks) <= MOST_ROWS else _waterfall
    return draw(comparison, name, tasks, [means[task] for task in tasks], colours)


def _rows(
    comparison: Comparison, name: str, tasks: Sequence[str], values: Sequence[float], colours: Sequence[str]
) -> Markup:
    names = [_short(task) for task in tasks]
    figure, axes = _axes(1.1 + ROW * len(tasks), 0.2 + 0.056 * max(map(len, names)))
    axes.hlines(range(len(tasks)), 0, values, colors=colours, linewidth=1.2)
    axes.scatter(values, range(len(tasks)), c=colours, s=16, zorder=3)
    axes.axvline(0, color=FAINT, linewidth=1)
    axes.axvline(100 * comparison.decision.difference, color=SERIES[0], linewidth=1.6)
    interval = comparison.primary.interval if comparison.primary else None
    if interval:
        axes.axvspan(100 * interval.low, 100 * interval.high, color=SERIES[0], alpha=0.15, linewidth=0)
    axes.set_yticks(range(len(tasks)), names)
    axes.set_ylim(-1, len(tasks))
    axes.set_xlabel(_difference_label(comparison))
    title = f"Difference of each task; the line is their mean, {points(comparison.decision.difference)}"
    return _finished(figure, axes, name, title, grid="x")


def _waterfall(
    comparison: Comparison, name: str, tasks: Sequence[str], values: Sequence[float], colours: Sequence[str]
) -> Markup:
    figure, axes = _axes(WATERFALL_HEIGHT, 0.6)
    for colour in dict.fromkeys(colours):
        at = [place for place, own in enumerate(colours) if own == colour]
        tops = [values[place] for place in at]
        alpha = 0.5 if colour == INK else 1.0
        axes.vlines(at, 0, tops, colors=colour, alpha=alpha, linewidth=max(0.25, min(3.0, 450 / len(tasks))))
    axes.axhline(0, color=FAINT, linewidth=1)
    axes.axhline(100 * comparison.decision.difference, color=SERIES[0], linewidth=1.6)
    interval = comparison.primary.interval if comparison.primary else None
    if interval:
        axes.axhspan(100 * interval.low, 100 * interval.high, color=SERIES[0], alpha=0.15, linewidth=0)
    reach = 1.15 * max(1.0, *map(abs, values))
    axes.set_ylim(-reach, reach)
    axes.set_xlim(-0.02 * len(tasks), 1.02 * len(tasks))
    ends = [(task, value) for task, value in zip(tasks, values, strict=True)]
    losses = [f"{value:+.0f}  {_short(task, LONG_NAME_CHARS)}" for task, value in ends[:NAMED] if value < 0]
    wins = [f"{value:+.0f}  {_short(task, LONG_NAME_CHARS)}" for task, value in ends[: -NAMED - 1 : -1] if value > 0]
    # The bars rise from the lower left to the upper right, which leaves the other two corners free.
    for text, place, across, up in (
        (["largest losses", *losses], (0.02, 0.97), "left", "top"),
        (["largest wins", *wins], (0.98, 0.03), "right", "bottom"),
    ):
        if len(text) > 1:
            axes.text(
                *place, "\n".join(text), transform=axes.transAxes, ha=across, va=up, fontsize=7, color=INK,
                linespacing=1.35,
            )  # fmt: skip
    axes.set_ylabel(_difference_label(comparison))
    axes.set_xlabel(f"{len(tasks)} tasks, from the largest loss to the largest win")
    title = f"Difference of each task; the line is their mean, {points(comparison.decision.difference)}"
    return _finished(figure, axes, name, title, grid="y")


def _difference_label(comparison: Comparison) -> str:
    return f"{metric_name(comparison.metric)}: {_short(comparison.label_b)} minus {_short(comparison.label_a)}, points"


@page_style()
def value_against_cost(arms: Mapping[str, Sequence[EvalResult]], metric: Metric) -> Markup:
    """Mean cost and metric of every arm; faint dots are its tasks. Empty without any cost.

    Args:
        arms: name in the legend to runs; those without a known cost are left out.
        metric: of the runs.
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
    """Tool calls and metric of every run (small) and of each arm (large). Empty without a recorded transcript."""
    known = _having(arms, lambda run: run.trace.tool_count)
    if not any(run.trace.tool_calls for runs in known.values() for run in runs):
        return Markup()
    figure, axes = _axes(SCATTER_HEIGHT, 0.6, LEGEND_ROW * len(known))
    for drawn, (name, runs) in enumerate(known.items()):
        colour, marker = _look(drawn)
        calls, values = [run.trace.tool_count or 0 for run in runs], [_value(run, metric) for run in runs]
        axes.scatter(calls, values, c=colour, marker=marker, s=12, alpha=0.35)
        axes.scatter([fmean(calls)], [fmean(values)], c=colour, marker=marker, s=90, edgecolors=INK,
                     label=_short(name), zorder=3)  # fmt: skip
    axes.set_xlabel("tool calls of a run")
    title = f"Tool calls and {metric_name(metric)} of each run (small); means of the arms (large)"
    return _scattered(figure, axes, "calls", title, metric)


def _having(
    arms: Mapping[str, Sequence[EvalResult]], value: Callable[[EvalResult], float | None]
) -> dict[str, list[EvalResult]]:
    """The measured runs of each arm that recorded a value; arms without any are left out."""
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
    """A figure WIDTH wide, with room for names on its left and for a legend below."""
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
    """The name, without its middle when it is long: ids mostly differ at both ends."""
    half = limit // 2
    return name if len(name) <= limit else f"{name[:half]}…{name[1 - half :]}"
