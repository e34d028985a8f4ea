"""Checks of a task: its reference solution must pass, its untouched fixture must not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.graders.composite_grader import CompositeGrader, has_passed
from harness.isolator import EnvironmentIsolator
from harness.models import ExecutionTrace, GradeResult, Task, weighted_score
from harness.sandbox import trees
from locobench.shared.errors import InputError


@dataclass(frozen=True)
class Check:
    """The result of one check of a task."""

    kind: str
    task_id: str
    as_expected: bool
    details: str


def oracle(task: Task, grader: CompositeGrader | None = None) -> Check:
    """Check that the solution, laid over the fixture, passes every code assertion.

    A `grader` that was used before remembers what the solution passes.
    """
    if task.solution_path is None:
        return Check("oracle", task.id, False, "no solution_path in the task file")
    grades = _grade(task, grader, task.solution_path)
    failed = "; ".join(f"{g.assertion_id} fails: {g.details}" for g in grades if not g.passed)
    return Check("oracle", task.id, not failed, failed or "the solution passes")


def nop(task: Task, grader: CompositeGrader | None = None) -> Check:
    """Check that the untouched fixture does not pass, and that every code assertion can be graded."""
    grades = _grade(task, grader, None)
    lost = "; ".join(f"{g.assertion_id}: {g.details}" for g in grades if g.status != "graded")
    passes = has_passed(ExecutionTrace(), grades, weighted_score(grades, task.scoring))
    details = lost or f"the untouched fixture {'passes' if passes else 'fails'}"
    return Check("nop", task.id, not (lost or passes), details)


def _grade(task: Task, grader: CompositeGrader | None, solution: Path | None) -> list[GradeResult]:
    """Grade the fixture, with the solution laid over it if there is one, by the code assertions."""
    code_only = task.model_copy(update={"assertions": task.code_assertions})
    if not code_only.assertions:
        return _none("task", "no code assertion, so only a model could tell")
    try:
        env = EnvironmentIsolator().create_environment_for_task(task.fixture_path)
    except InputError as error:
        return _none("fixture", str(error))
    with env:
        if solution is not None:
            trees.copy(solution, env.path)
        return (grader or CompositeGrader()).grade(code_only, ExecutionTrace(), env.path)[0]


def _none(name: str, why: str) -> list[GradeResult]:
    return [GradeResult(passed=False, score=0.0, assertion_id=name, details=why, status="grading_error")]
