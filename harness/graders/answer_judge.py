"""How good is an answer about a code base? What judges are asked about it, and the grade their verdicts add up to."""

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
"""Assertion id of the grade."""
VERSION = f"answer-{judging.VERSION}"


@dataclass(frozen=True)
class Asked:
    """What an answer is an answer to, and what it is held against."""

    task: str
    instruction: str
    criteria: str
    reference: str


def answer_question(asked: Asked, answer: str, pack: Callable[[], str]) -> Question:
    """What judges are asked about an answer.

    Args:
        asked: the task; its reference may be wrong, and judges are told so.
        answer: as the agent left it.
        pack: makes the evidence pack, when it is needed.
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
    """The grade that replies to an answer's question add up to: the median overall grade, 0 to 1.

    Without verdicts from more than half of the replies its status is judge_error.
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
    # The verdict that is told stands nearest to the median.
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
    """The grade of an empty answer, which no judge needs to see."""
    return GradeResult(
        assertion_id=JUDGE_ID,
        assertion_type=AssertionType.LLM.value,
        assertion_name=VERSION,
        passed=False,
        score=0.0,
        weight=1.0,
        details="no answer: 0 without asking",
    )
