"""What does a comparison hold besides its verdict? Records of loss, differences, influence, cost and tool use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from measure.statistics.estimates import Interval
from measure.statistics.significance import OneSided


class Frozen(BaseModel):
    """Base of all records of a comparison."""

    model_config = ConfigDict(frozen=True)


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
    worst: Interval | None = None
    """Interval of the difference with B's lost runs at 0 and A's at 1; None when none was lost."""
    best: Interval | None = None
    """The same with B's lost runs at 1 and A's at 0."""


class Difference(Frozen):
    """A quantity in both arms: means over the tasks, and the mean of the per-task differences."""

    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    """B minus A."""
    interval: Interval | None


class MetricDifference(Difference):
    """One of pass_rate, score, tokens, cost, time, turns; `interval` is about tasks like these."""

    name: str
    unit: str
    p: OneSided

    @property
    def relative(self) -> float | None:
        """Difference as a share of A's mean; None when that mean is 0."""
        return self.difference / self.mean_a if self.mean_a else None


class Slice(Difference):
    """The difference of the metric, -1 to 1, within one group of tasks.

    `interval` is Student's t; with Bonferroni's correction, all slices together hold at the comparison's level. None
    below two clusters and where all differences are equal.
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
        """Whether the interval covers the whole scale, or a group has none."""
        return bool(self.dimension) and (self.interval is None or (self.interval.low <= -1 and self.interval.high >= 1))


class Influence(Frozen):
    """A group of tasks that changes the difference more than random groups of its size do."""

    dimension: str
    value: str
    tasks: int
    within: float
    """Mean difference of the group, -1 to 1."""
    without: float
    """Mean difference of all other tasks."""
    verdict_without: str
    p: float
    """Share of random groupings with a group as extreme as this one, corrected for the number of dimensions."""

    @property
    def carries(self) -> bool:
        """Whether the group enlarges the difference rather than shrinking or reversing it."""
        return abs(self.within) > abs(self.without)


class TaskShares(Frozen):
    """How many tasks were better, the same or worse in B, by the mean of the metric."""

    better: int = 0
    same: int = 0
    worse: int = 0


class CostEffect(Frozen):
    """What the metric cost, over the tasks whose cost was recorded in both arms."""

    tasks: int
    cost_a: float
    """US$ a run, mean over tasks."""
    cost_b: float
    per_point: float | None
    """US$ a run for each point of the metric that B gains over A; negative when B is better and cheaper, or worse
    and dearer. None where the difference of the metric is not clear of 0."""
    per_point_interval: Interval | None
    """Bootstrap interval of `per_point`, at the comparison's level."""


class ToolCount(Frozen):
    """How often one tool was called."""

    name: str
    calls: int
    runs: int
    """Runs that called it at least once."""
    failed: int = 0
    """Calls that the tool answered with an error."""
    seconds: float | None = None
    """Mean seconds from call to result, over the calls whose times were recorded."""


class ToolUse(Frozen):
    """Tool calls of an arm, over the measured runs whose calls were recorded."""

    runs: int
    calls: int
    tools: tuple[ToolCount, ...]
    """Most called first."""
