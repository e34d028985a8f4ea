"""Did B do better or worse than A? Verdicts over two lists of results, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from locobench.shared.errors import InputError
from measure.compare.decision import MARGIN, Question, decide
from measure.compare.differences import (
    COSTS,
    METRICS,
    REACH,
    find_difference,
    find_headroom,
    find_quantities,
    find_slices,
    task_shares,
)
from measure.compare.doubts.loss import find_loss, with_lost_runs
from measure.compare.doubts.warnings import find_warnings
from measure.compare.pairing import Arms, Runs, by_unit, pair_units, pairing, without_pilot
from measure.compare.verdicts import ArmsComparison, Comparison, Decision, Loss, UnitComparison, Verdict
from measure.records import EvalResult
from measure.statistics.corrections import holm, holm_levels
from measure.statistics.estimates import ALPHA
from measure.summary.headroom import level_of
from measure.summary.metrics import Metric, MetricChoice, resolve_metric, tool_use
from measure.summary.wording import counted


def compare(
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    *,
    label_a: str = "A",
    label_b: str = "B",
    **asked: Any,
) -> Comparison:
    """Compare two arms, B with A; `asked` are further arguments of `compare_arms`."""
    return compare_arms(((label_a, results_a), (label_b, results_b)), **asked).comparisons[0]


@dataclass(frozen=True)
class Pair:
    """Two arms, paired by task."""

    labelled: Arms
    metric: Metric
    question: Question
    pilot: Mapping[str, int] = field(default_factory=dict)
    """Number of runs left out by label, by which the tasks were selected."""

    def __post_init__(self) -> None:
        _refuse_shared_runs(self.labelled)

    def runs(self, lost_a: float | None = None, lost_b: float | None = None) -> tuple[Runs, Runs]:
        """Return the runs of both arms by unit; lost runs are left out, or have the given score, 0 to 1."""
        (_, a), (_, b) = self.labelled
        key_of = pairing(a, b)
        return by_unit(a, key_of, lost_a), by_unit(b, key_of, lost_b)

    @cached_property
    def loss(self) -> Loss:
        """What was lost in both arms, and whether that rules out a verdict."""
        return find_loss(self.labelled)

    @cached_property
    def units(self) -> list[UnitComparison]:
        """The tasks that both arms measured."""
        return pair_units(*self.runs(), self.metric)

    @cached_property
    def units_as_zero(self) -> list[UnitComparison]:
        """The same with every lost run at 0."""
        if not any(arm.lost - arm.missing for arm in (self.loss.a, self.loss.b)):
            return self.units
        return pair_units(*self.runs(0.0, 0.0), self.metric)

    def decide(self, alpha: float, *, alone: bool = True) -> Decision:
        """Decide at a level, with lost runs left out and at 0, and with the caps on loss.

        A verdict of better or worse that holds had every lost run gone against it needs no cap. Runs that left no
        result belong to no task, so nothing tells what they could have changed.
        """
        found = decide(self.units, self.question, alpha=alpha, alone=alone)
        if self.loss.cap and found.verdict.decided and not (self.loss.a.missing or self.loss.b.missing):
            against = (1.0, 0.0) if found.verdict is Verdict.IMPROVEMENT else (0.0, 1.0)
            worst = decide(pair_units(*self.runs(*against), self.metric), self.question, alpha=alpha, alone=False)
            if worst.verdict is found.verdict:
                return with_lost_runs(found, worst, "")
        if self.units_as_zero is self.units:
            return with_lost_runs(found, found, self.loss.cap)
        as_zero = decide(self.units_as_zero, self.question, alpha=alpha, alone=False)
        return with_lost_runs(found, as_zero, self.loss.cap)


def _comparison(pair: Pair, treatment: Sequence[str], alpha: float, adjusted_p: float, pairs: int) -> Comparison:
    """Compare a pair of arms at the level `alpha`; groups and costs are corrected for the number of `pairs`."""
    (label_a, results_a), (label_b, results_b) = pair.labelled
    units, runs, loss = pair.units, pair.runs(), pair.loss
    decision = pair.decide(alpha)
    metrics = [found for name in METRICS if (found := find_difference(name, units, 1 - alpha))]
    p = decision.suite.two_sided
    corrected = min(1.0, p * pairs) if decision.these_tasks else adjusted_p
    primary = {"interval": decision.interval, "p": p, "adjusted_p": corrected}
    if len({(m.mean_a, m.mean_b) for m in metrics}) == 1:  # every score is a pass or none
        metrics = [m for m in metrics if m.name == pair.metric]
    metrics = [m.model_copy(update=primary) if m.name == pair.metric else m for m in metrics]
    keys_a, keys_b = (arm.keys() for arm in runs)
    comparison = Comparison(
        label_a=label_a,
        label_b=label_b,
        metric=pair.metric,
        threshold=pair.question.threshold,
        margin=pair.question.margin,
        decision=decision,
        metrics=tuple(metrics),
        costs=find_quantities(COSTS, units, runs, ALPHA / pairs, relative=True),
        reach=find_quantities(REACH, units, runs, ALPHA / pairs, relative=False),
        headroom=find_headroom(units, pair.units_as_zero, alpha, max(loss.a.share, loss.b.share)),
        confidence=1 - alpha,
        adjusted_p=adjusted_p,
        loss=loss,
        only_a=tuple(map(str, sorted(keys_a - keys_b))),
        only_b=tuple(map(str, sorted(keys_b - keys_a))),
        pilot_a=pair.pilot.get(label_a, 0),
        pilot_b=pair.pilot.get(label_b, 0),
        shares=task_shares(units),
        slices=find_slices(units, ALPHA / pairs),
        tools_a=tool_use(results_a),
        tools_b=tool_use(results_b),
        comparisons=pairs,
    )
    warnings = find_warnings(comparison, pair.labelled, treatment)
    return comparison.model_copy(update={"warnings": tuple(warnings)})


def _refuse_shared_runs(arms: Arms) -> None:
    """Refuse a run that is in both arms: it would add a difference of 0 that was not measured."""
    (label_a, a), (label_b, b) = arms
    ids_a = {run.run_id for run in a if run.run_id}
    shared = [run for run in b if run.run_id in ids_a]
    if shared:
        raise InputError(
            f"{counted(len(shared), 'run')} of {label_b} {'is' if len(shared) == 1 else 'are'} in {label_a} as well, "
            f"such as {shared[0].source or shared[0].run_id}; name the folder of the other job"
        )


def compare_arms(
    arms: Sequence[tuple[str, Sequence[EvalResult]]],
    *,
    metric: MetricChoice = "auto",
    threshold: float = 0.0,
    margin: float = MARGIN,
    treatment: Sequence[str] = (),
    fixed_tasks: bool = False,
) -> ArmsComparison:
    """Compare every arm with the first, and the others with each other, task by task.

    Runs by which the tasks were selected are left out. Runs that measured nothing (infrastructure, setup, judge) count
    in no rate. A verdict has to be the same with them left out and with them at 0, and too many of them rule one out.
    Tasks of one arm alone are listed separately.

    Holm's procedure gives each pair its level, over all pairs together: in 5 % of experiments at most any of them is
    called although nothing changed. Groups and costs share the 5 % evenly among the pairs (Bonferroni), as everything
    does where the question is about these very tasks. With two arms nothing is corrected.

    Args:
        arms: label and results of each arm, the baseline first.
        metric: what decides the verdict. `auto` takes the score if any score of any arm is neither 0 nor 1, else the
            pass rate.
        threshold: changes of the metric below this, 0 to 1, are never called.
        margin: differences up to this, between 0 and 1, are as good.
        treatment: the tools that B is about, as glob patterns; by default, those offered to B's runs but not to A's.
        fixed_tasks: ask about these very tasks, as a regression test does, and not about tasks like these.

    Raises:
        InputError: there are fewer than two arms, two have the same name or share runs, or two have no model in common
            and one of them has several.
    """
    labels = [label for label, _ in arms]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"a comparison takes two or more arms of different names, not: {', '.join(labels)}")
    arms, pilot = without_pilot(arms)
    chosen = resolve_metric(metric, [result for _, results in arms for result in results])
    pairs = [Pair(two, chosen, Question(threshold, margin, fixed_tasks), pilot) for two in combinations(arms, 2)]
    adjusted, levels = levels_of(pairs)
    found = [
        _comparison(pair, treatment, level, p, len(pairs))
        for pair, level, p in zip(pairs, levels, adjusted, strict=True)
    ]
    others = len(arms) - 1
    return ArmsComparison(
        metric=chosen,
        arms={label: level_of(results, chosen) for label, results in arms},
        comparisons=tuple(found[:others]),
        between=tuple(found[others:]),
    )


def levels_of(pairs: Sequence[Pair]) -> tuple[list[float], list[float]]:
    """Return each pair's p-value after correction for all of them, and the level that its verdict is due."""
    found = [pair.decide(ALPHA, alone=False) for pair in pairs]
    ps = [
        1.0 if pair.loss.cap and not decision.verdict.decided else decision.p
        for pair, decision in zip(pairs, found, strict=True)
    ]
    if pairs[0].question.fixed_tasks:
        return [min(1.0, p * len(pairs)) for p in ps], [ALPHA / len(pairs)] * len(pairs)
    return holm(ps), holm_levels(ps, ALPHA)
