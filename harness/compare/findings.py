"""What does a comparison hold beside its verdict? Records of slices, influence, cost and tool use."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.statistics import Interval


class Frozen(BaseModel):
    """Base of all records of a comparison."""

    model_config = ConfigDict(frozen=True)


class ArmLoss(Frozen):
    """What became of the runs of one arm."""

    planned: int
    """Runs it was to make, as far as that is known; else those that left a result."""
    lost: int
    """Runs that left no measurement, whatever the cause; `missing` are among them."""
    missing: int
    """Runs that a job was to make and that left no result."""
    ended: int
    """Measured runs that the agent did not complete: its time, turns or budget were up, or it gave up."""
    without_reward: int
    """Those of them that left nothing to score and count as 0."""

    @property
    def share(self) -> float:
        """Lost of the planned runs, 0 to 1."""
        return self.lost / self.planned if self.planned else 0.0


class Loss(Frozen):
    """Whether the runs that were lost leave room for a verdict."""

    a: ArmLoss
    b: ArmLoss
    p: float
    """Two-sided, of Fisher's exact test: are as many lost in one arm as in the other?"""
    cap: str = ""
    """Why no verdict can be given, as half a sentence; empty when one can."""
    worst: Interval | None = None
    """Interval of the difference had every lost run of B scored 0 and every one of A 1; None when none was lost."""
    best: Interval | None = None
    """The other way round."""


class Slice(Frozen):
    """The difference within one group of tasks, or in one component of the score."""

    dimension: str
    """What groups the tasks: category, language, ..., or `component`."""
    value: str
    tasks: int
    mean_a: float
    """Mean over the tasks, 0 to 1."""
    mean_b: float
    difference: float
    """B minus A, -1 to 1."""
    interval: Interval | None
    """All intervals of a comparison's slices together hold at its level (Student's t, Bonferroni); None below two
    clusters and where all differences are equal."""
    p: float
    """Two-sided, of the sign-flip test."""
    adjusted_p: float
    """The same after Holm's correction for all slices of the comparison."""


class Influence(Frozen):
    """A group of tasks without which the difference changes more than without random groups of its size."""

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
        """Whether the group makes the difference larger; else it makes it smaller or turns it."""
        return abs(self.within) > abs(self.without)


class ZeroCluster(Frozen):
    """A group whose runs of one arm scored 0 far more often than the rest of the arm and the other arm did."""

    arm: Literal["A", "B"]
    dimension: str
    value: str
    tasks: int
    zeros: int
    runs: int
    other_arm_zeros: int
    """Of the same tasks in the other arm."""
    other_arm_runs: int
    rest_zeros: int
    """Of the other tasks in the same arm."""
    rest_runs: int
    without: float
    """Mean difference of all other tasks, -1 to 1."""
    p: float
    """The larger of Fisher's one-sided p-values against the other arm and the rest, after Holm's correction."""


class TaskShares(Frozen):
    """How many tasks were better, the same or worse in B, by the mean of the metric."""

    better: int = 0
    same: int = 0
    worse: int = 0


class CostEffect(Frozen):
    """What the metric cost, over the tasks and runs whose cost was recorded in both arms."""

    tasks: int
    cost_a: float
    """US$ a run, mean over tasks."""
    cost_b: float
    per_dollar_a: float | None
    """Metric a US$: the mean of the metric (0 to 1) divided by the mean cost; None where that is 0."""
    per_dollar_b: float | None
    per_point: float | None
    """US$ a run that each further point of the metric takes, B against A; negative when B is better and cheaper,
    or worse and dearer. None where the difference of the metric is not clear of 0."""
    per_point_interval: Interval | None
    """Bootstrap interval of `per_point`, at the comparison's level."""


class ToolCount(Frozen):
    """How often one tool was called."""

    name: str
    calls: int
    runs: int
    """Runs that called it at least once."""


class ToolUse(Frozen):
    """Tool calls of an arm, over the measured runs whose calls were recorded."""

    runs: int
    calls: int
    tools: tuple[ToolCount, ...]
    """Most called first."""


class ToolAssociation(Frozen):
    """Do the tasks of B with more tool calls have a higher metric? Says nothing about cause and effect."""

    tools: tuple[str, ...]
    """Patterns of the tools counted; empty for all."""
    points: tuple[tuple[float, float], ...]
    """(calls a run, mean of the metric), one for each task."""
    rho: float
    """Spearman's rank correlation, -1 to 1."""
    p: float
    """Two-sided."""
