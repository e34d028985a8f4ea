"""Where is B better, and how sure is that? The rows of a forest plot: all tasks first, then every group of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from matplotlib.ticker import MaxNLocator

from harness.compare.findings import Slice
from harness.compare.verdicts import Comparison, Verdict
from harness.compare.wording import metric_name
from harness.statistics import Interval

ROOM = 3.0
"""Half the axis, in multiples of the farther end of the total's interval; what reaches further gets an arrow."""
LEAST_REACH = 0.05
"""Half the axis is never shorter than this, so that noise of a point or two does not look like a landslide."""
TICKS = 4
MOST_ROWS = 12
"""Rows shown per dimension; if there are more groups, those with the smallest p-values are shown."""

Side = Literal["", "good", "bad"]
SIDES: dict[Verdict, Side] = {Verdict.IMPROVEMENT: "good", Verdict.REGRESSION: "bad"}


@dataclass(frozen=True)
class ForestRow:
    """One group of tasks, or all of them."""

    dimension: str
    """What groups the tasks, in words; empty for all tasks."""
    name: str
    tasks: int
    mean_a: float
    """Mean of the metric, or of the component, 0 to 1."""
    mean_b: float
    difference: float
    interval: Interval | None
    adjusted_p: float | None
    """Two-sided p-value, corrected for all groups; None for all tasks, whose p-value is the verdict's."""
    too_few: bool
    """Whether the interval covers the whole scale, or there is none."""
    side: Side
    """For all tasks, the side of the verdict; for a group, the side of 0 that its interval lies on."""


@dataclass(frozen=True)
class Forest:
    """A forest plot: its rows and their common axis."""

    rows: tuple[ForestRow, ...]
    reach: float
    """The axis goes from -reach to +reach."""
    ticks: tuple[float, ...]
    hidden: dict[str, int]
    """Number of groups not shown, by dimension."""
    groups: int
    """Number of all groups, shown or not; intervals and p-values are corrected for it."""

    def at(self, difference: float) -> float:
        """Return the position on the axis in percent of its width; what lies outside is put at its end."""
        return round(50 + 50 * max(-1.0, min(1.0, difference / self.reach)), 2)

    def cut(self, difference: float) -> bool:
        """Tell whether a difference lies outside the axis."""
        return abs(difference) > self.reach


def forest(comparison: Comparison) -> Forest | None:
    """Return the plot of a comparison; None when no task was measured in both arms."""
    primary = comparison.primary
    if primary is None:
        return None
    shown, hidden = _shown(comparison)
    rows = [
        ForestRow(
            dimension="",
            name="All tasks",
            tasks=primary.tasks,
            mean_a=primary.mean_a,
            mean_b=primary.mean_b,
            difference=primary.difference,
            interval=primary.interval,
            adjusted_p=None,
            too_few=False,
            side=SIDES.get(comparison.verdict, ""),
        ),
        *(
            ForestRow(
                dimension=_dimension(comparison, part.dimension),
                name=part.value,
                tasks=part.tasks,
                mean_a=part.mean_a,
                mean_b=part.mean_b,
                difference=part.difference,
                interval=part.interval,
                adjusted_p=part.adjusted_p,
                too_few=part.interval is None or (part.interval.low <= -1 and part.interval.high >= 1),
                side=_side(part.interval),
            )
            for part in shown
        ),
    ]
    whole = primary.interval or Interval(primary.difference, primary.difference)
    reach = min(1.0, max(LEAST_REACH, ROOM * max(abs(whole.low), abs(whole.high))))
    ticks = [float(tick) / 100 for tick in MaxNLocator(TICKS, symmetric=True).tick_values(-100 * reach, 100 * reach)]
    reach = min(1.0, max(ticks))
    ticks = [tick for tick in ticks if abs(tick) <= reach + 1e-9]
    return Forest(tuple(rows), reach, tuple(ticks), hidden, len(comparison.slices))


def _shown(comparison: Comparison) -> tuple[list[Slice], dict[str, int]]:
    """Return the groups that get a row, in order, and the number of others in each dimension."""
    by_dimension: dict[str, list[Slice]] = defaultdict(list)
    for part in comparison.slices:
        by_dimension[part.dimension].append(part)
    shown, hidden = [], {}
    for name, parts in by_dimension.items():
        kept = sorted(parts, key=lambda part: (part.p, -part.tasks))[:MOST_ROWS]
        shown += [part for part in parts if part in kept]
        if len(parts) > MOST_ROWS:
            hidden[_dimension(comparison, name)] = len(parts) - MOST_ROWS
    return shown, hidden


def _side(interval: Interval | None) -> Side:
    if interval is None or interval.low <= 0 <= interval.high:
        return ""
    return "good" if interval.low > 0 else "bad"


def _dimension(comparison: Comparison, name: str) -> str:
    """Return a dimension as a heading; `config_b` becomes `config in <B's name>`."""
    for suffix, label in (("_a", comparison.label_a), ("_b", comparison.label_b)):
        if name.endswith(suffix):
            return f"{metric_name(name[:-2])} in {label}"
    return "component of the score" if name == "component" else metric_name(name)
