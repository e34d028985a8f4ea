"""Adds the missing grades to a finished run, without running the agent again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from harness.graders.composite_grader import CompositeGrader, not_graded, scored
from harness.models import CodeAssertion, EvalResult, GradeResult, Task, assertion_ids


def repair(result: EvalResult, task: Task, grader: CompositeGrader, *, checks_only: bool = False) -> EvalResult:
    """Add the missing grades to a result, and keep the existing ones.

    Checks run on the kept files of the run. Once every check is graded, `kept_project` is cleared. `checks_only` asks
    no judge and leaves `kept_project` set, for a result that is not saved back to where it came from.
    """
    saved = {grade.assertion_id: grade for grade in result.grades}
    grades: dict[str, GradeResult] = {}
    replaced = result.replaced_judge_cost_usd
    with ExitStack() as stack:
        if result.kept_project is not None:
            stack.enter_context(grader.one_copy(task, result.kept_project))
        for name, assertion in zip(assertion_ids(task.assertions), task.assertions, strict=True):
            old = grade = saved.get(name)
            if isinstance(assertion, CodeAssertion):
                assert grade is not None, "the task is the one of the run, by its fingerprint"
                again = grade.status != "graded" and result.can_be_checked
            else:
                again = not checks_only and (grade is None or grade.status != "graded")
            if again:
                try:
                    grade = grader.grade_single_assertion(assertion, task, result.trace, result.kept_project)
                except Exception as error:  # handled as in the first grading
                    grade = not_graded(name, assertion, error)
                replaced += (old.judge.cost_usd or 0.0) if old is not None and old.judge else 0.0
            if grade is not None:
                grades[name] = grade
    kept = result.kept_project
    if kept is not None and not checks_only and not any(grade.status == "grading_error" for grade in grades.values()):
        kept = None
    repaired = with_grades(result, task, grades)
    return repaired.model_copy(update={"replaced_judge_cost_usd": replaced, "kept_project": kept})


def with_grades(result: EvalResult, task: Task, grades: Mapping[str, GradeResult]) -> EvalResult:
    """Return the result with these grades by assertion id, scored by the weights of its task."""
    named, score, passed = scored(task, result.trace, grades)
    return result.model_copy(update={"grades": named, "overall_score": score, "passed": passed})
