"""The terminal reports, the aggregates behind them and the regression check."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.models import CriterionScore, FileChange, GradeResult, JudgeRecord, Outcome, ToolCall
from harness.reporter import AggregatedMetrics, Reporter
from measure.results.files import load_results
from measure.summary.metrics import aggregate
from tests.support.results import arm, judge_failed, run

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


@pytest.fixture
def said() -> tuple[Reporter, io.StringIO]:
    text = io.StringIO()
    return Reporter(Console(file=text, width=200, color_system=None)), text


def test_aggregates_have_the_specified_names() -> None:
    metrics = aggregate(arm({"a": 3, "b": 1}, 3, tokens=200, cost=0.5, seconds=4.0))
    assert isinstance(metrics, AggregatedMetrics)
    assert (metrics.total_runs, metrics.passed, metrics.failed) == (6, 4, 2)
    assert metrics.pass_rate == pytest.approx(4 / 6)
    assert metrics.avg_score == pytest.approx(4 / 6)
    assert (metrics.avg_tokens, metrics.avg_duration, metrics.avg_cost) == (200, 4.0, 0.5)
    assert metrics.pass_at_k == pytest.approx({1: (1 + 1 / 3) / 2, 3: 1.0})
    assert metrics.pass_hat_k == pytest.approx({1: (1 + 1 / 3) / 2, 3: 0.5})


def test_pass_at_k_needs_k_runs() -> None:
    assert aggregate(arm({"a": 3}, 3)).pass_at_k.keys() == {1, 3}


def test_lost_runs_are_counted_apart() -> None:
    lost = run("a", passed=False, outcome=Outcome.INFRA_ERROR, cost=1.0)
    metrics = aggregate([*arm({"a": 2}, 2), lost, judge_failed("a")])
    assert (metrics.total_runs, metrics.pass_rate) == (2, 1.0)
    assert metrics.errors == {"infra_error": 1, "judge_error": 1}
    assert metrics.total_cost == pytest.approx(1.03)


def test_no_results_have_no_rate_to_boast_of() -> None:
    metrics = aggregate([])
    assert (metrics.total_runs, metrics.pass_rate, metrics.pass_interval) == (0, 0.0, None)
    assert metrics.pass_at_k == {}


def test_the_cost_of_judges_is_in_the_total() -> None:
    grade = GradeResult(passed=True, score=1, judge=JudgeRecord(model="j", cost_usd=0.25))
    assert aggregate([run(cost=1.0, grades=[grade])]).total_cost == 1.25


def test_summary_shows_rates_intervals_and_lost_runs(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    lost = run("t00", "base", passed=False, outcome=Outcome.INFRA_ERROR)
    reporter.print_summary([*arm({"t00": 3, "t01": 0}, 3), lost])
    for expected in ("base", "3/6", "50.0 %", "19 to 81 %", "1 infra_error", "3/3 +1 lost", "0/3"):
        assert expected in text.getvalue()


def test_text_of_an_agent_is_never_taken_for_markup(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    hostile = run(
        "t[/bold]",
        trace={"result": "[red]x[/nope]", "stderr": "[/]", "claude_prompt": "[link=x]"},
        grades=[GradeResult(assertion_id="[a]", passed=False, score=0, details="[/b]")],
    )
    reporter.print_summary([hostile])
    reporter.print_detailed_result(hostile, verbose=True)
    reporter.print_explain(hostile)
    reporter.print_analysis([hostile])
    assert "[red]x[/nope]" in text.getvalue()


def test_a_detailed_result_shows_grades_with_their_reasons(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    grade = GradeResult(
        assertion_id="llm_0",
        passed=True,
        score=0.8,
        weight=3,
        reasoning="mostly",
        criteria_scores=[CriterionScore(criterion="small", score=0.8, reasoning="three lines", evidence="a.py:1")],
        judge=JudgeRecord(model="judge-1", spread=0.1),
    )
    reporter.print_detailed_result(run(grades=[grade], tools=["Edit"]))
    for expected in ("llm_0", "mostly", "three lines [a.py:1]", "judged by judge-1, spread 0.10", "Edit"):
        assert expected in text.getvalue()


def test_explain_shows_prompt_transcript_changes_and_stderr_whole(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    trace: dict[str, Any] = {
        "claude_prompt": "fix it",
        "claude_response": "did it",
        "stderr": "warned",
        "tool_calls": [ToolCall(name="Bash", input={"command": "ls"}, output="x" * 500 + "END")],
        "file_changes": [FileChange(path="a.py", action="modified", diff="-a\n+b")],
    }
    grade = GradeResult(assertion_id="c", passed=True, score=1, full_output="5 passed", grading_prompt="P")
    reporter.print_explain(run(trace=trace, grades=[grade]))
    shown = text.getvalue()
    assert all(part in shown for part in ("fix it", "did it", "warned", "END", "+b", "5 passed"))


def test_analysis_filters_by_task_and_failure(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    reporter.print_analysis(arm({"auth": 1, "other": 0}, 2), task_filter="auth", failed_only=True)
    assert "1 of 4 runs" in text.getvalue()
    assert "code_0_tests_pass" in text.getvalue()
    assert "other" not in text.getvalue()


def test_diff_shows_both_labels_and_the_verdict(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    reporter.print_diff(arm(same(5), 5), arm(same(2), 5), "before", "after")
    assert "after is worse than before: -60.0 points" in text.getvalue()
    assert "-60.0 points" in text.getvalue()


def test_regression_comparison_prints_every_task(said: tuple[Reporter, io.StringIO]) -> None:
    reporter, text = said
    reporter.print_regression_comparison(arm(same(3), 3), arm(same(3), 3))
    told = "No evidence that current is better or worse than baseline by more than 5 points on these very tasks."
    assert told in text.getvalue().replace("\n", " ")
    assert all(task in text.getvalue() for task in TASKS)


def test_export_is_a_results_file(tmp_path: Path, said: tuple[Reporter, io.StringIO]) -> None:
    results = arm({"a": 1}, 3)
    said[0].export_json(results, tmp_path / "out" / "results.json")
    assert load_results(tmp_path / "out" / "results.json") == results
    summary = json.loads((tmp_path / "out" / "results.json").read_text())["summary"]
    assert summary["pass_rate"] == pytest.approx(1 / 3)
    assert summary["pass_at_3"] == 1.0


def test_check_regression_keeps_its_keys_and_adds_the_evidence() -> None:
    found, report = Reporter().check_regression(arm(same(5), 5), arm(same(2), 5))
    assert found is True
    assert report["has_regressions"] is True
    assert report["threshold"] == 0.05
    assert {
        "task_id": "t00",
        "config": "base",
        "model": "m",
        "baseline_pass_rate": 1.0,
        "current_pass_rate": 0.4,
        "delta": -0.6,
    }.items() <= report["comparisons"][0].items()
    assert report["p_value"] < 0.035
    assert json.loads(json.dumps(report)) == report


def test_one_broken_task_is_a_regression_though_the_suite_barely_moves() -> None:
    found, report = Reporter().check_regression(arm(same(8), 8), arm(same(8) | {"t03": 0}, 8))
    assert found
    assert [row["task_id"] for row in report["regressions"]] == ["t03"]
    assert report["regression_count"] == 1


def test_noise_of_three_runs_is_no_regression() -> None:
    found, report = Reporter().check_regression(arm(same(3), 3), arm(same(3) | {"t00": 2, "t01": 1}, 3))
    assert not found
    assert report["verdict"] == "no evidence"


def test_new_and_missing_tasks_are_not_changes() -> None:
    baseline, current = arm(same(3) | {"gone": 3}, 3), arm(same(3) | {"new": 0}, 3)
    found, report = Reporter().check_regression(baseline, current)
    assert not found
    assert report["unmatched"] == {"baseline": ["gone"], "current": ["new"]}


def test_a_gain_of_some_tasks_does_not_hide_a_broken_one() -> None:
    a = same(1) | {"t00": 10}
    b = same(9) | {"t00": 0}
    found, report = Reporter().check_regression(arm(a, 10), arm(b, 10))
    assert found
    assert report["improvement_count"] > 0


def test_everything_broken_is_a_regression_however_few_the_tasks() -> None:
    found, report = Reporter().check_regression(arm({"a": 3, "b": 3, "c": 3}, 3), arm({"a": 0, "b": 0, "c": 0}, 3))
    assert found is True
    assert (report["verdict"], report["decided"]) == ("regression", True)


def test_cannot_tell_is_told_from_nothing_happened() -> None:
    few, many = {"a": 1, "b": 1}, same(2)
    assert Reporter().check_regression(arm(few, 1), arm(few, 1))[1]["decided"] is False
    assert Reporter().check_regression(arm(many, 3), arm(many, 3))[1]["decided"] is True


def test_four_tasks_of_eight_that_broke_are_a_regression_however_many_others_stayed_as_they_were() -> None:
    broken = dict.fromkeys([f"broken{n}" for n in range(4)], 3)
    stayed = {f"same{n}": (3, 2, 1)[n % 3] for n in range(200)}
    for others in ({}, dict(list(stayed.items())[:4]), stayed):
        found, report = Reporter().check_regression(
            arm(broken | others, 3), arm(dict.fromkeys(broken, 0) | others, 3), threshold=0.05
        )
        assert found is True
        assert report["p_value"] == pytest.approx(1 / 160_000)
        assert [row["task_id"] for row in report["regressions"]] == list(broken)


def test_a_summary_fits_80_columns() -> None:
    name = "python_data_pipeline_expert_042_architectural_understanding_expert_01"
    for configs in (["with-search"], ["with-search", "without-search"]):
        out = io.StringIO()
        results = [r for config in configs for r in arm({name: 2, "b": 3}, 3, config=config, model="claude-x-20260101")]
        Reporter(Console(file=out, width=80)).print_summary(results)
        assert max(map(len, out.getvalue().splitlines())) <= 80
        assert name in out.getvalue()
