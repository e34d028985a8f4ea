"""What each arm needed, and which tools were called."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.models import EvalResult
from measure.compare.comparison import compare
from measure.compare.sentences import answer, costs_sentence, tools_sentence
from measure.compare.verdicts import Comparison, Measure
from measure.statistics.estimates import mean_log
from tests.support.results import run

TASKS = 30


def made(
    cost: float | None, *, seed: int = 1, score: float = 0.5, calls: int = 0, tool: str = "Read", tokens: int = 100
) -> list[EvalResult]:
    """Two runs of each task, dearer from task to task; costs vary by a fifth from run to run."""
    rng = np.random.default_rng(seed)
    return [
        run(
            f"t{i:02}",
            passed=False,
            score=score + i / 100,
            index=index,
            cost=None if cost is None else cost * (1 + i) * float(np.exp(rng.normal(0, 0.2))),
            seconds=10.0 + index,
            tokens=tokens,
            tools=[tool] * (calls * i),
            trace={"num_turns": 3},
        )
        for i in range(TASKS)
        for index in range(2)
    ]


def cost_of(comparison: Comparison, name: str) -> Measure:
    found = comparison.cost_named(name)
    assert found is not None
    return found


def test_a_ratio_is_the_geometric_mean_over_tasks_so_that_dear_tasks_do_not_decide() -> None:
    a, b = made(0.1), made(0.07, seed=2)
    logs = [
        np.log(np.mean([r.cost_usd for r in b if r.task_id == t]) / np.mean([r.cost_usd for r in a if r.task_id == t]))
        for t in sorted({r.task_id for r in a})
    ]
    money = cost_of(compare(a, b), "cost")
    assert money.difference == pytest.approx(np.expm1(np.mean(logs)))
    assert money.interval is not None
    student = stats.ttest_1samp(logs, 0).confidence_interval(0.99)  # the smallest p of five: a fifth of 5 %
    assert np.log1p([money.interval.low, money.interval.high]) == pytest.approx([student.low, student.high], abs=0.02)


def test_as_good_for_less_is_one_sentence() -> None:
    b = [*made(0.07, seed=2)]
    a = made(0.1)
    more = [[r.model_copy(update={"task_id": r.task_id + "x"}) for r in results] for results in (a, b)]
    text = answer(compare([*a, *more[0]], [*b, *more[1]], label_a="plain", label_b="search"))
    assert text.startswith("search is as good as plain, within 5 points (90 % interval -2.2 to +2.2 points), for 28")
    assert text.endswith(" % less money (23 to 32 %).")


def test_costs_that_rose_are_told_where_nothing_else_changed() -> None:
    comparison = compare(made(0.1), made(0.13, seed=2))
    assert cost_of(comparison, "cost").changed
    assert answer(comparison).startswith("No evidence that B is better or worse than A; B took 34 % more money")
    assert "% more money" in answer(comparison)


def test_what_did_not_change_is_not_called() -> None:
    comparison = compare(made(0.1), made(0.1, seed=2))
    assert not any(cost.changed for cost in comparison.costs)
    assert "money" not in answer(comparison)


def test_costs_that_were_not_recorded_are_missing_and_said() -> None:
    comparison = compare(made(0.1), made(None))
    assert comparison.cost_named("cost") is None
    assert "Not recorded in one arm or both: money" in costs_sentence(comparison)


def test_a_cost_of_0_beside_tokens_is_missing() -> None:
    comparison = compare(made(0.1), made(0.0))
    assert comparison.cost_named("cost") is None
    assert "Not recorded in one arm or both: money" in costs_sentence(comparison)


def test_a_task_without_calls_in_an_arm_has_no_ratio_and_is_said() -> None:
    comparison = compare(made(0.1, calls=2), made(0.1, calls=3, seed=2))
    calls = cost_of(comparison, "calls")
    assert (calls.tasks, calls.zeros) == (TASKS - 1, 1)
    assert calls.difference == pytest.approx(0.5)
    assert "No ratio where runs needed none: 1 task (tool calls)" in costs_sentence(comparison)


def test_tools_are_counted_by_call_and_by_run() -> None:
    use = compare(made(0.1), made(0.1, calls=2)).tools_b
    assert use is not None
    (read,) = use.tools
    calls = 2 * sum(2 * i for i in range(TASKS))
    assert (use.runs, use.calls, read.calls, read.runs) == (2 * TASKS, calls, calls, 2 * TASKS - 2)


def test_calls_that_were_not_recorded_are_not_taken_for_none() -> None:
    silent = [
        r.model_copy(update={"trace": r.trace.model_copy(update={"has_transcript": False, "tool_calls": []})})
        for r in made(0.1)
    ]
    comparison = compare(made(0.1), silent)
    assert comparison.tools_b is None
    assert "B: not recorded" in tools_sentence(comparison)


def lognormal(arm: str, runs: int, rng: np.random.Generator, sd: float = 0.6) -> list[EvalResult]:
    """Runs of 50 tasks whose costs vary by 60 % from run to run, and have the same distribution in every arm."""
    costs = iter(np.exp(rng.normal(0, sd, 50 * runs)))
    return [run(f"t{i:02}", arm, index=at, cost=float(next(costs))) for i in range(50) for at in range(runs)]


def test_an_arm_with_fewer_runs_of_each_task_does_not_seem_cheaper() -> None:
    """The plain ratio of means calls it cheaper in about half of all comparisons."""
    rng = np.random.default_rng(7)
    called = [cost_of(compare(lognormal("a", 5, rng), lognormal("b", 1, rng)), "cost").changed for _ in range(40)]
    assert sum(called) <= 6


def test_a_mean_of_logarithms_is_one_of_as_many_runs() -> None:
    assert mean_log([1.0, 4.0, 16.0], 3) == pytest.approx(np.log(7))
    assert mean_log([1.0, 4.0, 16.0], 1) == pytest.approx(np.log(4))
    assert mean_log([0.0, 4.0], 1) == -np.inf
    assert mean_log([0.0, 4.0], 2) == pytest.approx(np.log(2))


def test_runs_that_recorded_no_cost_are_told_and_nothing_is_said_to_be_cheaper() -> None:
    a, b = made(0.1), made(0.1, seed=2)
    dear = sorted(b, key=lambda r: r.cost_usd or 0.0)[-12:]
    known = [r.model_copy(update={"cost_usd": None}) if r in dear else r for r in b]
    told = compare(a, known)
    assert "did not record what they needed: money (A 0, B 12)" in "\n".join(told.warnings)
    untimed = [r.model_copy(update={"trace": r.trace.model_copy(update={"duration_seconds": None})}) for r in dear]
    halved = [
        r.model_copy(update={"trace": r.trace.model_copy(update={"duration_seconds": 5.0})}) for r in b if r not in dear
    ]
    told = compare(a, [*halved, *untimed])
    assert cost_of(told, "time").changed
    assert cost_of(told, "time").uneven
    assert "time" not in answer(told)
    assert "did not record what they needed: time (A 0, B 12)" in "\n".join(told.warnings)


def test_less_on_most_tasks_and_more_all_together_is_not_called_less() -> None:
    a, b = made(0.1), made(0.04, seed=2)
    b = [r.model_copy(update={"cost_usd": 20 * (r.cost_usd or 0) if r.task_id > "t26" else r.cost_usd}) for r in b]
    told = compare(a, b)
    assert cost_of(told, "cost").difference < 0
    assert cost_of(told, "cost").mean_b > cost_of(told, "cost").mean_a
    assert "money" not in answer(told)
    assert "B needed less money there, and more over all tasks together" in costs_sentence(told)
