"""The tables of a comparison: a terminal, Markdown and the page show the same rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from measure.compare.verdicts import ArmsComparison, Comparison, Difference, Measure, UnitComparison, Verdict
from measure.compare.wording import arm_values, change_interval, change_text, interval_text, measure_name, value_text
from measure.summary.wording import LEVEL, UNKNOWN, cost_text, metric_name, p_text, percent, points

Tone = Literal["", "good", "bad", "equal", "doubt", "clear"]
TONES: dict[Verdict, Tone] = {
    Verdict.IMPROVEMENT: "good",
    Verdict.REGRESSION: "bad",
    Verdict.AS_GOOD: "equal",
    Verdict.NO_EVIDENCE: "",
    Verdict.NOT_ENOUGH_DATA: "doubt",
}


@dataclass(frozen=True)
class Row:
    """A row of a grid."""

    cells: tuple[str, ...]
    tone: Tone = ""
    """How the grid's marked cell stands out; `clear` is a change that is neither good nor bad."""
    hint: str = ""
    """What the first cell means, such as a unit."""


@dataclass(frozen=True)
class Grid:
    """A table of text; all columns but the first hold numbers."""

    title: str
    columns: tuple[str, ...]
    """Headings; the first one is empty where the title says what the rows are."""
    marked: int
    """Column of the cells that stand out."""
    rows: tuple[Row, ...]

    def kind(self, at: int, tone: Tone = "") -> str:
        """Return the CSS classes of a cell: `n` for numbers, `wide` for what a phone does not show, and its tone."""
        wide = self.columns[at] in ("p (Holm)", "tasks", "level")
        return " ".join(filter(None, ("n" if at else "", "wide" if wide else "", tone if at == self.marked else "")))


def metrics_grid(comparison: Comparison) -> Grid:
    """Show both metrics in both arms, with the difference and its interval at the level of the comparison."""
    level = f"{100 * comparison.confidence:.3g} %"
    columns = ("", comparison.label_a, comparison.label_b, "difference", level, "tasks")
    return Grid("Means over tasks", columns, 3, tuple(_measure_row(m, p=False) for m in comparison.metrics))


def costs_grid(comparison: Comparison) -> Grid:
    """Show what a run needed in both arms, with the change and its interval after Holm's correction."""
    return _measures_grid("A run needed", "change", comparison, comparison.costs)


def reach_grid(comparison: Comparison) -> Grid:
    """Show how both arms reached the files that the answers name, likewise."""
    return _measures_grid("Finding the files of the answer", "difference", comparison, comparison.reach)


def _measures_grid(title: str, change: str, comparison: Comparison, measures: Sequence[Measure]) -> Grid:
    columns = ("", comparison.label_a, comparison.label_b, change, f"{LEVEL} (Holm)", "p (Holm)", "tasks")
    return Grid(title, columns, 3, tuple(map(_measure_row, measures)))


def _measure_row(m: Measure, *, p: bool = True) -> Row:
    cells = (measure_name(m.name), value_text(m.name, m.mean_a), value_text(m.name, m.mean_b), change_text(m))
    corrected = (p_text(m.adjusted_p),) if p else ()
    called = m.changed and not (m.uneven or m.against_means)
    tone: Tone = "" if not called else "clear" if not m.relative else "good" if m.difference < 0 else "bad"
    return Row((*cells, change_interval(m), *corrected, str(m.tasks)), tone, m.unit)


def groups_grid(comparison: Comparison) -> Grid:
    """Show the difference in each group, with interval and p-value after Holm's correction."""
    rows = []
    for s in comparison.slices:
        difference = (points(s.difference), interval_text(s.interval), p_text(s.adjusted_p))
        rows.append(Row((metric_name(s.dimension), s.value, str(s.tasks), *difference), side_of(s)))
    return Grid("By group", ("", "group", "tasks", "difference", f"{LEVEL} (Holm)", "p (Holm)"), 3, tuple(rows))


def side_of(difference: Difference) -> Tone:
    """Return the side on which the interval of a difference lies."""
    return "" if not difference.changed else "good" if difference.difference > 0 else "bad"


def tasks_grid(comparison: Comparison, units: Sequence[UnitComparison]) -> Grid:
    """Show tasks in both arms, with difference, p before and after correction, and the verdict on each alone."""
    rows = []
    for u in units:
        alone = (p_text(u.p.smaller), p_text(u.adjusted.smaller), str(u.verdict) if u.verdict.decided else "")
        rows.append(Row((str(u.key), *arm_values(u), points(u.difference), *alone), TONES[u.verdict]))
    columns = ("task", comparison.label_a, comparison.label_b, "difference", "p", "adjusted p", "alone")
    return Grid("Tasks", columns, 6, tuple(rows))


def arms_grid(found: ArmsComparison) -> Grid:
    """Show each arm's metric, cost and number of tasks."""
    rows = []
    for label, level in found.arms.items():
        known = (percent(level.mean), cost_text(level.cost), str(level.tasks)) if level else (UNKNOWN, UNKNOWN, "0")
        rows.append(Row((label, *known)))
    return Grid("Arms", ("", metric_name(found.metric), "cost/run", "tasks"), 0, tuple(rows))


def pairs_grid(found: ArmsComparison) -> Grid:
    """Show the difference between each two arms: against the first, then the others against each other."""
    rows = []
    for pair in (*found.comparisons, *found.between):
        primary = pair.primary
        difference = (points(primary.difference), interval_text(primary.interval)) if primary else (UNKNOWN, UNKNOWN)
        corrected = (f"{100 * pair.confidence:.3g} %", p_text(pair.adjusted_p))
        cells = (f"{pair.label_b} against {pair.label_a}", *difference, str(pair.verdict), *corrected)
        rows.append(Row(cells, TONES[pair.verdict]))
    columns = ("", "points", "interval", "verdict", "level", "p (Holm)")
    return Grid("Each against each", columns, 3, tuple(rows))
