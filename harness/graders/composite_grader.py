"""Grade a whole run: grade every assertion, weight the grades, and decide pass or fail."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, InstanceOf, TypeAdapter

from harness.graders.code_graders import DEFAULT_TEST_COMMAND, CodeGrader
from harness.graders.commands import SHELL, GraderError
from harness.graders.llm_graders import LLMGrader
from harness.models import (
    LLM_WEIGHT_KEY,
    PASS_SCORE,
    CodeAssertion,
    ExecutionTrace,
    GradeResult,
    LLMAssertion,
    Outcome,
    Task,
    assertion_ids,
    weighted_score,
)
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.sandbox.place import Sandbox, SandboxError
from locobench.shared.errors import InputError

GRADE_RETURN = TypeAdapter(
    tuple[list[InstanceOf[GradeResult]], Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)], bool]
)
"""What `grade` returns."""


class CompositeGrader:
    """Combines code and LLM graders with weighted scoring."""

    def __init__(
        self, llm_model: str = DEFAULT_JUDGE_MODEL, api_key: str | None = None, *, sandbox: Sandbox | None = None
    ) -> None:
        """The judge is made from `llm_model` and `api_key`; commands run in `sandbox`, by default on this machine."""
        self.sandbox = sandbox
        self.judge = LLMGrader(llm_model, api_key)
        self._code_graders: dict[tuple[Any, ...], CodeGrader] = {}

    def grade(self, task: Task, trace: ExecutionTrace, env_path: Path) -> tuple[list[GradeResult], float, bool]:
        """Grade all assertions; return the grades, the weighted score (0 to 1) and whether the run passed.

        A run that says nothing about the agent (infrastructure or setup error) gets no grades. A subclass may grade by
        other rules: what its `grade` returns is what a runner records.
        """
        return self._complete(task, trace, env_path, ())

    def finish(
        self, task: Task, trace: ExecutionTrace, env_path: Path | None, earlier: Iterable[GradeResult]
    ) -> tuple[list[GradeResult], float, bool]:
        """Return what `grade` returns; valid grades of `earlier`, one for each assertion, are kept.

        A subclass's own `grade` is called for the whole run instead. If it raises, or returns anything but grades, a
        score from 0 to 1 and whether the run passed, the run is not graded. `env_path` is None if the files are gone.
        """
        if not self.is_custom:
            return self._complete(task, trace, env_path, earlier)
        try:
            if env_path is None:
                raise FileNotFoundError("the run's files were deleted")
            return GRADE_RETURN.validate_python(self.grade(task, trace, env_path))
        except Exception as error:  # the run has cost money: grade it later instead of losing it
            return [missing_grade("grade", None, error)], 0.0, False

    def _complete(
        self, task: Task, trace: ExecutionTrace, env_path: Path | None, earlier: Iterable[GradeResult]
    ) -> tuple[list[GradeResult], float, bool]:
        if not trace.outcome.measured:
            return [], 0.0, False
        valid = {grade.assertion_id: grade for grade in earlier if grade.status == "graded"}
        grades = []
        for name, assertion in zip(assertion_ids(task.assertions), task.assertions, strict=True):
            try:
                grade = valid.get(name) or self.grade_single_assertion(assertion, task, trace, env_path)
            except Exception as error:  # the run has cost money: grade it later instead of losing it
                grade = missing_grade(name, assertion, error)
            named = grade.model_copy(update={"assertion_id": name})
            grades.append(named.model_copy(update={"weight": named.resolve_weight(task.scoring)}))
        score = weighted_score(grades, task.scoring)
        return grades, score, has_passed(trace, grades, score)

    def grade_single_assertion(
        self, assertion: CodeAssertion | LLMAssertion, task: Task, trace: ExecutionTrace, env_path: Path | None
    ) -> GradeResult:
        """Grade one assertion of a task; the caller sets its id and weight. Judges do not need `env_path`."""
        if isinstance(assertion, CodeAssertion):
            if env_path is None:
                raise FileNotFoundError("the run's files were deleted")
            return self._code_grader(task).grade(assertion, env_path, [change.path for change in trace.file_changes])
        grade = self.judge.grade(assertion, task, trace, env_path)
        return grade.model_copy(update={"assertion_name": grade.assertion_name or LLM_WEIGHT_KEY})

    def refuse_without_judge(self, tasks: Iterable[Task]) -> None:
        """Raise InputError if a task needs a judge and there is no API key, before an agent costs money.

        Whether a subclass's own `grade` asks a judge is not known, so it is not refused.
        """
        if self.is_custom:
            return
        for task in tasks:
            if task.llm_assertions and not self.judge.service.key:
                raise InputError(f"task {task.id}: {self.judge.service.no_key}")

    def prepare(self, task: Task) -> list[str]:
        """Run a task's checks on its own work, before an agent costs money.

        Return the commands for which exit code 0 is the only evidence of good work. GraderError if a program is not
        installed where checks run, or the reference solution does not pass; InputError if no check of any task can run.
        """
        try:
            grader = self._code_grader(task)
            return [a.command or DEFAULT_TEST_COMMAND for a in task.code_assertions if not grader.prepare(a)]
        except FileNotFoundError as error:
            if error.filename != SHELL[0]:
                raise GraderError(f"task {task.id}: {error.filename}: no such file") from None
            text = f"task {task.id}: its commands need {SHELL[0]}, which is not on PATH; install it"
            raise InputError(text) from None
        except InputError as error:
            raise type(error)(f"task {task.id}: {error}") from None
        except (OSError, SandboxError) as error:
            raise InputError(f"task {task.id}: {error}") from None
        except (ValueError, re.error) as error:
            raise GraderError(f"task {task.id}: {error}") from None

    @property
    def is_custom(self) -> bool:
        """Whether `grade` is not the one of this class."""
        return getattr(self.grade, "__func__", None) is not CompositeGrader.grade

    def pending(self, task: Task) -> list[GradeResult]:
        """Return the grades of a run until it is graded; empty if there is nothing to grade."""
        if self.is_custom:
            return [missing_grade("grade", None)]
        named = zip(assertion_ids(task.assertions), task.assertions, strict=True)
        return [missing_grade(name, assertion) for name, assertion in named]

    def _code_grader(self, task: Task) -> CodeGrader:
        """Return the grader shared by all runs of a task; it remembers what the reference solution passes."""
        paths = (task.hidden_path, task.fixture_path, task.solution_path)
        key = (*paths, *task.sources, "setup", *task.setup, task.resources)
        place = self.sandbox and self.sandbox.within(task.resources)
        made = CodeGrader(*paths, sources=task.sources, setup=task.setup, sandbox=place)
        return self._code_graders.setdefault(key, made)


def missing_grade(
    name: str, assertion: CodeAssertion | LLMAssertion | None, error: BaseException | None = None
) -> GradeResult:
    """Return the grade of what is not graded yet, or whose grading failed with `error`.

    That is an assertion or, with None, the whole run.
    """
    is_judged = isinstance(assertion, LLMAssertion)
    return GradeResult(
        assertion_id=name,
        assertion_type=assertion.type.value if assertion else "",
        assertion_name=assertion.check.value if isinstance(assertion, CodeAssertion) else LLM_WEIGHT_KEY * is_judged,
        passed=False,
        score=0.0,
        status="judge_error" if is_judged else "grading_error",
        details=f"grading failed: {error or type(error).__name__}" if error else "not graded yet",
        full_output="".join(traceback.format_exception(error)) if error else "",
    )


def has_passed(trace: ExecutionTrace, grades: list[GradeResult], score: float) -> bool:
    """Return whether a completed, graded run scores at least PASS_SCORE or passes all its code assertions.

    A failed grading leaves this open: the run does not pass, and `EvalResult.measured` excludes it.
    """
    if trace.outcome is not Outcome.COMPLETED or trace.is_error or not grades:
        return False
    if any(grade.status != "graded" for grade in grades):
        return False
    code = [grade.passed for grade in grades if grade.assertion_type == "code"]
    return score >= PASS_SCORE or (bool(code) and all(code))
