"""Does a task measure what it should? Its reference solution must pass, its untouched fixture must not."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import IsolationError
from harness.graders.composite_grader import CompositeGrader, has_passed
from harness.host import trees
from harness.isolator import EnvironmentIsolator
from harness.models import ExecutionTrace, GradeResult, Task, weighted_score


@dataclass(frozen=True)
class Check:
    """The result of one check of a task."""

    kind: str
    task_id: str
    as_expected: bool
    details: str


def oracle(task: Task, grader: CompositeGrader | None = None) -> Check:
    """Check that the solution, laid over the fixture, passes every code assertion.

    A `grader` used before already knows what the solution passes.
    """
    if task.solution_path is None:
        return Check("oracle", task.id, False, "no solution_path in the task file")
    grades = _grade(task, grader, with_solution=True)
    failed = [f"{g.assertion_id} fails: {g.details}" for g in grades if not g.passed]
    return _check("oracle", task, grades, not failed, "; ".join(failed) or "the solution passes")


def nop(task: Task, grader: CompositeGrader | None = None) -> Check:
    """Check that the untouched fixture does not pass, and that every code assertion could be carried out."""
    grades = _grade(task, grader, with_solution=False)
    if lost := [f"{g.assertion_id}: {g.details}" for g in grades if g.status != "graded"]:
        return Check("nop", task.id, False, "; ".join(lost))
    passed = has_passed(ExecutionTrace(), grades, weighted_score(grades, task.scoring))
    details = "the untouched fixture passes" if passed else "the untouched fixture fails"
    return _check("nop", task, grades, not passed, details)


def _check(kind: str, task: Task, grades: list[GradeResult], as_expected: bool, details: str) -> Check:
    if not grades:
        return Check(kind, task.id, False, "no code assertion, so only a model could tell")
    return Check(kind, task.id, as_expected, details)


def _grade(task: Task, grader: CompositeGrader | None, *, with_solution: bool) -> list[GradeResult]:
    try:
        env = EnvironmentIsolator().create_environment_for_task(task.fixture_path)
    except IsolationError as error:
        return [
            GradeResult(passed=False, score=0.0, assertion_id="fixture", details=str(error), status="grading_error")
        ]
    code_only = task.model_copy(update={"assertions": task.code_assertions})
    with env:
        if with_solution and task.solution_path is not None:
            trees.copy(task.solution_path, env.path)
        return (grader or CompositeGrader()).grade(code_only, ExecutionTrace(), env.path)[0]
