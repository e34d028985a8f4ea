"""How good is an answer about a code base? Builds the judges' question, and turns their verdicts into a grade."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from harness.graders.service import Question, Reply, judged_grade
from harness.models import AssertionType, CriterionScore, GradeResult
from locobench.scoring.judge import judging

JUDGE_ID = "judge"
"""Assertion id of the judges' grade."""
VERSION = f"answer-{judging.VERSION}"


@dataclass(frozen=True)
class Asked:
    """The task that was asked, and the reference that an answer is compared with."""

    task: str
    instruction: str
    criteria: str
    reference: str


def answer_question(asked: Asked, answer: str, pack: Callable[[], str]) -> Question:
    """Build the judges' question about an answer.

    Args:
        asked: the task; its reference may be wrong, and judges are told so.
        answer: as the agent left it.
        pack: builds the evidence pack on demand.
    """
    shown = [asked.task, asked.instruction, asked.criteria, asked.reference, answer]
    return Question(
        task=asked.task,
        version=VERSION,
        digest=hashlib.sha256(json.dumps(shown).encode()).hexdigest(),
        texts=lambda: judging.prompt(asked.instruction, asked.criteria, asked.reference, answer, pack()),
        schema=judging.SCHEMA,
        read=judging.parse,
        score=lambda verdict: verdict["overall"] / 100,
    )


def answer_grade(question: Question, judges: Sequence[str], replies: Sequence[Reply], pass_score: float) -> GradeResult:
    """Return the grade of an answer: the median of the overall grades, 0 to 1."""

    def criteria(_shown: dict[str, Any], verdicts: list[dict[str, Any]]) -> list[CriterionScore]:
        names = [name for name in judging.SCORES if name != "overall"]
        return [CriterionScore(criterion=n, score=median(verdict[n] for verdict in verdicts) / 100) for n in names]

    grade = judged_grade(question, judges, replies, pass_score, criteria, assertion_id=JUDGE_ID, name=VERSION)
    return grade.model_copy(update={"weight": 1.0})


def no_answer_grade() -> GradeResult:
    """Return the grade of an empty answer, which is not sent to a judge."""
    return GradeResult(
        assertion_id=JUDGE_ID,
        assertion_type=AssertionType.LLM.value,
        assertion_name=VERSION,
        passed=False,
        score=0.0,
        weight=1.0,
        details="no answer: 0 without asking",
    )
