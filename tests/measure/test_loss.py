"""Runs that were lost: what they forbid, what they widen, and what is no loss."""

from __future__ import annotations

import random

import pytest

from harness.models import EvalResult, Outcome
from measure.compare.comparison import compare
from measure.compare.sentences import answer, loss_sentence, verdict_sentence
from measure.compare.verdicts import Verdict
from tests.support.results import run

TASKS = [f"t{number:02}" for number in range(50)]


def arm(config: str, *, shift: float = 0.0, seed: int = 1, runs: int = 3) -> list[EvalResult]:
    """Scores around a level of each task, `shift` higher."""
    rng = random.Random(f"{config} {seed}")
    return [
        run(task, config, score=min(1, max(0, rng.gauss(0.4 + shift, 0.15))), passed=False, index=index)
        for task in TASKS
        for index in range(runs)
    ]


def losing(results: list[EvalResult], count: int, *, worst: bool = False) -> list[EvalResult]:
    """The same with `count` runs lost: every so many, or those that scored worst."""
    order = sorted(range(len(results)), key=lambda at: results[at].overall_score) if worst else range(len(results))
    gone = set(list(order)[:count] if worst else list(order)[:: len(results) // max(1, count)][:count])
    lost = {"outcome": Outcome.INFRA_ERROR, "overall_score": 0.0, "passed": False, "grades": []}
    return [result.model_copy(update=lost) if at in gone else result for at, result in enumerate(results)]


def test_an_arm_whose_worst_runs_were_lost_is_no_improvement() -> None:
    a, b = arm("a"), losing(arm("b"), 49, worst=True)
    comparison = compare(a, b, label_a="without", label_b="with")
    assert comparison.decision.difference > 0.05
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    assert "better or worse than without: with lost 49 of 150 runs, more than 20.0 %." in answer(comparison)


def test_more_than_a_fifth_lost_in_both_arms_forbids_a_decided_verdict() -> None:
    a, b = losing(arm("a"), 40), losing(arm("b", shift=0.3), 40)
    assert compare(arm("a"), arm("b", shift=0.3)).verdict is Verdict.IMPROVEMENT
    assert compare(a, b).verdict is Verdict.NOT_ENOUGH_DATA


@pytest.mark.parametrize(("in_a", "in_b"), [(0, 12), (20, 5), (5, 20)])
def test_shares_that_differ_by_more_than_chance_forbid_a_verdict(in_a: int, in_b: int) -> None:
    assert compare(arm("a"), arm("b", shift=0.05)).verdict is Verdict.IMPROVEMENT
    comparison = compare(losing(arm("a"), in_a), losing(arm("b", shift=0.05), in_b))
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    assert f"the arms lost different shares of their runs, {in_a} of 150" in comparison.loss.cap


def test_shares_that_lie_ten_points_apart_forbid_a_verdict_however_few_the_runs() -> None:
    a, b = arm("a", runs=1)[:8], losing(arm("b", shift=0.1, runs=1)[:8], 1)
    comparison = compare(a, b)
    assert comparison.loss.p > 0.05
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA


def test_a_verdict_that_holds_had_every_lost_run_gone_against_it_stands() -> None:
    b = losing(arm("b", shift=0.3), 10)
    better, worse = compare(arm("a"), b), compare(b, arm("a"))
    assert (better.verdict, worse.verdict) == (Verdict.IMPROVEMENT, Verdict.REGRESSION)
    assert "10 of 150 in B, the answer would be the same had every lost run gone against it." in verdict_sentence(
        better
    )
    at_0 = [r if r.measured else r.model_copy(update={"outcome": Outcome.COMPLETED}) for r in b]
    end = compare(arm("a"), at_0).decision.interval
    assert better.decision.interval is not None
    assert end is not None
    assert better.decision.interval.low == end.low > 0
    assert worse.decision.interval is not None
    assert worse.decision.interval.high == pytest.approx(-end.low)


def test_the_interval_holds_the_difference_with_lost_runs_left_out_and_at_0() -> None:
    a, b = losing(arm("a"), 3), losing(arm("b", shift=0.2), 3)
    comparison = compare(a, b)
    assert comparison.verdict is Verdict.IMPROVEMENT
    at_0 = [[r.model_copy(update={"outcome": Outcome.COMPLETED}) for r in results] for results in (a, b)]
    left_out = [[r for r in results if r.measured] for results in (a, b)]
    ends = [compare(*arms).decision.interval for arms in (at_0, left_out)]
    wide = comparison.decision.interval
    assert wide is not None
    assert wide.low == min(end.low for end in ends if end)
    assert wide.high == max(end.high for end in ends if end)
    assert comparison.primary is not None
    assert comparison.primary.interval == wide


def test_a_verdict_that_lost_runs_at_0_would_turn_is_no_evidence() -> None:
    a = losing(arm("a"), 14, worst=True)
    best_gone = {"outcome": Outcome.INFRA_ERROR, "overall_score": 0.0, "grades": []}
    whole = sorted(arm("b", shift=0.09), key=lambda run: -run.overall_score)
    b = [run.model_copy(update=best_gone) if at < 14 else run for at, run in enumerate(whole)]
    assert compare(arm("a"), arm("b", shift=0.09)).verdict is Verdict.IMPROVEMENT
    assert compare(a, b).verdict is Verdict.NO_EVIDENCE


def test_runs_that_a_job_planned_and_that_left_nothing_are_lost_runs() -> None:
    def of(results: list[EvalResult], planned: int) -> list[EvalResult]:
        batch = {"name": results[0].config_name, "planned": planned, "present": len(results), "finished": True}
        return [EvalResult.model_validate(result.model_dump() | {"batch": batch}) for result in results]

    comparison = compare(of(arm("a"), 150), of(arm("b", shift=0.3)[:-40], 150))
    assert (comparison.loss.b.lost, comparison.loss.b.missing) == (40, 40)
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    few = compare(of(arm("a")[:-3], 150), of(arm("b", shift=0.3)[:-3], 150))
    assert few.verdict is Verdict.IMPROVEMENT


def test_timeouts_without_a_reward_count_as_0_and_are_counted() -> None:
    timed_out = {"outcome": Outcome.TIMEOUT, "overall_score": 0.0, "passed": False, "grades": []}
    b = [result.model_copy(update=timed_out) if result.run_index == 0 else result for result in arm("b")]
    comparison = compare(arm("a"), b)
    assert comparison.verdict is Verdict.REGRESSION
    assert (comparison.loss.b.lost, comparison.loss.b.ended, comparison.loss.b.without_reward) == (0, 50, 50)
    assert "50 runs ended by the agent's own limits and counted, 50 of them without a reward, as 0" in loss_sentence(
        comparison
    )


def test_an_agents_own_failures_are_no_reason_to_withhold_a_verdict() -> None:
    whole = compare(arm("a"), arm("b", shift=0.3))
    assert whole.loss.cap == ""
