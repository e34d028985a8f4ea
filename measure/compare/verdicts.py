"""What is a comparison made of? Its verdict, its tasks in both arms, and the numbers that go with them."""

from __future__ import annotations

from enum import StrEnum
from statistics import fmean
from typing import NamedTuple

from measure.statistics.estimates import Interval
from measure.statistics.significance import OneSided
from measure.summary.headroom import Level
from measure.summary.metrics import Frozen, Metric, ToolUse

REPOSITORIES = ("repository", "repo", "project", "project_id")
"""Groups that name a task's code base, the surest first: a repository has a project for each commit asked about."""


class Verdict(StrEnum):
    """What the results say about B, compared with A."""

    IMPROVEMENT = "improvement"
    REGRESSION = "regression"
    AS_GOOD = "as good"
    """The arms differ by less than the margin."""
    NO_EVIDENCE = "no evidence"
    """The design could have shown a difference but did not."""
    NOT_ENOUGH_DATA = "not enough data"
    """So few tasks can never lead to a verdict, or the lost runs rule one out."""

    @property
    def decided(self) -> bool:
        """Whether the verdict is that something changed."""
        return self in (Verdict.IMPROVEMENT, Verdict.REGRESSION)


class UnitKey(NamedTuple):
    """What is paired across the arms: a task, plus config and model where both arms have the same ones of several."""

    task_id: str
    config: str = ""
    model: str = ""

    def __str__(self) -> str:
        return " | ".join(part for part in self if part)


class UnitComparison(Frozen):
    """One task in both arms, or one config or model of it."""

    key: UnitKey
    metric: Metric = "pass_rate"
    scores_a: tuple[float, ...]
    """Score of every measured run, 0 to 1."""
    scores_b: tuple[float, ...]
    passed_a: int
    passed_b: int
    difference: float
    """B minus A of the metric, -1 to 1."""
    p: OneSided = OneSided(1.0, 1.0, 1.0)
    """Of a permutation test of the task's runs, once the task was judged alone."""
    adjusted: OneSided = OneSided(1.0, 1.0, 1.0)
    """After correction for the number of tasks; verdicts rest on this."""
    verdict: Verdict = Verdict.NO_EVIDENCE
    groups: dict[str, str] = {}
    """Category, language and so on, to find out whether the verdict depends on any of them."""

    @property
    def repository(self) -> str:
        """The code base that the task is about; empty where none is named."""
        return next((self.groups[name] for name in REPOSITORIES if name in self.groups), "")

    def by(self, metric: Metric) -> UnitComparison:
        """Return the same task, compared by a metric; its own test is not repeated."""
        if metric == self.metric:
            return self
        other = self.model_copy(update={"metric": metric})
        return other.model_copy(update={"difference": other.mean_b - other.mean_a})

    @property
    def values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The metric of every measured run, in A and in B."""
        if self.metric == "score":
            return self.scores_a, self.scores_b
        counts = ((self.passed_a, len(self.scores_a)), (self.passed_b, len(self.scores_b)))
        in_a, in_b = ((1.0,) * passed + (0.0,) * (runs - passed) for passed, runs in counts)
        return in_a, in_b

    @property
    def mean_a(self) -> float:
        """Mean of the metric in A, 0 to 1."""
        return fmean(self.values[0])

    @property
    def mean_b(self) -> float:
        """Mean of the metric in B, 0 to 1."""
        return fmean(self.values[1])


class ArmLoss(Frozen):
    """How many runs of one arm were lost or cut short."""

    planned: int
    """Runs planned, if known; else those that left a result."""
    lost: int
    """Runs without a measurement, `missing` ones included."""
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
    """Two-sided, of Fisher's exact test that both arms lose runs equally often."""
    cap: str = ""
    """Why no verdict can be given, as a clause, unless it holds had every lost run gone against it; else empty."""


class Difference(Frozen):
    """By how much B differs from A: means over tasks, and the mean of the tasks' differences."""

    tasks: int
    mean_a: float
    mean_b: float
    difference: float
    """B minus A."""
    interval: Interval | None
    """All differences that the sign-flip test does not reject; None where nothing moved, or it can reject nothing."""
    p: float = 1.0
    """Two-sided p-value of that test."""
    adjusted_p: float = 1.0
    """After correction: that of the verdict's metric for all pairs of arms (Holm), those of costs and groups for the
    rows of their table (Holm) and the number of pairs; the other metric's is not corrected."""

    @property
    def changed(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


class Measure(Difference):
    """The pass rate, the score, what a run needed, or how it reached the files of the answer."""

    name: str
    unit: str
    relative: bool = False
    """Whether `difference` and `interval` are shares of A's geometric mean: -0.31 is 31 % less."""
    zeros: int = 0
    """Tasks left out of a relative difference, since runs needed none."""
    unknown_a: int = 0
    """Runs of A, in the compared tasks, that did not record it and count nowhere."""
    unknown_b: int = 0
    uneven: bool = False
    """Whether these are so many, or so unlike in the arms, that as many lost runs would rule out a verdict."""

    @property
    def against_means(self) -> bool:
        """Whether a typical task needed less and all together more, or the other way round."""
        return self.relative and self.changed and (self.mean_b - self.mean_a) * self.difference < 0


class Headroom(Frozen):
    """How much a set of tasks can show, given how the arms did on it."""

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


class Decision(Frozen):
    """A verdict and what it rests on."""

    verdict: Verdict
    difference: float
    """Mean over tasks of B minus A."""
    suite: OneSided
    """P-values of the sign-flip test over tasks, or over repositories where there are enough of them."""
    interval: Interval | None
    """All differences that the sign-flip test does not reject, with lost runs left out or as 0."""
    equivalence: Interval | None
    """The interval of two one-sided tests, each at the comparison's level, with lost runs left out or as 0."""
    no_worse: bool
    """Whether these tests show B to be worse by the margin at most."""
    alone_here: bool = False
    """Whether these tests are about these repositories alone, though the verdict's other test is about others, too."""
    these_tasks: OneSided | None
    """P-values of the stratified test about these very tasks, which decide the verdict where they are given."""
    clusters: int
    """Tasks or repositories that the sign-flip test could flip."""
    repositories: int
    """Repositories that the tasks name; 0 where none is named."""
    units: tuple[UnitComparison, ...]

    @property
    def p(self) -> float:
        """Two-sided p-value of the test that the verdict rests on."""
        return (self.these_tasks or self.suite).two_sided

    def having(self, verdict: Verdict) -> list[UnitComparison]:
        """Return the tasks that have this verdict of their own."""
        return [unit for unit in self.units if unit.verdict is verdict]


class Comparison(Frozen):
    """Everything `compare` found; see `Verdict` for what the verdict means."""

    label_a: str
    label_b: str
    metric: Metric
    threshold: float
    decision: Decision
    margin: float
    """Differences up to this, 0 to 1, count as equally good."""
    metrics: tuple[Measure, ...]
    costs: tuple[Measure, ...]
    """Tokens, dollars, seconds, turns and tool calls, as far as tasks have them in both arms."""
    reach: tuple[Measure, ...]
    """How the agents came to the files of the answers, where keys name files and calls are recorded."""
    headroom: Headroom | None
    """None when no task was measured in both arms."""
    confidence: float
    """Level of the verdict and of the difference's interval, 0 to 1."""
    adjusted_p: float
    """Two-sided p-value of the verdict's test, after Holm's correction for all pairs of arms."""
    loss: Loss
    """What was lost in each arm, and whether it leaves room for a verdict."""
    only_a: tuple[str, ...]
    """Tasks measured in A alone; they count in no rate."""
    only_b: tuple[str, ...]
    pilot_a: int = 0
    """Runs of A that were left out, since tasks were selected by them."""
    pilot_b: int = 0
    shares: dict[str, int]
    """Number of tasks that were better, the same and worse in B."""
    slices: tuple[Slice, ...] = ()
    tools_a: ToolUse | None = None
    """None when no run of A recorded its tool calls."""
    tools_b: ToolUse | None = None
    comparisons: int = 1
    """Number of pairs of arms that are compared; all levels are corrected for it."""
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on B against A."""
        return self.decision.verdict

    @property
    def got_worse(self) -> bool:
        """Whether the suite as a whole regressed, or any single task did."""
        return self.verdict is Verdict.REGRESSION or bool(self.decision.having(Verdict.REGRESSION))

    def cost_named(self, name: str) -> Measure | None:
        """Return one of tokens, cost, time, turns, calls; None when no task has it in both arms."""
        return next((cost for cost in self.costs if cost.name == name), None)

    @property
    def primary(self) -> Measure | None:
        """The metric that the verdict is about; None when no task was measured in both arms."""
        return next((m for m in self.metrics if m.name == self.metric), None)


class ArmsComparison(Frozen):
    """Several arms: each against the first, and each of the others against each other."""

    metric: Metric
    arms: dict[str, Level | None]
    """How each arm did by its label, the first one included, in order; None without a measured run."""
    comparisons: tuple[Comparison, ...]
    """One for each arm but the first, which is their A."""
    between: tuple[Comparison, ...] = ()
    """One for each pair of the other arms."""
