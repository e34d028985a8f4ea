"""Which service is asked for verdicts, and what comes of asking it once: a verdict, or why there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import InputError
from harness.models import ErrorKind, JudgeRecord, TokenUsage
from harness.models.traces import Record
from locobench.scoring.judge import asking, judging
from locobench.scoring.judge.prices import price_of

TIME_LIMIT_SECONDS = 600.0
"""Of one verdict, with the waits for a busy service."""
ATTEMPTS = 5
"""At a service that is busy, fails or cannot be reached."""
MOST_UNUSABLE = 1
"""Replies that are no verdict are paid for: the next one is asked for by whoever started this, if at all."""

DEFAULT_URLS: dict[asking.Api, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
}
KINDS = {
    401: ErrorKind.AUTH,
    402: ErrorKind.CREDIT,
    403: ErrorKind.AUTH,
    404: ErrorKind.MODEL_NOT_FOUND,
    429: ErrorKind.RATE_LIMIT,
    529: ErrorKind.OVERLOADED,
}
"""What a refusal by its HTTP status says about the next request; one that is not here says nothing about it."""


@dataclass(frozen=True)
class Question:
    """Something that judges are asked for a verdict on."""

    task: str
    version: str
    """Kind and version of the prompt: verdicts on different ones are not to be compared."""
    digest: str
    """Over all that is judged: questions of one digest and version are the same question."""
    texts: Callable[[], tuple[str, str]]
    """System and user text of a request."""
    schema: Mapping[str, Any]
    read: Callable[[str], dict[str, Any]]
    """Turns the reply's text into the verdict, or raises JudgeError."""
    points: Callable[[dict[str, Any]], float]
    """The main grade of a verdict, 0 to 100."""


class Reply(Record):
    """What came of asking once."""

    verdict: dict[str, Any] | None = None
    error: str = ""
    """Why there is no verdict."""
    error_kind: ErrorKind = ErrorKind.NONE
    usage: TokenUsage = TokenUsage()
    """Failed attempts included."""
    cost_usd: float | None = None
    """None when the model's price is not known."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Service:
    """An endpoint and who pays there."""

    api: asking.Api = "anthropic"
    base_url: str = ""
    key: str = field(default="", repr=False)

    @classmethod
    def of_environment(cls, api: str = "anthropic", base_url: str | None = None, key: str | None = None) -> Service:
        """The service of this kind, by JUDGE_BASE_URL and JUDGE_API_KEY, else by the provider's own variables.

        Those are ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, or OPENAI_BASE_URL and OPENAI_API_KEY. A key is
        needed when something is asked only.

        Raises:
            InputError: there is no such kind.
        """
        if api not in DEFAULT_URLS:
            raise InputError(f"unknown kind of API {api!r}; name {' or '.join(DEFAULT_URLS)}")
        kind: asking.Api = "openai" if api == "openai" else "anthropic"
        own = kind.upper()
        url = base_url or os.environ.get("JUDGE_BASE_URL") or os.environ.get(f"{own}_BASE_URL") or DEFAULT_URLS[kind]
        paid_by = key or os.environ.get("JUDGE_API_KEY") or os.environ.get(f"{own}_API_KEY") or ""
        return cls(kind, url, paid_by)

    @property
    def no_key(self) -> str:
        """What to say when there is none."""
        return f"no key for the judge; set JUDGE_API_KEY or {self.api.upper()}_API_KEY"

    def ask(self, question: Question, model: str) -> Reply:
        """Ask once, again where the service is busy or fails; never raises for what the service does."""
        started = time.monotonic()
        if not self.key:
            return Reply(error=self.no_key, error_kind=ErrorKind.AUTH, cost_usd=0.0)
        try:
            system, user = question.texts()
        except InputError as failure:  # this answer's; the others are asked about all the same
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
                attempts=ATTEMPTS,
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
    return KINDS.get(failure.status, ErrorKind.API_ERROR)


def record_of(models: list[str], version: str, replies: list[Reply], scores: list[float]) -> JudgeRecord:
    """What the judges of one grade cost and how far they agree; `scores`, 0 to 1, are those of usable verdicts."""
    known = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    fatal = [reply.error_kind for reply in replies if reply.error_kind.stops_matrix]
    return JudgeRecord(
        model=", ".join(models),
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


def failures_of(replies: list[Reply]) -> str:
    """Why there are no verdicts, each reason once."""
    return "; ".join(dict.fromkeys(reply.error for reply in replies if reply.verdict is None))


def request_cost(model: str, usage: TokenUsage) -> float | None:
    """US$ of one request by the judge's list prices; None for a model whose price is not known."""
    prompt = usage.total_tokens_with_cache - usage.output_tokens
    price = price_of(model, prompt)
    return price.of(prompt, usage.output_tokens) if price else None
