"""What would other judges say? Grades saved runs and Harbor trials again, without running the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError
from harness.graders.answer_judge import answer_grade, answer_question, no_answer_grade
from harness.graders.composite_grader import scored
from harness.graders.llm_graders import rubric_grade, rubric_question
from harness.graders.service import Question
from harness.models import (
    PASS_SCORE,
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


def trial_case(result: EvalResult, tasks_dir: Path | None) -> Case:
    """Turn a Harbor trial into a case: the judges' median is its score, the verifier's reward stays with weight 0.

    A trial whose verifier failed still has an answer, and is graded. InputError if the trial's task or answer cannot be
    read.
    """
    if not result.has_answer:
        return Case([], lambda _panel: result)
    answer = judged_answer(result)
    if not answer.strip():
        return Case([], lambda _panel: with_score(result, no_answer_grade()))
    task = task_of(result, tasks_dir)
    question = answer_question(task.asked, answer, lambda: task.pack(answer))

    def graded(panel: Panel) -> EvalResult:
        return with_score(result, answer_grade(question, panel.judges, panel.replies(question), PASS_SCORE))

    return Case([question], graded)


def run_case(result: EvalResult, tasks: Mapping[str, Task]) -> Case:
    """Turn a run of this harness into a case: its LLM assertions are judged again, its checks keep their grades.

    It is scored with the task's current weights. InputError if the task is missing, or has a code check that the run
    was not graded by.
    """
    if not result.outcome.measured:
        return Case([], lambda _panel: result)
    task = tasks.get(result.task_id)
    if task is None:
        raise InputError(f"no task file has the id {result.task_id}; widen the glob of --tasks")
    saved = {grade.assertion_id: grade for grade in result.grades}
    assertions = dict(zip(assertion_ids(task.assertions), task.assertions, strict=True))
    asked: dict[str, Question] = {}
    for name, assertion in assertions.items():
        if isinstance(assertion, LLMAssertion):
            asked[name] = rubric_question(assertion, task, result.trace)
        elif name not in saved:
            raise InputError(f"task {task.id}: {name} was not checked when this run was graded; run the task again")

    def graded(panel: Panel) -> EvalResult:
        grades = {
            name: rubric_grade(assertion, task, result.trace, panel.judges, panel.replies(asked[name]))
            if isinstance(assertion, LLMAssertion)
            else saved[name]
            for name, assertion in assertions.items()
        }
        named, score, passed = scored(task, result.trace, grades)
        return result.model_copy(update={"grades": named, "overall_score": score, "passed": passed})

    return Case(list(asked.values()), graded)


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
