"""What does a trend look like? One page with a line over the jobs, and tables of them and of the tasks that moved."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from harness.compare.trend import Trend, slope_sentence
from harness.compare.wording import LEVEL
from harness.report.environment import template_environment
from locobench.shared.svg import inline_svg, page_style, stand_ins

INK, FAINT, LINE = COLOURS = stand_ins("var(--ink)", "var(--faint)", "var(--accent)")


def render(trend: Trend) -> str:
    """The whole page."""
    template = template_environment(is_page=True).get_template("trend.html.j2")
    return template.render(trend=trend, figure=means_over_time(trend), slope=slope_sentence(trend))


@page_style()
def means_over_time(trend: Trend) -> Markup:
    """Mean reward of each job with its interval, jobs in the order of time."""
    known = [(at, point) for at, point in enumerate(trend.points) if point.mean is not None]
    figure = Figure(figsize=(7.2, 3.2))
    axes = figure.add_subplot()
    places, means = [at for at, _ in known], [100 * (point.mean or 0.0) for _, point in known]
    axes.plot(places, means, color=LINE, marker="o", markersize=4, linewidth=1.6)
    for at, point in known:
        if point.interval:
            axes.vlines(at, 100 * point.interval.low, 100 * point.interval.high, color=LINE, linewidth=1)
    axes.set_ylim(-3, 103)
    axes.set_xticks(range(len(trend.points)), [str(number) for number in range(1, len(trend.points) + 1)])
    axes.set_xlabel("job, in the order of time", color=INK)
    axes.set_ylabel("mean reward, %", color=INK)
    axes.tick_params(colors=INK, labelsize=7)
    axes.grid(axis="y", color=FAINT, linewidth=0.4)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    title = f"Mean reward of each job with its {LEVEL} interval"
    axes.set_title(title, fontsize=9, color=INK, loc="left")
    figure.tight_layout()
    return inline_svg(figure, "trend", COLOURS, label=title)
