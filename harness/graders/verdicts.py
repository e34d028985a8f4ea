"""The grade that several judges' replies to one question add up to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from harness.graders.service import Question, Reply
from harness.models import PASS_SCORE, AssertionType, CriterionScore, ErrorKind, GradeResult, JudgeRecord, TokenUsage


def grade_by_verdicts(
    question: Question,
    judges: Sequence[str],
    replies: Sequence[Reply],
    criteria: Callable[[dict[str, Any]], list[CriterionScore]],
    *,
    reason: str = "reason",
    notes: Sequence[str] = (),
) -> GradeResult:
    """Turn the replies to a question into a grade; its status is judge_error unless more than half hold a verdict.

    The score is the median, and passes from PASS_SCORE. The grade shows the verdict nearest to it: its `criteria`, its
    `reason` (a key) and the `notes`.
    """
    usable = [reply.verdict for reply in replies if reply.verdict is not None]
    scores = list(map(question.score, usable))
    known = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    usage = {name: sum(getattr(reply.usage, name) for reply in replies) for name in TokenUsage.model_fields}
    record = JudgeRecord(
        model=", ".join(judges),
        version=question.version,
        usage=TokenUsage(**usage),
        cost_usd=sum(known) if len(known) == len(replies) else None,
        samples=scores,
        spread=max(scores) - min(scores) if len(scores) > 1 else None,
        failed_samples=len(replies) - len(scores),
        refused=next((reply.error_kind for reply in replies if reply.error_kind.stops_matrix), ErrorKind.NONE),
    )
    failures = "; ".join(dict.fromkeys(reply.error for reply in replies if reply.verdict is None))
    base: dict[str, Any] = {
        "assertion_type": AssertionType.LLM.value,
        "grading_prompt": "\n\n".join(question.texts()),
        "judge": record,
        "duration_seconds": sum(reply.seconds for reply in replies),
    }
    if 2 * len(usable) <= len(replies):
        details = f"no usable verdict from {record.model}: {failures}"
        return GradeResult(passed=False, score=0.0, status="judge_error", details=details, **base)
    score = median(scores)
    shown = min(usable, key=lambda verdict: abs(question.score(verdict) - score))
    parts = [f"median of {len(usable)} verdicts" if len(usable) > 1 else "one verdict"]
    if failures:
        parts.append(f"{record.failed_samples} without a verdict ({failures})")
    return GradeResult(
        passed=score >= PASS_SCORE,
        score=score,
        details=", ".join([*parts, *notes]),
        reasoning=shown[reason],
        full_output=json.dumps(shown, indent=2, ensure_ascii=False),
        criteria_scores=criteria(shown),
        **base,
    )
