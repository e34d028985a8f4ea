"""What does a comparison hold besides its verdict? Records of loss, differences and headroom."""

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
    """By how much B differs from A: means over tasks, and the mean of the tasks' differences."""

    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    """B minus A."""
    interval: Interval | None
    """All differences that the sign-flip test does not reject; None where nothing moved, and with too few tasks or
    repositories to reject anything."""
    p: float = 1.0
    """Two-sided p-value of that test."""
    adjusted_p: float = 1.0
    """After Holm's correction for the rows of the same table."""

    @property
    def changed(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


class Measure(Difference):
    """The pass rate, the score, what a run needed, or how it reached the files of the answer."""

    name: str
    unit: str
    relative: bool = False
    """Whether `difference` and `interval` are shares of A's value: -0.31 is 31 % less. The difference is then that of
    the geometric means."""
    zeros: int = 0
    """Tasks left out of a relative difference, since an arm's mean is 0."""


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
    """The difference of the metric, -1 to 1, within one group of tasks."""

    dimension: str
    """What groups the tasks: category, language, ..."""
    value: str

    @property
    def too_few(self) -> bool:
        """Whether no outcome of so few tasks could be called, or any value of the scale is possible."""
        interval = self.interval
        return abs(self.difference) > TIE and (interval is None or (interval.low <= -1 and interval.high >= 1))
