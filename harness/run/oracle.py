"""Whether a task measures what it should: its reference solution passes, its untouched fixture does not."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import IsolationError
from harness.graders.composite_grader import CompositeGrader, has_passed
from harness.host import trees
from harness.isolator import EnvironmentIsolator
from harness.models import ExecutionTrace, GradeResult, Task, weighted_score


@dataclass(frozen=True)
class Check:
    """What came out of one check of one task."""

    kind: str
    task_id: str
    as_expected: bool
    details: str


def oracle(task: Task) -> Check:
    """As expected when the solution, laid over the fixture, passes every code assertion."""
    if task.solution_path is None:
        return Check("oracle", task.id, False, "no solution_path in the task file")
    grades = _grade(task, with_solution=True)
    failed = [f"{g.assertion_id} fails: {g.details}" for g in grades if not g.passed]
    return _check("oracle", task, grades, not failed, "; ".join(failed) or "the solution passes")


def nop(task: Task) -> Check:
    """As expected when the untouched fixture does not pass on its code assertions."""
    grades = _grade(task, with_solution=False)
    passed = has_passed(ExecutionTrace(), grades, weighted_score(grades, task.scoring))
    details = "the untouched fixture passes" if passed else "the untouched fixture fails"
    return _check("nop", task, grades, not passed, details)


def _check(kind: str, task: Task, grades: list[GradeResult], as_expected: bool, details: str) -> Check:
    if not grades:
        return Check(kind, task.id, False, "no code assertion, so only a model could tell")
    return Check(kind, task.id, as_expected, details)


def _grade(task: Task, *, with_solution: bool) -> list[GradeResult]:
    try:
        env = EnvironmentIsolator().create_environment_for_task(task.fixture_path)
    except IsolationError as error:
        return [GradeResult(passed=False, score=0.0, assertion_id="fixture", details=str(error))]
    code_only = task.model_copy(update={"assertions": task.code_assertions})
    with env:
        if with_solution and task.solution_path is not None:
            trees.lay_over(task.solution_path, env.path)
        return CompositeGrader().grade(code_only, ExecutionTrace(), env.path)[0]
