"""Where is B better, and how sure is that? The rows of a forest plot: all tasks first, then every group of them."""

from __future__ import annotations

from dataclasses import dataclass

from measure.compare.verdicts import Comparison, Difference, Slice
from measure.report.grids import TONES, Tone, side_of
from measure.statistics.estimates import Interval
from measure.summary.wording import metric_name

ROOM = 3.0
"""Half the axis, in multiples of the farther end of the total's interval; what reaches further gets an arrow."""
LEAST_REACH = 0.05
"""Half the axis is never shorter than this, so that noise of a point or two does not look like a landslide."""
STEPS = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Distances between two ticks; the axis has two ticks on either side of 0."""


@dataclass(frozen=True)
class Forest:
    """A forest plot: its rows and their common axis."""

    comparison: Comparison
    rows: tuple[Slice, ...]
    """All tasks, as a slice without a dimension, then every group."""
    reach: float
    """The axis goes from -reach to +reach."""
    ticks: tuple[float, ...]

    def at(self, difference: float) -> float:
        """Return the position on the axis in percent of its width; values beyond the axis are at its end."""
        return round(50 + 50 * max(-1.0, min(1.0, difference / self.reach)), 2)

    def is_beyond(self, difference: float) -> bool:
        """Return whether a difference is beyond the axis."""
        return abs(difference) > self.reach

    def side(self, row: Slice) -> Tone:
        """Return the side of the verdict for all tasks; for a group, that of its interval."""
        verdict = self.comparison.verdict
        return side_of(row) if row.dimension else TONES[verdict] if verdict.decided else ""

    def heading(self, dimension: str) -> str:
        """Return a dimension in words; `config_b` becomes `config in <B's name>`."""
        for suffix, label in (("_a", self.comparison.label_a), ("_b", self.comparison.label_b)):
            if dimension.endswith(suffix):
                return f"{metric_name(dimension[:-2])} in {label}"
        return metric_name(dimension)


def forest(comparison: Comparison) -> Forest | None:
    """Return the plot of a comparison; None when no task was measured in both arms."""
    primary = comparison.primary
    if primary is None:
        return None
    numbers = {name: getattr(primary, name) for name in Difference.model_fields}
    total = Slice(**numbers | {"adjusted_p": comparison.adjusted_p}, dimension="", value="All tasks")
    whole = primary.interval or Interval(primary.difference, primary.difference)
    reach = max(LEAST_REACH, ROOM * max(abs(whole.low), abs(whole.high)))
    step = next((step for step in STEPS if 2 * step >= reach), STEPS[-1])
    return Forest(comparison, (total, *comparison.slices), 2 * step, tuple(step * n for n in range(-2, 3)))
