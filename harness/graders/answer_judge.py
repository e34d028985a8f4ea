"""How good is an answer about a code base? Builds the judges' question, and turns their verdicts into a grade."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from harness.graders.service import Question, Reply, failures_of, record_of
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
        points=lambda verdict: float(verdict["overall"]),
    )


def answer_grade(question: Question, judges: Sequence[str], replies: Sequence[Reply], pass_score: float) -> GradeResult:
    """Return the grade of an answer: the median of the overall grades, 0 to 1.

    Unless more than half of the replies hold a verdict, its status is judge_error.
    """
    usable = [reply.verdict for reply in replies if reply.verdict is not None]
    scores = [float(verdict["overall"]) / 100 for verdict in usable]
    record = record_of(list(judges), VERSION, list(replies), scores)
    failures = failures_of(list(replies))
    base: dict[str, Any] = {
        "assertion_id": JUDGE_ID,
        "assertion_type": AssertionType.LLM.value,
        "assertion_name": question.version,
        "judge": record,
        "weight": 1.0,
        "grading_prompt": "\n\n".join(question.texts()),
        "duration_seconds": sum(reply.seconds for reply in replies),
    }
    if 2 * len(usable) <= len(replies):
        details = f"no usable verdict from {record.model}: {failures}"
        return GradeResult(passed=False, score=0.0, status="judge_error", details=details, **base)
    score = median(scores)
    # Report the verdict nearest to the median.
    chosen = min(usable, key=lambda verdict: abs(verdict["overall"] / 100 - score))
    parts = [f"median of {len(usable)} verdicts" if len(usable) > 1 else "one verdict"]
    if failures:
        parts.append(f"{record.failed_samples} without a verdict ({failures})")
    return GradeResult(
        passed=score >= pass_score,
        score=score,
        details=", ".join(parts),
        reasoning=chosen["reason"],
        full_output=json.dumps(chosen, indent=2, ensure_ascii=False),
        criteria_scores=[
            CriterionScore(criterion=name, score=median(verdict[name] for verdict in usable) / 100)
            for name in judging.SCORES
            if name != "overall"
        ],
        **base,
    )


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
