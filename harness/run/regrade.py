"""What would other judges say? Grades saved runs and Harbor trials again, without running the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import InputError
from harness.graders.answer_judge import JUDGE_ID, answer_grade, answer_question, no_answer_grade
from harness.graders.composite_grader import has_passed
from harness.graders.llm_graders import rubric_grade, rubric_question
from harness.graders.service import Question, Reply
from harness.models import (
    CodeAssertion,
    ErrorKind,
    EvalResult,
    GradeResult,
    LLMAssertion,
    Outcome,
    Task,
    assertion_ids,
    weighted_score,
)
from harness.results.judged_task import answer_of, task_of

Replies = Callable[[Question], Sequence[Reply]]
"""Returns the judges' replies to a question."""


class Case(Protocol):
    """A run, and the questions that judges are asked about it."""

    @property
    def questions(self) -> list[Question]:
        """The questions to ask; none for a run that says nothing about the agent."""

    def graded(self, judges: Sequence[str], replies: Replies) -> EvalResult:
        """Return the run, graded by the replies."""


@dataclass(frozen=True)
class Kept:
    """A run that keeps its grades."""

    result: EvalResult
    questions: list[Question]

    def graded(self, judges: Sequence[str], replies: Replies) -> EvalResult:
        """Return the run unchanged."""
        return self.result


@dataclass(frozen=True)
class TrialCase:
    """A Harbor trial whose answer is judged. Its verifier's reward is kept with weight 0."""

    result: EvalResult
    question: Question | None
    """None if there is no answer to judge."""
    pass_score: float

    @property
    def questions(self) -> list[Question]:
        """At most one question."""
        return [self.question] if self.question else []

    def graded(self, judges: Sequence[str], replies: Replies) -> EvalResult:
        """Return the trial, with the judges' median overall grade as its score."""
        if self.question is None:
            return with_score(self.result, no_answer_grade(), self.pass_score)
        grade = answer_grade(self.question, judges, replies(self.question), self.pass_score)
        return with_score(self.result, grade, self.pass_score)


@dataclass(frozen=True)
class RunCase:
    """A run of this harness whose LLM assertions are judged again; its code checks keep their grades."""

    result: EvalResult
    task: Task
    kept: Mapping[str, GradeResult]
    """Grades to keep, by assertion id."""
    asked: Mapping[str, tuple[LLMAssertion, Question]]

    @property
    def questions(self) -> list[Question]:
        """One question per assertion to judge."""
        return [question for _, question in self.asked.values()]

    def graded(self, judges: Sequence[str], replies: Replies) -> EvalResult:
        """Return the run, scored with the task's current weights."""
        grades = []
        for name in assertion_ids(self.task.assertions):
            if name in self.asked:
                assertion, question = self.asked[name]
                grade = rubric_grade(assertion, self.task, self.result.trace, judges, replies(question))
                grade = grade.model_copy(update={"assertion_id": name})
            else:
                grade = self.kept[name]
            grades.append(grade.model_copy(update={"weight": grade.resolve_weight(self.task.scoring)}))
        score = weighted_score(grades, self.task.scoring)
        passed = has_passed(self.result.trace, grades, score)
        return self.result.model_copy(update={"grades": grades, "overall_score": score, "passed": passed})


def is_trial(result: EvalResult) -> bool:
    """Return whether a result was read from a Harbor trial."""
    return bool(result.source)


def trial_case(result: EvalResult, tasks_dir: Path | None, pass_score: float, *, only_errors: bool = False) -> Case:
    """Turn a Harbor trial into a case. A trial whose verifier failed still has an answer, and is graded.

    Raises:
        InputError: the trial's task or answer cannot be read.
    """
    judged = [grade for grade in result.grades if grade.assertion_id == JUDGE_ID]
    if not result.has_answer or (only_errors and judged and judged[0].status == "graded"):
        return Kept(result, [])
    answer = answer_of(result)
    if not answer.strip():
        return TrialCase(result, None, pass_score)
    task = task_of(result, tasks_dir)
    return TrialCase(result, answer_question(task.asked, answer, lambda: task.pack(answer)), pass_score)


def run_case(result: EvalResult, tasks: Mapping[str, Task], *, only_errors: bool = False) -> Case:
    """Turn a run of this harness into a case; `only_errors` keeps existing verdicts.

    Raises:
        InputError: the task is missing, or has a code check that the run was not graded by.
    """
    if not result.outcome.measured:
        return Kept(result, [])
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
    return RunCase(result, task, saved, asked)


def with_score(result: EvalResult, grade: GradeResult, pass_score: float) -> EvalResult:
    """Return the trial with this grade as its score; earlier grades are kept with weight 0.

    A trial that was lost because its verifier failed counts again once it has a grade.
    """
    beside = [g.model_copy(update={"weight": 0.0}) for g in result.grades if g.assertion_id != grade.assertion_id]
    trace = result.trace
    if trace.error_kind is ErrorKind.GRADING and grade.status == "graded":
        mended = {"outcome": Outcome.COMPLETED, "error_kind": ErrorKind.NONE, "error": "", "is_error": False}
        trace = trace.model_copy(update=mended)
    passed = trace.outcome is Outcome.COMPLETED and grade.status == "graded" and grade.score >= pass_score
    return result.model_copy(
        update={
            "trace": trace,
            "outcome": trace.outcome,
            "grades": [*beside, grade],
            "overall_score": grade.score,
            "passed": passed,
        }
    )
