"""When does a difference count? Verdicts over tasks in two arms, and the records a comparison is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from math import comb, prod
from statistics import fmean
from typing import Literal, NamedTuple

from harness import statistics
from harness.compare.findings import (
    CostEffect,
    Frozen,
    Influence,
    Slice,
    TaskShares,
    ToolAssociation,
    ToolUse,
    ZeroCluster,
)
from harness.statistics import Interval, OneSided

SUITE_ALPHA = 0.035
"""Level of the one-sided test over all tasks ..."""
TASK_Q = 0.01
"""... and false discovery rate over single tasks: in all at most 5 % of unchanged agents are called worse."""
SUSPECT_P = 0.05
"""Unadjusted p-value under which a task is worth more runs (`confirm`), though it proves nothing."""

Metric = Literal["pass_rate", "score"]
MetricChoice = Literal["auto", "pass_rate", "score"]
"""What a user asks for; `auto` is decided by the results (`harness.compare.metrics.resolve_metric`)."""


class Verdict(StrEnum):
    """What the results say about B, compared with A."""

    IMPROVEMENT = "improvement"
    REGRESSION = "regression"
    NO_EVIDENCE = "no evidence"
    """The design could have shown a difference, and did not."""
    NOT_ENOUGH_DATA = "not enough data"
    """Nothing short of every run changing could have shown a difference, or too many runs were lost."""

    @property
    def decided(self) -> bool:
        """Whether it says that something changed."""
        return self in (Verdict.IMPROVEMENT, Verdict.REGRESSION)


class UnitKey(NamedTuple):
    """What is compared with itself: a task, and config and model where both arms have the same ones."""

    task_id: str
    config: str = ""
    model: str = ""

    def __str__(self) -> str:
        return " | ".join(part for part in self if part)


def readable(keys: Iterable[UnitKey]) -> dict[UnitKey, str]:
    """A name for each key, without the config or model that all of them have."""
    listed = list(keys)
    kept = [0, *(at for at in (1, 2) if len({key[at] for key in listed}) > 1)]
    return {key: " | ".join(key[at] for at in kept if key[at]) for key in listed}


class UnitComparison(Frozen):
    """One task in both arms."""

    key: UnitKey
    metric: Metric = "pass_rate"
    scores_a: tuple[float, ...]
    """Score of every measured run, 0 to 1."""
    scores_b: tuple[float, ...]
    passed_a: int
    passed_b: int
    difference: float
    """B minus A of the metric, -1 to 1."""
    p: OneSided
    adjusted: OneSided = OneSided(1.0, 1.0, 1.0)
    """After correction for the number of tasks; verdicts rest on this."""
    verdict: Verdict = Verdict.NO_EVIDENCE
    groups: dict[str, str] = {}
    """Category, language and so on, to find out whether the verdict depends on one of them."""

    @property
    def rate_a(self) -> float:
        """Pass rate in A, 0 to 1."""
        return self.passed_a / len(self.scores_a)

    @property
    def rate_b(self) -> float:
        """Pass rate in B, 0 to 1."""
        return self.passed_b / len(self.scores_b)

    @property
    def mean_a(self) -> float:
        """Mean of the metric in A, 0 to 1."""
        return self.rate_a if self.metric == "pass_rate" else fmean(self.scores_a)

    @property
    def mean_b(self) -> float:
        """Mean of the metric in B, 0 to 1."""
        return self.rate_b if self.metric == "pass_rate" else fmean(self.scores_b)

    @property
    def suspect(self) -> bool:
        """Whether the task alone looks changed before the correction: a candidate for more runs."""
        return self.p.smaller <= SUSPECT_P

    @property
    def moved(self) -> bool:
        """Whether a report shows the task without being asked for all: it has a verdict of its own or is suspect."""
        return self.verdict.decided or self.suspect


class MetricDifference(Frozen):
    """A quantity in both arms: means over the tasks, and the mean of the per-task differences."""

    name: str
    unit: str
    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    """95 % bootstrap interval of the difference over tasks; None where it cannot be given."""
    p: OneSided

    @property
    def relative(self) -> float | None:
        """Difference as a share of A's mean; None when that is 0."""
        return self.difference / self.mean_a if self.mean_a else None


class Decision(Frozen):
    """A verdict and what it rests on."""

    verdict: Verdict
    difference: float
    """Mean over tasks of B minus A."""
    suite: OneSided
    units: tuple[UnitComparison, ...]

    def having(self, verdict: Verdict) -> list[UnitComparison]:
        """The single tasks that have this verdict of their own."""
        return [unit for unit in self.units if unit.verdict is verdict]

    def name(self, unit: UnitComparison) -> str:
        """How a report calls the task."""
        return self._names[unit.key]

    @cached_property
    def _names(self) -> dict[UnitKey, str]:
        return readable(unit.key for unit in self.units)


class Comparison(Frozen):
    """Everything `compare` found; see `Verdict` for what the verdict means."""

    label_a: str
    label_b: str
    metric: Metric
    threshold: float
    decision: Decision
    metrics: tuple[MetricDifference, ...]
    detectable: float | None
    """Difference that this design finds with 80 % probability; None below two tasks."""
    only_a: tuple[str, ...]
    """Tasks measured in A alone, outside every rate."""
    only_b: tuple[str, ...]
    errors_a: dict[str, int]
    """Runs outside the rates by reason: infra_error, setup_error, judge_error."""
    errors_b: dict[str, int]
    shares: TaskShares = TaskShares()
    slices: tuple[Slice, ...] = ()
    influence: tuple[Influence, ...] = ()
    zero_clusters: tuple[ZeroCluster, ...] = ()
    cost: CostEffect | None = None
    """None when no task has a recorded cost in both arms."""
    tools_a: ToolUse | None = None
    """None when no run of A recorded its tool calls."""
    tools_b: ToolUse | None = None
    association: ToolAssociation | None = None
    comparisons: int = 1
    """How many comparisons with A were made; p-values over all tasks and verdicts are corrected for it."""
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on B against A."""
        return self.decision.verdict

    @property
    def got_worse(self) -> bool:
        """Whether the whole is a regression, or a single task by itself."""
        return self.verdict is Verdict.REGRESSION or bool(self.decision.having(Verdict.REGRESSION))

    def metric_named(self, name: str) -> MetricDifference | None:
        """One of pass_rate, score, tokens, cost, time, turns; None when no task has it in both arms."""
        return next((m for m in self.metrics if m.name == name), None)

    @property
    def primary(self) -> MetricDifference | None:
        """The metric that the verdict is about; None when no task was measured in both arms."""
        return self.metric_named(self.metric)


def decide(units: Sequence[UnitComparison], *, threshold: float = 0.0) -> Decision:
    """Verdict over the tasks together and over each alone.

    The suite: sign-flip test over tasks (configs and models of one task averaged) at SUITE_ALPHA. Each task:
    permutation test of its runs (Fisher's exact test for passes), false discovery rate TASK_Q. The suite's
    verdict comes first; without one, a task that broke comes before tasks that gained.
    """
    judged = _judge_units(units, threshold)
    verdict, difference, suite = _over_all(judged, threshold)
    return Decision(verdict=verdict, difference=difference, suite=suite, units=tuple(judged))


def decide_without(
    units: Sequence[UnitComparison], left_out: Collection[UnitComparison], *, threshold: float
) -> tuple[Verdict, float]:
    """Verdict and mean difference had these tasks not been there."""
    gone = {unit.key for unit in left_out}
    rest = [unit for unit in units if unit.key not in gone]
    # No task can be called by itself when none is below TASK_Q before the correction.
    open_ = any(unit.p.smaller <= TASK_Q for unit in rest)
    return _over_all(_judge_units(rest, threshold) if open_ else rest, threshold)[:2]


def corrected(decision: Decision, suite: OneSided, comparisons: int, *, threshold: float = 0.0) -> Decision:
    """The same decision as one of several.

    Args:
        decision: made as if it were the only one.
        suite: its p-values over all tasks after the correction.
        comparisons: how many there are; TASK_Q is divided by it.
        threshold: of the comparison.
    """
    judged = _judge_units(decision.units, threshold, TASK_Q / comparisons)
    verdict, difference, _ = _over_all(judged, threshold, suite)
    return Decision(verdict=verdict, difference=difference, suite=suite, units=tuple(judged))


def _over_all(
    units: Sequence[UnitComparison], threshold: float, suite: OneSided | None = None
) -> tuple[Verdict, float, OneSided]:
    per_task: dict[str, list[float]] = defaultdict(list)
    for unit in units:
        per_task[unit.key.task_id].append(unit.difference)
    differences = [fmean(values) for values in per_task.values()]
    suite = suite or statistics.sign_flip_test(differences)
    difference = fmean(differences) if differences else 0.0
    directions = {unit.verdict for unit in units if unit.verdict.decided}
    verdict = Verdict.NO_EVIDENCE
    callable_ = suite.attainable <= SUITE_ALPHA
    if callable_ and suite.less <= SUITE_ALPHA and difference < -threshold:
        verdict = Verdict.REGRESSION
    elif callable_ and suite.greater <= SUITE_ALPHA and difference > threshold:
        verdict = Verdict.IMPROVEMENT
    elif directions:
        verdict = Verdict.REGRESSION if Verdict.REGRESSION in directions else Verdict.IMPROVEMENT
    elif (whole := _all_or_nothing(units)) is not None and abs(difference) > threshold:
        verdict = whole
    elif not _could_decide(units, len(differences)):
        verdict = Verdict.NOT_ENOUGH_DATA
    return verdict, difference, suite


def _judge_units(units: Sequence[UnitComparison], threshold: float, q: float = TASK_Q) -> list[UnitComparison]:
    less = statistics.discrete_benjamini_hochberg([u.p.less for u in units], [u.p.steps_less for u in units])
    greater = statistics.discrete_benjamini_hochberg([u.p.greater for u in units], [u.p.steps_greater for u in units])
    judged = []
    for unit, down, up in zip(units, less, greater, strict=True):
        verdict = Verdict.NO_EVIDENCE
        if down <= q and unit.difference < -threshold:
            verdict = Verdict.REGRESSION
        elif up <= q and unit.difference > threshold:
            verdict = Verdict.IMPROVEMENT
        adjusted = OneSided(down, up, unit.p.attainable)
        judged.append(unit.model_copy(update={"verdict": verdict, "adjusted": adjusted}))
    return judged


def _all_or_nothing(units: Sequence[UnitComparison]) -> Verdict | None:
    """The verdict when every run of one arm passed and none of the other did, too few for a test though they are.

    Had nothing changed, each split of a task's runs between the arms would be as likely as this one, so its
    chance is exactly the product over the tasks of 1 / C(runs of both, runs of A); it must be TASK_Q at most.
    """
    runs_a, runs_b = sum(len(u.scores_a) for u in units), sum(len(u.scores_b) for u in units)
    passed = (sum(u.passed_a for u in units), sum(u.passed_b for u in units))
    per_task: dict[str, float] = {}
    for u in units:  # configs and models of one task share its fate, so they count once
        chance = 1 / comb(len(u.scores_a) + len(u.scores_b), len(u.scores_a))
        per_task[u.key.task_id] = max(chance, per_task.get(u.key.task_id, 0.0))
    if not units or prod(per_task.values()) > TASK_Q:
        return None
    return {(runs_a, 0): Verdict.REGRESSION, (0, runs_b): Verdict.IMPROVEMENT}.get(passed)


def _could_decide(units: Sequence[UnitComparison], tasks: int) -> bool:
    """Whether any outcome of these tasks and runs could have been called, had all of it gone one way."""
    if 2.0**-tasks <= SUITE_ALPHA:
        return True
    return any(
        statistics.fisher_test(len(u.scores_a), len(u.scores_a), 0, len(u.scores_b)).less <= TASK_Q for u in units
    )
