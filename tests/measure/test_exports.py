"""JSON and Markdown: what a reader program gets, whatever the texts of an agent are."""

from __future__ import annotations

import json

import pytest

from measure.compare.comparison import compare, compare_arms
from measure.report import exports
from tests.support.results import arm, run

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


def test_markdown_cannot_be_broken_by_names() -> None:
    results = arm(same(2), 3)
    comparison = compare(results, results, label_a="x|y\n# <img>")
    assert "x\\|y \\# \\<img\\>" in exports.comparison_markdown(comparison)


def test_markdown_of_a_comparison_names_verdict_warnings_and_tasks() -> None:
    b = [*arm(same(8) | {"t03": 0}, 8), run("only-b")]
    text = exports.comparison_markdown(compare(arm(same(8), 8), b))
    assert "changed by more than chance: t03 (regression)" in text.replace("\\", "")
    assert "Before you believe it" in text
    assert "| t03 | 8/8 | 0/8 | -100.0 points |" in text


@pytest.mark.parametrize("metric", ["pass_rate", "score"])
def test_data_of_a_comparison_is_plain_json(metric: str) -> None:
    arms = [("a", arm(same(3), 3)), ("b", arm(same(1), 3))]
    data = json.loads(exports.comparison_json(compare_arms(arms, metric="score" if metric == "score" else "pass_rate")))
    assert data["verdict"] == "regression"
    assert len(data["decision"]["units"]) == 20


def test_data_of_a_comparison_without_common_tasks_is_plain_json() -> None:
    data = json.loads(exports.comparison_json(compare_arms([("x", arm({"a": 1}, 1)), ("y", arm({"b": 1}, 1))])))
    assert data["verdict"] == "not enough data"
    assert (data["only_a"], data["only_b"]) == (["a"], ["b"])


def test_what_no_run_recorded_is_null_and_never_0() -> None:
    unknown = {"usage": None, "duration_seconds": None, "num_turns": None, "cost_usd": None, "has_transcript": False}
    lost = run(passed=False, cost=None, trace={**unknown, "outcome": "infra_error"})
    summary = exports.summary_of([lost])
    assert {name: summary[name] for name in ("pass_rate", "avg_score", "avg_tokens", "total_cost_usd")} == {
        "pass_rate": None,
        "avg_score": None,
        "avg_tokens": None,
        "total_cost_usd": None,
    }


def test_markdown_of_a_comparison_has_the_difference_of_every_group() -> None:
    a = [*arm(same(3), 3, language="python"), *arm({"x1": 3, "x2": 3}, 3, language="rust")]
    text = exports.comparison_markdown(compare(a, a))
    assert "| language | rust | 2 | +0.0 points |" in text
    assert "B on 22 tasks: 0 better (0 %), 22 the same (100 %), 0 worse (0 %)." in text
