"""Runs that were lost: what they forbid, what they widen, and what is no loss."""

from __future__ import annotations

import random

import pytest

from harness.models import EvalResult, Outcome
from measure.compare.comparison import compare
from measure.compare.sentences import loss_sentence, verdict_sentence
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
    assert "No verdict: with lost 49 of 150 runs, more than 20.0 %" in verdict_sentence(comparison)


def test_more_than_a_fifth_lost_in_both_arms_forbids_a_decided_verdict() -> None:
    a, b = losing(arm("a"), 40), losing(arm("b", shift=0.3), 40)
    assert compare(arm("a"), arm("b", shift=0.3)).verdict is Verdict.IMPROVEMENT
    assert compare(a, b).verdict is Verdict.NOT_ENOUGH_DATA


@pytest.mark.parametrize(("in_a", "in_b"), [(0, 6), (20, 5), (5, 20)])
def test_shares_that_differ_by_more_than_chance_forbid_a_verdict(in_a: int, in_b: int) -> None:
    comparison = compare(losing(arm("a"), in_a), losing(arm("b", shift=0.3), in_b))
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    assert f"the arms lost unlike shares of their runs, {in_a} of 150" in comparison.loss.cap


def test_shares_that_lie_ten_points_apart_forbid_a_verdict_however_few_the_runs() -> None:
    a, b = arm("a", runs=1)[:8], losing(arm("b", shift=0.4, runs=1)[:8], 1)
    comparison = compare(a, b)
    assert comparison.loss.p > 0.05
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA


def test_a_few_lost_runs_widen_the_interval_to_what_they_could_have_been() -> None:
    whole = compare(arm("a"), arm("b", shift=0.2))
    comparison = compare(losing(arm("a"), 3), losing(arm("b", shift=0.2), 3))
    assert comparison.verdict is Verdict.IMPROVEMENT
    worst, best, wide = comparison.loss.worst, comparison.loss.best, comparison.decision.interval
    assert worst is not None
    assert best is not None
    assert wide is not None
    assert whole.decision.interval is not None
    assert (wide.low, wide.high) == (worst.low, best.high)
    assert wide.low < whole.decision.interval.low < whole.decision.interval.high < wide.high
    assert "Had every lost run gone against B: " in verdict_sentence(comparison)


def test_a_verdict_that_the_lost_runs_could_turn_is_no_evidence() -> None:
    a, b = arm("a"), arm("b", shift=0.08)
    assert compare(a, b).verdict is Verdict.IMPROVEMENT
    comparison = compare(losing(a, 9), losing(b, 9))
    assert comparison.verdict is Verdict.NO_EVIDENCE
    assert comparison.decision.interval is not None
    assert comparison.decision.interval.low <= 0


def test_runs_that_a_job_planned_and_that_left_nothing_are_lost_runs() -> None:
    def of(results: list[EvalResult], planned: int) -> list[EvalResult]:
        batch = {"name": results[0].config_name, "planned": planned, "present": len(results), "finished": True}
        return [EvalResult.model_validate(result.model_dump() | {"batch": batch}) for result in results]

    comparison = compare(of(arm("a"), 150), of(arm("b", shift=0.3)[:-40], 150))
    assert (comparison.loss.b.lost, comparison.loss.b.missing) == (40, 40)
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    few = compare(of(arm("a")[:-3], 150), of(arm("b", shift=0.3)[:-3], 150))
    assert few.verdict is Verdict.IMPROVEMENT
    assert few.loss.worst is not None


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
    assert (whole.loss.cap, whole.loss.worst) == ("", None)
