"""What would another judge say, and what do checks say that could not be carried out? Without paying the agent."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from harness.errors import InputError
from harness.graders.composite_grader import CompositeGrader, has_passed, not_graded
from harness.models import CodeAssertion, EvalResult, GradeResult, Task, assertion_ids, weighted_score


def regrade(
    result: EvalResult, tasks: Mapping[str, Task], grader: CompositeGrader, *, only_errors: bool = False
) -> EvalResult:
    """The result with its LLM assertions judged again, and score and verdict by the task's present weights.

    Code checks keep their grades, since the files they looked at are gone; those that could not be carried out
    are made up for where the files were kept, which are removed once every check has its grade. With
    `only_errors`, verdicts that exist are kept too. Runs that did not measure the agent come back as they are.

    Raises:
        InputError: the task is not there, or has a code check that the run was not graded by.
    """
    if not result.outcome.measured:
        return result
    task = tasks.get(result.task_id)
    if task is None:
        raise InputError(f"no task file has the id {result.task_id}; widen the glob of --tasks")
    saved = {grade.assertion_id: grade for grade in result.grades}
    grades: list[GradeResult] = []
    replaced = result.replaced_judge_cost_usd
    for name, assertion in zip(assertion_ids(task.assertions), task.assertions, strict=True):
        old = grade = saved.get(name)
        if isinstance(assertion, CodeAssertion):
            if grade is None:
                raise InputError(f"task {task.id}: {name} was not checked when this run was graded; run the task again")
            again = grade.status != "graded" and result.can_be_checked
        else:
            again = grade is None or not only_errors or grade.status != "graded"
        if again:
            try:
                grade = grader.grade_single_assertion(assertion, task, result.trace, result.kept_project)
            except Exception as error:  # as it was when the run was graded first
                grade = not_graded(assertion, error)
            replaced += (old.judge.cost_usd or 0.0) if old is not None and old.judge else 0.0
        assert grade is not None
        grade = grade.model_copy(update={"assertion_id": name})
        grades.append(grade.model_copy(update={"weight": grade.resolve_weight(task.scoring)}))
    score = weighted_score(grades, task.scoring)
    kept = result.kept_project
    if kept is not None and not any(grade.status == "grading_error" for grade in grades):
        shutil.rmtree(kept.parent if kept.parent.name.startswith("eval_") else kept, ignore_errors=True)
        kept = None
    return result.model_copy(
        update={
            "grades": grades,
            "overall_score": score,
            "passed": has_passed(result.trace, grades, score),
            "replaced_judge_cost_usd": replaced,
            "kept_project": kept,
        }
    )
