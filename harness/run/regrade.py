"""What would other judges say? Grades saved runs and Harbor trials again, without running the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.graders.answer_judge import JUDGE_ID, answer_grade, answer_question, no_answer_grade
from harness.graders.llm_graders import rubric_grade, rubric_question
from harness.graders.service import Question
from harness.models import (
    PASS_SCORE,
    CodeAssertion,
    ErrorKind,
    EvalResult,
    GradeResult,
    LLMAssertion,
    Outcome,
    Task,
    assertion_ids,
)
from harness.results.judged_task import judged_answer, task_of
from harness.run.panel import Panel
from harness.run.repair import with_grades


@dataclass(frozen=True)
class Case:
    """A run, and the questions that judges are asked about it."""

    questions: list[Question]
    """None for a run that says nothing about the agent, or keeps its grades."""
    graded: Callable[[Panel], EvalResult]
    """Returns the run, graded by the replies of the judges."""


def is_trial(result: EvalResult) -> bool:
    """Return whether a result was read from a Harbor trial."""
    return bool(result.source)


def trial_case(result: EvalResult, tasks_dir: Path | None, *, only_errors: bool = False) -> Case:
    """Turn a Harbor trial into a case: the judges' median is its score, the verifier's reward stays with weight 0.

    A trial whose verifier failed still has an answer, and is graded. InputError if the trial's task or answer cannot be
    read.
    """
    judged = [grade for grade in result.grades if grade.assertion_id == JUDGE_ID]
    if not result.has_answer or (only_errors and judged and judged[0].status == "graded"):
        return Case([], lambda _panel: result)
    answer = judged_answer(result)
    if not answer.strip():
        return Case([], lambda _panel: with_score(result, no_answer_grade()))
    task = task_of(result, tasks_dir)
    question = answer_question(task.asked, answer, lambda: task.pack(answer))

    def graded(panel: Panel) -> EvalResult:
        return with_score(result, answer_grade(question, panel.judges, panel.replies(question), PASS_SCORE))

    return Case([question], graded)


def run_case(result: EvalResult, tasks: Mapping[str, Task], *, only_errors: bool = False) -> Case:
    """Turn a run of this harness into a case: its LLM assertions are judged again, its checks keep their grades.

    It is scored with the task's current weights. `only_errors` keeps existing verdicts. InputError if the task is
    missing, or has a code check that the run was not graded by.
    """
    if not result.outcome.measured:
        return Case([], lambda _panel: result)
    task = tasks.get(result.task_id)
    if task is None:
        raise InputError(f"no task file has the id {result.task_id}; widen the glob of --tasks")
    saved = {grade.assertion_id: grade for grade in result.grades}
    asked: dict[str, tuple[LLMAssertion, Question]] = {}
    for name, assertion in zip(assertion_ids(task.assertions), task.assertions, strict=True):
        grade = saved.get(name)
        if isinstance(assertion, CodeAssertion):
            if grade is None:
                raise InputError(f"task {task.id}: {name} was not checked when this run was graded; run the task again")
        elif grade is None or not only_errors or grade.status != "graded":
            asked[name] = (assertion, rubric_question(assertion, task, result.trace))

    def graded(panel: Panel) -> EvalResult:
        grades = {name: saved[name] for name in assertion_ids(task.assertions) if name not in asked}
        for name, (assertion, question) in asked.items():
            grades[name] = rubric_grade(assertion, task, result.trace, panel.judges, panel.replies(question))
        return with_grades(result, task, {name: grades[name] for name in assertion_ids(task.assertions)})

    return Case([question for _, question in asked.values()], graded)


def with_score(result: EvalResult, grade: GradeResult) -> EvalResult:
    """Return the trial with this grade as its score; earlier grades are kept with weight 0.

    A trial that was lost because its verifier failed counts again once it has a grade.
    """
    beside = [g.model_copy(update={"weight": 0.0}) for g in result.grades if g.assertion_id != grade.assertion_id]
    trace = result.trace
    if trace.error_kind is ErrorKind.GRADING and grade.status == "graded":
        mended = {"outcome": Outcome.COMPLETED, "error_kind": ErrorKind.NONE, "error": "", "is_error": False}
        trace = trace.model_copy(update=mended)
    passed = trace.outcome is Outcome.COMPLETED and grade.status == "graded" and grade.score >= PASS_SCORE
    return result.model_copy(
        update={
            "trace": trace,
            "outcome": trace.outcome,
            "grades": [*beside, grade],
            "overall_score": grade.score,
            "passed": passed,
        }
    )
