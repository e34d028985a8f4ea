"""What does a comparison hold besides its verdict? Records of loss, differences, cost, headroom and tool use."""

from __future__ import annotations

from measure.statistics.estimates import TIE, Interval
from measure.summary.metrics import Frozen


class ArmLoss(Frozen):
    """How many runs of one arm were lost or cut short."""

    planned: int
    """Number of runs planned, if known; else the number that left a result."""
    lost: int
    """Runs without a measurement, whatever the cause; includes `missing`."""
    missing: int
    """Planned runs of a job that left no result."""
    ended: int
    """Measured runs that the agent did not complete: it ran out of time, turns or budget, or gave up."""
    without_reward: int
    """How many of `ended` left nothing to score and count as 0."""

    @property
    def share(self) -> float:
        """Share of the planned runs that were lost, 0 to 1."""
        return self.lost / self.planned if self.planned else 0.0


class Loss(Frozen):
    """Whether the runs that were lost leave room for a verdict."""

    a: ArmLoss
    b: ArmLoss
    p: float
    """Two-sided p-value of Fisher's exact test: do the arms lose runs equally often?"""
    cap: str = ""
    """Why no verdict can be given, as a clause; empty when one can."""
    worst: float | None = None
    """Difference with B's lost runs at 0 and A's at 1; None when none was lost."""


class Difference(Frozen):
    """A quantity in both arms: means over the tasks, and the mean of the per-task differences."""

    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    """B minus A."""
    interval: Interval | None


class MetricDifference(Difference):
    """The pass rate or the score."""

    name: str
    unit: str
    p: float
    """Two-sided p-value of the sign-flip test."""


class CostRatio(Frozen):
    """What B needed as a multiple of what A needed: tokens, dollars, seconds, turns or tool calls."""

    name: str
    unit: str
    tasks: int
    """Tasks whose mean is known and above 0 in both arms; the ratio is about them."""
    zeros: int
    """Tasks left out because an arm's mean is 0."""
    mean_a: float
    """Mean over all tasks with a known value in both arms, a run."""
    mean_b: float
    ratio: float | None
    """Geometric mean over tasks of B's mean divided by A's; None without tasks."""
    interval: Interval | None
    """All ratios that the sign-flip test of the logarithms does not reject, at the level of Holm's procedure."""
    p: float = 1.0
    """Two-sided p-value of that test."""
    adjusted_p: float = 1.0
    """After Holm's correction for the quantities of the comparison."""

    @property
    def changed(self) -> bool:
        """Whether the interval excludes 1."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


class ReachDifference(Difference):
    """How the agent reached the files that the answer names: a mean over tasks whose key names files."""

    name: str
    unit: str
    p: float = 1.0
    """Two-sided p-value of the sign-flip test."""
    adjusted_p: float = 1.0
    """After Holm's correction for the rows of the table."""

    @property
    def changed(self) -> bool:
        """Whether the interval, at the level of Holm's procedure, excludes 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


class Headroom(Frozen):
    """How much a set of tasks can show, given how the arms did on it."""

    tasks: int
    always_a: int
    """Tasks that A solved in every run."""
    never_a: int
    """Tasks that A solved in none."""
    always_b: int
    never_b: int
    rise: float
    """The largest rise of the metric that the tasks can show, 0 to 1: from A's mean to 1."""
    fall: float
    finds_rise: float | None
    """The rise that the design finds with 80 % probability; None where no possible rise is found that often."""
    finds_fall: float | None


class Slice(Difference):
    """The difference of the metric, -1 to 1, within one group of tasks.

    `interval` is what the sign-flip test does not reject at the level that Holm's procedure gives the group; None where
    nothing moved, and with too few tasks or repositories to reject anything.
    """

    dimension: str
    """What groups the tasks: category, language, ..."""
    value: str
    p: float
    """Two-sided p-value of the sign-flip test."""
    adjusted_p: float = 1.0
    """`p` after Holm's correction for all slices of the comparison."""

    @property
    def too_few(self) -> bool:
        """Whether no outcome of so few tasks could be called, or any value of the scale is possible."""
        interval = self.interval
        return abs(self.difference) > TIE and (interval is None or (interval.low <= -1 and interval.high >= 1))


class TaskShares(Frozen):
    """How many tasks were better, the same or worse in B, by the mean of the metric."""

    better: int = 0
    same: int = 0
    worse: int = 0
