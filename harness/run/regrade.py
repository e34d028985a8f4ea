"""What would another judge have said? Grades saved runs again from their traces, without the agent."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import InputError
from harness.graders.composite_grader import has_passed
from harness.graders.llm_graders import LLMGrader
from harness.models import CodeAssertion, EvalResult, GradeResult, Task, assertion_ids, weighted_score


def regrade(
    result: EvalResult, tasks: Mapping[str, Task], judge: LLMGrader, *, only_errors: bool = False
) -> EvalResult:
    """The result with its LLM assertions judged again, and score and verdict by the task's present weights.

    Grades of code checks are kept, since the files they looked at are gone. With `only_errors`, verdicts that
    exist are kept too. Runs that did not measure the agent come back as they are. InputError when the task is
    not there, or has a code check that the run was not graded by.
    """
    if not result.outcome.measured:
        return result
    task = tasks.get(result.task_id)
    if task is None:
        raise InputError(f"no task file has the id {result.task_id}; widen the glob of --tasks")
    saved = {grade.assertion_id: grade for grade in result.grades}
    grades: list[GradeResult] = []
    for name, assertion in zip(assertion_ids(task.assertions), task.assertions, strict=True):
        grade = saved.get(name)
        if isinstance(assertion, CodeAssertion):
            if grade is None:
                raise InputError(f"task {task.id}: {name} was not checked when this run was graded; run the task again")
        elif grade is None or not only_errors or grade.status != "graded":
            grade = judge.grade(assertion, task, result.trace).model_copy(update={"assertion_id": name})
        grades.append(grade.model_copy(update={"weight": grade.resolve_weight(task.scoring)}))
    score = weighted_score(grades, task.scoring)
    return result.model_copy(
        update={
            "grades": grades,
            "overall_score": score,
            "passed": has_passed(result.trace, grades, score),
        }
    )
