"""What the difference cost, which tools were called."""

from __future__ import annotations

import pytest

from harness.models import EvalResult
from measure.compare.comparison import compare
from measure.compare.sentences import cost_sentence, tools_sentence
from tests.support.results import run


def made(score: float, cost: float | None, calls: int = 0, tool: str = "Read") -> list[EvalResult]:
    """Twelve tasks around one score and cost, the later ones with more calls."""
    return [
        run(
            f"t{i:02}",
            passed=False,
            score=score + i / 100,
            cost=None if cost is None else cost * (1 + i / 20),
            tools=[tool] * (calls * i),
            trace={"num_turns": 3},
        )
        for i in range(12)
    ]


def test_a_further_point_has_a_price_with_an_interval() -> None:
    effect = compare(made(0.3, 0.10), made(0.5, 0.30)).cost
    assert effect is not None
    mean = 1 + 5.5 / 20
    assert effect.per_point is not None
    assert effect.per_point == pytest.approx(0.20 * mean / 20)
    assert effect.per_point_interval is not None
    assert effect.per_point_interval.low < effect.per_point < effect.per_point_interval.high


def test_without_a_clear_difference_a_point_has_no_price() -> None:
    a, b = made(0.3, 0.1), made(0.3, 0.3)
    b = [r.model_copy(update={"overall_score": r.overall_score + (-1) ** i / 50}) for i, r in enumerate(b)]
    comparison = compare(a, b)
    assert comparison.cost is not None
    assert comparison.cost.per_point is None
    assert "not clear of 0" in cost_sentence(comparison)


def test_costs_that_were_not_recorded_are_not_taken_for_nothing() -> None:
    comparison = compare(made(0.3, 0.1), made(0.5, None))
    assert comparison.cost is None
    assert cost_sentence(comparison) == "Cost: not recorded in both arms for any task."


def test_tools_are_counted_by_call_and_by_run() -> None:
    use = compare(made(0.3, 0.1), made(0.5, 0.1, calls=2)).tools_b
    assert use is not None
    (read,) = use.tools
    assert (use.runs, use.calls, read.calls, read.runs) == (12, 132, 132, 11)


def test_calls_that_were_not_recorded_are_not_taken_for_none() -> None:
    silent = [
        r.model_copy(update={"trace": r.trace.model_copy(update={"has_transcript": False, "tool_calls": []})})
        for r in made(0.3, 0.1)
    ]
    comparison = compare(made(0.3, 0.1), silent)
    assert comparison.tools_b is None
    assert "B: not recorded" in tools_sentence(comparison)
