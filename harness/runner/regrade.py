"""Grade the answers of a Harbor job by judges, without running the agent again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.graders.service import Question
from harness.graders.verdicts import grade_by_verdicts
from harness.models import PASS_SCORE, AssertionType, CriterionScore, ErrorKind, EvalResult, GradeResult, Outcome
from harness.runner.panel import Panel
from harness.suite.load import read_object
from locobench.harbor.files import read
from locobench.harbor.trial import Trial
from locobench.scoring.judge import judging
from locobench.scoring.judge.code_base import Code
from locobench.scoring.judge.evidence import evidence
from locobench.shared.errors import InputError
from locobench.shared.markdown import as_markdown

JUDGE_ID = "judge"
"""Assertion id of the judges' grade."""
VERSION = f"answer-{judging.VERSION}"
PROJECTS = ("environment/project", "tests/project")
"""Where a generated task keeps its code: in the agent's image, or where only the verifier sees it."""


@dataclass(frozen=True)
class JudgedTask:
    """A generated task on disk."""

    path: Path
    name: str
    instruction: str
    criteria: str
    reference: str
    """May be wrong, and judges are told so."""

    @classmethod
    def load(cls, path: Path) -> JudgedTask:
        """Read a task folder; InputError if a file of the task cannot be read."""
        metadata = read_object(path / "tests/task_metadata.json")
        file = path / "instruction.md"
        instruction = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        criteria = as_markdown(metadata.get("evaluation_criteria"))
        reference = as_markdown(read_object(path / "tests/ground_truth.json").get("ground_truth"))
        return cls(path, str(metadata.get("id") or path.resolve().name), instruction, criteria, reference)

    def pack(self, text: str) -> str:
        """Return the evidence pack of an answer."""
        project = next((self.path / name for name in PROJECTS if (self.path / name).is_dir()), self.path)
        return _pack(project.resolve(), judging.cut(text, judging.MOST_ANSWER))


def find_task(result: EvalResult, tasks_dir: Path | None = None) -> JudgedTask:
    """Read the task of a Harbor trial from `tasks_dir`, else from where the trial says; InputError if it is missing."""
    file = Path(result.source) / "result.json"
    where = tasks_dir / result.task_id if tasks_dir else read(file, Trial).task_path
    if where is None or not os.path.isdir(where):  # noqa: PTH112 - takes a name that no file can have
        raise InputError(f"{result.task_id}: its task folder is not at {where}; name the folder of tasks with --tasks")
    return JudgedTask.load(where)


_code = lru_cache(maxsize=4)(Code.read)  # trials of one task come one after the other


@lru_cache(maxsize=8)
def _pack(project: Path, text: str) -> str:
    # The estimate, the request and the record each need it.
    return evidence(text, _code(project))


def build_question(result: EvalResult, tasks_dir: Path | None) -> Question | None:
    """Return what judges are asked about a Harbor trial; None if it was lost, or has no answer.

    A trial whose verifier failed still has an answer. InputError if the trial's task cannot be read.
    """
    answer = result.trace.result if result.has_answer else ""
    if not answer.strip():
        return None
    task = find_task(result, tasks_dir)
    return build_answer_question(task, answer, lambda: task.pack(answer))


def build_answer_question(task: JudgedTask, answer: str, pack: Callable[[], str]) -> Question:
    """Build the judges' question about an answer; `pack` builds the evidence pack on demand."""
    shown = (task.instruction, task.criteria, task.reference, answer)
    return Question(
        task=task.name,
        version=VERSION,
        digest=hashlib.sha256(json.dumps([task.name, *shown]).encode()).hexdigest(),
        texts=lambda: judging.prompt(*shown, pack()),
        schema=judging.AnswerVerdict.reply_schema(),
        read=judging.AnswerVerdict.read,
        score=lambda verdict: verdict["overall"] / 100,
    )


def add_grade(result: EvalResult, question: Question | None, panel: Panel) -> EvalResult:
    """Return the trial with the judges' median as its score; earlier grades are kept with weight 0.

    A trial that was lost because its verifier failed counts again once it has a grade.
    """
    if not result.has_answer:
        return result
    if question is None:
        grade = GradeResult(passed=False, score=0.0, details="no answer: 0 without asking")
    else:
        grade = grade_by_verdicts(question, panel.judges, panel.replies(question), _criteria)
    names = {"assertion_id": JUDGE_ID, "assertion_type": AssertionType.LLM.value, "assertion_name": VERSION}
    grade = grade.model_copy(update={**names, "weight": 1.0})
    beside = [g.model_copy(update={"weight": 0.0}) for g in result.grades]
    trace = result.trace
    if trace.error_kind is ErrorKind.GRADING and grade.status == "graded":
        mended = {"outcome": Outcome.COMPLETED, "error_kind": ErrorKind.NONE, "error": "", "is_error": False}
        trace = trace.model_copy(update=mended)
    passed = trace.outcome is Outcome.COMPLETED and grade.status == "graded" and grade.score >= PASS_SCORE
    changes = {"trace": trace, "outcome": trace.outcome, "grades": [*beside, grade], "overall_score": grade.score}
    return result.model_copy(update={**changes, "passed": passed})


def _criteria(shown: dict[str, Any]) -> list[CriterionScore]:
    return [CriterionScore(criterion=name, score=shown[name] / 100) for name in ("code_truth", "task_points")]
