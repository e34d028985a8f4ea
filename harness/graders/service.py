"""The service that judges run on: one request gives a verdict or an error, and several verdicts give a grade."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from harness.models import PASS_SCORE, AssertionType, CriterionScore, ErrorKind, GradeResult, JudgeRecord, TokenUsage
from locobench.scoring.judge import asking, judging
from locobench.scoring.judge.prices import price_of
from locobench.shared.errors import InputError
from measure.records.outcomes import KIND_OF_STATUS
from measure.records.traces import Record

TIME_LIMIT_SECONDS = 600.0
"""Time limit of one verdict, including waits for a busy service."""
MOST_UNUSABLE = 1
"""Unusable replies cost money too, so asking stops at the first; the caller decides whether to ask again."""


@dataclass(frozen=True)
class Question:
    """Something that judges give a verdict on."""

    version: str
    """Kind and version of the prompt; verdicts of different versions are not comparable."""
    texts: Callable[[], tuple[str, str]]
    """Returns the system and user text of a request."""
    schema: Mapping[str, Any]
    read: Callable[[str], dict[str, Any]]
    """Parses the reply's text into a verdict, or raises JudgeError."""
    score: Callable[[dict[str, Any]], float]
    """Returns the main grade of a verdict, 0 to 1."""
    task: str = ""
    digest: str = ""
    """Hash of everything that is judged, for a journal: the same digest and version mean the same question."""


class Reply(Record):
    """The result of asking once."""

    verdict: dict[str, Any] | None = None
    error: str = ""
    """Why there is no verdict."""
    error_kind: ErrorKind = ErrorKind.NONE
    usage: TokenUsage = TokenUsage()
    """Includes failed attempts."""
    cost_usd: float | None = None
    """None if the model's price is not known."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Service:
    """An API endpoint and its key."""

    api: asking.Api = "anthropic"
    base_url: str = ""
    key: str = field(default="", repr=False)

    @classmethod
    def of_environment(cls, api: str = "anthropic", base_url: str | None = None, key: str | None = None) -> Service:
        """Read the service from JUDGE_BASE_URL and JUDGE_API_KEY, or else from the provider's own variables.

        Those are ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, or OPENAI_BASE_URL and OPENAI_API_KEY. A key is only needed
        to ask. InputError if `api` is unknown.
        """
        if api not in asking.BASE_URLS:
            raise InputError(f"unknown kind of API {api!r}; use {' or '.join(asking.BASE_URLS)}")
        kind: asking.Api = "openai" if api == "openai" else "anthropic"
        own = kind.upper()
        url = (
            base_url or os.environ.get("JUDGE_BASE_URL") or os.environ.get(f"{own}_BASE_URL") or asking.BASE_URLS[kind]
        )
        paid_by = key or os.environ.get("JUDGE_API_KEY") or os.environ.get(f"{own}_API_KEY") or ""
        return cls(kind, url, paid_by)

    @property
    def no_key(self) -> str:
        """The error message for a missing key."""
        return f"no key for the judge; set JUDGE_API_KEY or {self.api.upper()}_API_KEY"

    def ask(self, question: Question, model: str) -> Reply:
        """Ask once, retrying if the service is busy or fails. Never raises for errors of the service."""
        started = time.monotonic()
        if not self.key:
            return Reply(error=self.no_key, error_kind=ErrorKind.AUTH, cost_usd=0.0)
        try:
            system, user = question.texts()
        except InputError as failure:  # concerns this answer only; the other questions are still asked
            return Reply(error=str(failure), error_kind=ErrorKind.GRADING, cost_usd=0.0)
        try:
            verdict, used = asking.ask(
                system,
                user,
                api=self.api,
                base_url=self.base_url,
                key=self.key,
                model=model,
                time_limit=TIME_LIMIT_SECONDS,
                schema=question.schema,
                read=question.read,
                most_unusable=MOST_UNUSABLE,
            )
            outcome: dict[str, Any] = {"verdict": verdict}
        except judging.JudgeError as failure:
            used = failure.usage
            outcome = {"error": str(failure), "error_kind": _kind(failure)}
        usage = TokenUsage(**used)
        cost = request_cost(model, usage)
        return Reply(**outcome, usage=usage, cost_usd=cost, seconds=round(time.monotonic() - started, 3))


def _kind(failure: judging.JudgeError) -> ErrorKind:
    if failure.status == 400 and "credit balance" in str(failure):
        return ErrorKind.CREDIT
    return KIND_OF_STATUS.get(failure.status, ErrorKind.API_ERROR)


def grade_by_verdicts(
    question: Question,
    judges: Sequence[str],
    replies: Sequence[Reply],
    criteria: Callable[[dict[str, Any], list[dict[str, Any]]], list[CriterionScore]],
    *,
    assertion_id: str,
    name: str,
    reason: str = "reason",
    notes: Sequence[str] = (),
) -> GradeResult:
    """Turn the replies to a question into a grade; its status is judge_error unless more than half hold a verdict.

    The score is the median. The grade shows the verdict nearest to it: its criteria (the function gets that verdict
    and all of them), its `reason` (a key) and the `notes`. It passes from PASS_SCORE.
    """
    usable = [reply.verdict for reply in replies if reply.verdict is not None]
    scores = list(map(question.score, usable))
    record = _record(judges, question.version, replies, scores)
    failures = "; ".join(dict.fromkeys(reply.error for reply in replies if reply.verdict is None))
    base: dict[str, Any] = {
        "assertion_id": assertion_id,
        "assertion_type": AssertionType.LLM.value,
        "assertion_name": name,
        "grading_prompt": _prompt(question),
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
        criteria_scores=criteria(shown, usable),
        **base,
    )


def _prompt(question: Question) -> str:
    """Return what a judge is sent; empty if it cannot be made, so that nobody was asked either."""
    try:
        return "\n\n".join(question.texts())
    except InputError:
        return ""


def _record(judges: Sequence[str], version: str, replies: Sequence[Reply], scores: list[float]) -> JudgeRecord:
    """Record what one grade's judges cost and how far they agree; `scores` (0 to 1) are from usable verdicts."""
    known = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    fatal = [reply.error_kind for reply in replies if reply.error_kind.stops_matrix]
    return JudgeRecord(
        model=", ".join(judges),
        version=version,
        usage=TokenUsage(
            **{name: sum(getattr(reply.usage, name) for reply in replies) for name in TokenUsage.model_fields}
        ),
        cost_usd=sum(known) if len(known) == len(replies) else None,
        samples=scores,
        spread=max(scores) - min(scores) if len(scores) > 1 else None,
        failed_samples=len(replies) - len(scores),
        refused=fatal[0] if fatal else ErrorKind.NONE,
    )


def request_cost(model: str, usage: TokenUsage) -> float | None:
    """Return the cost of a request in US$ at the judge's list prices; None if the model's price is not known."""
    prompt = usage.total_tokens_with_cache - usage.output_tokens
    price = price_of(model, prompt)
    return price.of(prompt, usage.output_tokens) if price else None
