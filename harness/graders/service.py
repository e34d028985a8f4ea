"""The service that judges run on: one question is asked of a model, and a verdict or an error comes back."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, Literal

from harness.models import ErrorKind, TokenUsage
from locobench.scoring.judge.judging import JudgeError
from locobench.scoring.judge.prices import price_of
from measure.records.outcomes import KIND_OF_STATUS
from measure.records.traces import Record

TIME_LIMIT_SECONDS = 600.0
"""Time limit of one verdict, including waits for a busy service."""
ATTEMPTS = 5
RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
"""What a busy or failing service answers. An unusable reply costs money too, so it is not asked for again."""
MAX_REPLY_TOKENS = 16_000

Api = Literal["anthropic", "openai"]
BASE_URLS: dict[str, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another host must not get the key."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


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
    cost_usd: float | None = None
    """None if the model's price is not known."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Service:
    """An API endpoint and its key."""

    api: Api = "anthropic"
    """The Messages API of Anthropic, or Chat Completions of OpenAI and compatible services."""
    base_url: str = ""
    """The service's URL, without the path that the API adds."""
    key: str = field(default="", repr=False)

    @classmethod
    def of_environment(cls, api: Api = "anthropic", key: str | None = None) -> Service:
        """Read the service from JUDGE_BASE_URL and JUDGE_API_KEY, or else from the provider's own variables.

        Those are ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, or OPENAI_BASE_URL and OPENAI_API_KEY. A key is only needed
        to ask.
        """
        own = api.upper()
        url = os.environ.get("JUDGE_BASE_URL") or os.environ.get(f"{own}_BASE_URL") or BASE_URLS[api]
        return cls(api, url, key or os.environ.get("JUDGE_API_KEY") or os.environ.get(f"{own}_API_KEY") or "")

    @property
    def no_key(self) -> str:
        """The error message for a missing key."""
        return f"no key for the judge; set JUDGE_API_KEY or {self.api.upper()}_API_KEY"

    def ask(self, question: Question, model: str) -> Reply:
        """Ask once, retrying if the service is busy or fails. Never raises for errors of the service."""
        if not self.key:
            return Reply(error=self.no_key, error_kind=ErrorKind.AUTH, cost_usd=0.0)
        started, usage = monotonic(), TokenUsage()
        outcome: dict[str, Any]
        try:
            reply = self._send(question, model)
            usage = self._usage(reply)
            outcome = {"verdict": question.read(self._text(reply))}
        except JudgeError as failure:
            outcome = {"error": str(failure), "error_kind": _kind(failure)}
        return Reply(
            **outcome, usage=usage, cost_usd=request_cost(model, usage), seconds=round(monotonic() - started, 3)
        )

    def _send(self, question: Question, model: str) -> Any:
        """Return the service's reply; JudgeError if there is none within the limits."""
        request = self._request(question, model)
        until = monotonic() + TIME_LIMIT_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            wait = 2.0 ** (attempt - 1)
            try:
                with _OPENER.open(request, timeout=min(until - monotonic(), 300)) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                failure = JudgeError(f"the service answered {error.code}{self._reason(error)}", error.code)
                if error.code not in RETRIED:
                    break
                with contextlib.suppress(TypeError, ValueError):
                    wait = max(wait, min(float(error.headers["retry-after"]), 120.0))
            except (OSError, http.client.HTTPException, ValueError) as error:
                # These messages name the address, never a header: `_request` rejects keys that http.client would quote.
                reason = getattr(error, "reason", "") or error
                failure = JudgeError(f"the service cannot be reached ({type(error).__name__}: {reason})")
            if attempt == ATTEMPTS or monotonic() + wait >= until:
                break
            sleep(wait)
        raise failure

    def _request(self, question: Question, model: str) -> urllib.request.Request:
        """Return the request; JudgeError if these settings allow none."""
        base, key = self.base_url.rstrip("/"), self.key
        if not base.startswith(("http://", "https://")):
            raise JudgeError("the base URL is not valid: it needs http:// or https:// and a host")
        if not (key.isascii() and key.isprintable()):
            raise JudgeError("the key contains characters that a header cannot (line ends, non-ASCII letters)")
        base += "" if base.endswith("/v1") else "/v1"
        headers = {"content-type": "application/json"}
        system, user = question.texts()
        if self.api == "anthropic":
            url = f"{base}/messages"
            headers |= {"x-api-key": key, "anthropic-version": "2023-06-01"}
            body = {
                "model": model,
                "max_tokens": MAX_REPLY_TOKENS,
                "system": system,
                "messages": [{"role": "user", "content": user}],
                "output_config": {"format": {"type": "json_schema", "schema": question.schema}},
            }
        else:
            url = f"{base}/chat/completions"
            headers["authorization"] = f"Bearer {key}"
            schema = {"name": "grade", "strict": True, "schema": question.schema}
            body = {
                "model": model,
                "max_completion_tokens": MAX_REPLY_TOKENS,
                "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
                "response_format": {"type": "json_schema", "json_schema": schema},
            }
        return urllib.request.Request(url, json.dumps(body).encode(), headers)

    def _usage(self, reply: Any) -> TokenUsage:
        used = reply.get("usage") if isinstance(reply, dict) else None
        names = ("input_tokens", "output_tokens") if self.api == "anthropic" else ("prompt_tokens", "completion_tokens")
        told = [used.get(name) if isinstance(used, dict) else 0 for name in names]
        counts = [value if isinstance(value, int) and value > 0 else 0 for value in told]
        return TokenUsage(input_tokens=counts[0], output_tokens=counts[1])

    def _text(self, reply: Any) -> str:
        """Return the text of a reply; JudgeError if it was cut, is a refusal or has none."""
        try:
            choice = reply if self.api == "anthropic" else reply["choices"][0]
            stopped = choice.get("stop_reason" if self.api == "anthropic" else "finish_reason")
            if stopped not in ("end_turn", "stop_sequence", "stop"):
                raise JudgeError(f"the judge stopped with {str(stopped)[:40]}")
            if self.api == "anthropic":
                return "".join(str(block["text"]) for block in reply["content"] if block.get("type") == "text")
            return str(choice["message"]["content"] or "")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise JudgeError("the service's reply contains no text") from None

    def _reason(self, error: urllib.error.HTTPError) -> str:
        """Return the service's reason for its refusal as `: <reason>`, without the key."""
        try:
            said = str(json.loads(error.read(1 << 16))["error"]["message"])
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            return ""
        return ": " + said.replace(self.key, "[the key]")


def request_cost(model: str, usage: TokenUsage) -> float | None:
    """Return the cost of a request in US$ at the judge's list prices; None if the model's price is not known."""
    prompt = usage.total_tokens_with_cache - usage.output_tokens
    price = price_of(model, prompt)
    return price.of(prompt, usage.output_tokens) if price else None


def _kind(failure: JudgeError) -> ErrorKind:
    if failure.status == 400 and "credit balance" in str(failure):
        return ErrorKind.CREDIT
    return KIND_OF_STATUS.get(failure.status, ErrorKind.API_ERROR)
