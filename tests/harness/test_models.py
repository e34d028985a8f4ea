"""What models promise: weights, passing, token totals, and what tasks and configs refuse."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from harness.graders.composite_grader import has_passed
from harness.models import (
    CodeAssertion,
    Config,
    EvalResult,
    ExecutionTrace,
    GradeResult,
    LLMAssertion,
    Outcome,
    Task,
    TokenUsage,
    assertion_ids,
)


def grade(name: str, score: float, kind: str = "code", **more: object) -> GradeResult:
    return GradeResult.model_validate(
        {"assertion_id": name, "assertion_type": kind, "passed": score >= 0.7, "score": score, **more}
    )


def result(*grades: GradeResult, **more: object) -> EvalResult:
    base = {"task_id": "t", "config_name": "c", "model": "m", "run_index": 0, "timestamp": datetime.now(UTC)}
    return EvalResult.model_validate({**base, "trace": ExecutionTrace(), "grades": list(grades), **more})


def task(**fields: object) -> Task:
    base = {"id": "t", "category": "coding", "description": "d", "prompt": "p"}
    return Task.model_validate({**base, **fields})


TESTS = {"type": "code", "check": "tests_pass"}
CONTAINS = {"type": "code", "check": "file_contains", "file": "a.py", "pattern": "x"}
JUDGE = {"type": "llm", "rubric": "Is it readable?"}

DOCUMENTED = {"tests_pass": 50, "file_contains": 20, "llm_quality": 30}


def test_documented_weights_apply_to_checks_and_judges() -> None:
    """The judge's weight used to be looked up under llm_0 and never found, so 0.70 scored 0.986."""
    scored = result(grade("code_0_tests_pass", 1), grade("code_1_file_contains", 1), grade("llm_0", 0, "llm"))
    assert scored.calculate_overall_score(DOCUMENTED) == pytest.approx(0.7)


def test_weights_resolve_by_id_before_check_name() -> None:
    grades = (grade("logs", 1, assertion_name="file_contains"), grade("code_1_file_contains", 0))
    assert result(*grades).calculate_overall_score({"logs": 3, "file_contains": 1}) == pytest.approx(0.75)


def test_assertions_with_ids_of_their_own_get_their_weights() -> None:
    """Keys such as file_contains_logging used to match nothing and count as 1."""
    weighed = task(assertions=[TESTS, {**CONTAINS, "id": "file_contains_logging"}], scoring={"tests_pass": 2})
    assert assertion_ids(weighed.assertions) == ["code_0_tests_pass", "file_contains_logging"]
    grades = (grade("code_0_tests_pass", 1), grade("file_contains_logging", 0))
    weights = {"tests_pass": 2, "file_contains_logging": 1}
    assert result(*grades).calculate_overall_score(weights) == pytest.approx(2 / 3)


def test_weight_0_means_0() -> None:
    grades = (grade("code_0_tests_pass", 1), grade("code_1_file_contains", 0))
    assert result(*grades).calculate_overall_score({"file_contains": 0}) == 1.0


def test_without_a_key_the_weight_is_1() -> None:
    grades = (grade("code_0_tests_pass", 1), grade("code_1_file_contains", 0))
    assert result(*grades).calculate_overall_score({"tests_pass": 3}) == 0.75


def test_a_failed_judge_does_not_count_in_the_score() -> None:
    grades = (grade("code_0_tests_pass", 1), grade("llm_0", 0, "llm", status="judge_error"))
    assert result(*grades).calculate_overall_score({}) == 1.0


def test_a_failed_judge_leaves_the_run_unmeasured() -> None:
    assert not result(grade("llm_0", 0, "llm", status="judge_error")).measured


PASSED, FAILED = grade("tests", 1.0), grade("lint", 0.2)
JUDGE_ERROR = grade("llm_0", 0.0, "llm", status="judge_error")
BROKEN = ExecutionTrace(is_error=True, outcome=Outcome.SETUP_ERROR, error="no fixture")


@pytest.mark.parametrize(
    ("made", "verdict", "lost_to", "why"),
    [
        (result(PASSED, passed=True), "pass", "", ""),
        (result(PASSED, FAILED), "fail", "", "lint"),
        (
            result(FAILED, trace=ExecutionTrace(outcome=Outcome.TIMEOUT, error="time is up")),
            "fail",
            "",
            "time is up; lint",
        ),
        (result(trace=BROKEN), "lost", "setup_error", "no fixture"),
        (result(PASSED, JUDGE_ERROR, passed=True), "lost", "judge_error", "llm_0 (judge error)"),
    ],
    ids=["pass", "fail", "timeout", "setup", "judge"],
)
def test_a_result_says_whether_it_passed_failed_or_was_lost_and_why(
    made: EvalResult, verdict: str, lost_to: str, why: str
) -> None:
    assert (made.verdict, made.lost_to, made.why) == (verdict, lost_to, why)
    assert made.measured is (verdict != "lost")


def test_a_run_that_says_something_about_the_agent_is_not_made_again() -> None:
    assert result(JUDGE_ERROR).outcome.measured
    assert not result(trace=BROKEN).outcome.measured


def test_without_grades_the_score_is_0() -> None:
    assert result().calculate_overall_score({}) == 0.0


def test_a_task_without_assertions_does_not_pass() -> None:
    """All code assertions pass, vacuously; that used to be enough."""
    assert not has_passed(ExecutionTrace(), [], 0.0)


def test_a_judge_alone_below_the_threshold_does_not_pass() -> None:
    assert not has_passed(ExecutionTrace(), [grade("llm_0", 0.2, "llm")], 0.2)


def test_a_run_passes_when_all_code_assertions_pass() -> None:
    assert has_passed(ExecutionTrace(), [grade("code_0_tests_pass", 1), grade("llm_0", 0, "llm")], 0.5)


def test_a_run_passes_from_the_threshold_on() -> None:
    assert has_passed(ExecutionTrace(), [grade("code_0_tests_pass", 0), grade("llm_0", 1, "llm")], 0.7)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.COMPLETED])
def test_a_run_that_did_not_complete_never_passes(outcome: Outcome) -> None:
    assert not has_passed(ExecutionTrace(outcome=outcome), [grade("code_0_tests_pass", 1)], 1.0)


def test_an_errored_run_never_passes() -> None:
    trace = ExecutionTrace(is_error=True, outcome=Outcome.COMPLETED)
    assert not has_passed(trace, [grade("code_0_tests_pass", 1)], 1.0)


def test_an_error_without_an_outcome_is_not_held_against_the_agent() -> None:
    assert ExecutionTrace(is_error=True).outcome is Outcome.INFRA_ERROR
    assert ExecutionTrace().outcome is Outcome.COMPLETED


def test_infra_and_setup_errors_are_outside_the_rates() -> None:
    measured = {o for o in Outcome if result(trace=ExecutionTrace(outcome=o)).measured}
    assert measured == {Outcome.COMPLETED, Outcome.AGENT_ERROR, Outcome.TIMEOUT}


def test_result_takes_outcome_cost_and_version_from_its_trace() -> None:
    trace = ExecutionTrace(outcome=Outcome.TIMEOUT, cost_usd=0.5, claude_code_version="2.1.330")
    made = result(trace=trace)
    assert (made.outcome, made.cost_usd, made.claude_code_version) == (Outcome.TIMEOUT, 0.5, "2.1.330")


def test_result_survives_json() -> None:
    made = result(grade("llm_0", 0.5, "llm"), cost_usd=1.0)
    assert EvalResult.model_validate_json(made.model_dump_json()) == made


def test_total_tokens_leave_the_cache_out_and_another_total_has_it() -> None:
    usage = TokenUsage(input_tokens=1, output_tokens=2, cache_read_tokens=4, cache_creation_tokens=8)
    assert (usage.total_tokens, usage.total_tokens_with_cache) == (3, 15)


def test_task_filters_its_assertions_by_kind() -> None:
    made = task(assertions=[JUDGE, TESTS, JUDGE])
    assert [type(a) for a in made.code_assertions] == [CodeAssertion]
    assert [type(a) for a in made.llm_assertions] == [LLMAssertion, LLMAssertion]
    assert assertion_ids(made.assertions) == ["llm_0", "code_0_tests_pass", "llm_1"]


def test_ids_used_twice_are_refused() -> None:
    with pytest.raises(ValidationError, match="used twice: x"):
        task(assertions=[{**TESTS, "id": "x"}, {**JUDGE, "id": "x"}])


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "code", "check": "file_exists"},
        {"type": "code", "check": "file_contains", "file": "a"},
        {"type": "code", "check": "command_succeeds"},
        {"type": "code", "check": "file_exists", "file": "../x"},
        {"type": "code", "check": "file_exists", "file": "/etc/passwd"},
        {**CONTAINS, "pattern": "("},
    ],
    ids=["no file", "no pattern", "no command", "parent", "absolute", "bad pattern"],
)
def test_assertions_that_cannot_be_checked_are_refused(assertion: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        task(assertions=[assertion])


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_prompt_is_refused(prompt: str) -> None:
    """The CLI does not start with one."""
    with pytest.raises(ValidationError, match="prompt"):
        task(prompt=prompt)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf")])
def test_weights_that_are_no_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValidationError):
        task(assertions=[TESTS], scoring={"tests_pass": weight})


def test_skills_without_the_skill_tool_are_refused() -> None:
    """The CLI lists such a skill as loaded, and the model never hears of it."""
    with pytest.raises(ValidationError, match="add Skill"):
        Config.model_validate({"name": "c", "skills_path": "skills", "allowed_tools": ["Read"]})


def test_results_may_be_changed_and_what_a_user_wrote_may_not() -> None:
    """As docs/HARNESS.md says: a list in a frozen model could be changed all the same."""
    result = EvalResult.model_validate(
        {"task_id": "t", "config_name": "c", "model": "m", "run_index": 0, "timestamp": 0, "trace": {}}
    )
    result.grades.append(GradeResult(passed=True, score=0.5))
    result.overall_score = result.calculate_overall_score({})
    assert result.overall_score == 0.5
    assert ExecutionTrace().usage is not ExecutionTrace().usage
    with pytest.raises(ValidationError, match="frozen"):
        Config(name="c").model = "m"
