"""Where is B better, and how sure is that? The rows of a forest plot: all tasks first, then every group of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from matplotlib.ticker import MaxNLocator

from harness.compare.verdicts import Comparison, Verdict
from harness.compare.wording import metric_name
from harness.statistics import Interval

ROOM = 1.5
"""Half the axis, in units of the largest point: an interval that reaches further is cut there and gets an arrow."""
LEAST_REACH = 0.05
"""Half the axis is never less, so that noise of a point or two does not look like a landslide."""
TICKS = 4

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
    """Of the metric, 0 to 1; of the component for a component."""
    mean_b: float
    difference: float
    interval: Interval | None
    adjusted_p: float | None
    """Two-sided, corrected for all groups; None for all tasks, whose p-value is the verdict's."""
    side: Side
    """Of all tasks: as the verdict has it; of a group: where its interval leaves 0 out."""


@dataclass(frozen=True)
class Forest:
    """A forest plot: rows, and the axis that they share."""

    rows: tuple[ForestRow, ...]
    reach: float
    """The axis goes from -reach to +reach."""
    ticks: tuple[float, ...]

    def at(self, difference: float) -> float:
        """Where on the axis, in percent of its width; what lies outside is put on its end."""
        return round(50 + 50 * max(-1.0, min(1.0, difference / self.reach)), 2)

    def cut(self, difference: float) -> bool:
        """Whether it lies outside of the axis."""
        return abs(difference) > self.reach

    @property
    def groups(self) -> int:
        """Number of groups, for which intervals and p-values are corrected."""
        return sum(bool(row.dimension) for row in self.rows)


def forest(comparison: Comparison) -> Forest | None:
    """The plot of a comparison; None when no task was measured in both arms."""
    primary = comparison.primary
    if primary is None:
        return None
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
                side=_side(part.interval),
            )
            for part in comparison.slices
        ),
    ]
    whole = primary.interval or Interval(0.0, 0.0)
    largest = max(*(abs(row.difference) for row in rows), abs(whole.low), abs(whole.high))
    reach = min(1.0, max(LEAST_REACH, ROOM * largest))
    ticks = [float(tick) / 100 for tick in MaxNLocator(TICKS, symmetric=True).tick_values(-100 * reach, 100 * reach)]
    reach = min(1.0, max(ticks))
    return Forest(tuple(rows), reach, tuple(tick for tick in ticks if abs(tick) <= reach + 1e-9))


def _side(interval: Interval | None) -> Side:
    if interval is None or interval.low <= 0 <= interval.high:
        return ""
    return "good" if interval.low > 0 else "bad"


def _dimension(comparison: Comparison, name: str) -> str:
    """A heading: `config_b` is the config in B, by B's name."""
    for suffix, label in (("_a", comparison.label_a), ("_b", comparison.label_b)):
        if name.endswith(suffix):
            return f"{metric_name(name[:-2])} in {label}"
    return "component of the score" if name == "component" else metric_name(name)
