"""Ask a judge: send one request to a model's service, retry while it is busy, and read the grade in its reply."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from locobench.scoring.judge.judging import SCHEMA, JudgeError, parse

MAX_REPLY_TOKENS = 16_000
MOST_REPLY_BYTES = 8 << 20
ATTEMPTS = 5
RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))

Api = Literal["anthropic", "openai"]
BASE_URLS: dict[Api, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}


def ask(
    system: str,
    user: str,
    *,
    api: Api,
    base_url: str,
    key: str,
    model: str,
    time_limit: float,
    schema: Mapping[str, Any] = SCHEMA,
    read: Callable[[str], dict[str, Any]] = parse,
    most_unusable: int = ATTEMPTS,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Any], dict[str, int]]:
    """Ask for one grade and retry if the service is busy or fails; return (grade, usage).

    Args:
        api: "anthropic" (Messages) or "openai" (Chat Completions and compatible services).
        base_url: the service's URL, without the path that the API adds.
        key: the API key; it goes only into a header.
        time_limit: seconds in all, including waits.
        schema: the reply's JSON schema.
        read: turns the reply's text into the grade, or raises JudgeError.
        most_unusable: give up after this many unusable replies.

    Returns:
        The result of `read`, and {"input_tokens": …, "output_tokens": …} summed over all attempts.

    Raises:
        JudgeError: no grade within the limits.
    """
    usage = {"input_tokens": 0, "output_tokens": 0}
    failure = JudgeError("no time was left")
    started, unusable = time.monotonic(), 0
    url, headers, body = _request(api, base_url.rstrip("/"), key, model, system, user, schema)
    for attempt in range(ATTEMPTS):
        left = time_limit - (time.monotonic() - started)
        if left <= 0:
            break
        wait = min(2.0**attempt, 30.0)
        try:
            reply = _post(url, headers, body, min(left, 300))
            return read(_text(api, reply, usage)), usage
        except urllib.error.HTTPError as error:
            failure = JudgeError(f"the service answered {error.code}{_told(error, key)}", error.code)
            if error.code not in RETRIED:
                break
            wait = _retry_after(error, wait)
        except JudgeError as error:
            failure = error
            unusable += 1
            if unusable >= most_unusable:
                break
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            # These messages name the address, never a header: `_request` rejects keys that http.client would quote.
            reason = getattr(error, "reason", "") or error
            failure = JudgeError(f"the service cannot be reached ({type(error).__name__}: {reason})")
        if attempt + 1 == ATTEMPTS or time.monotonic() - started + wait >= time_limit:
            break
        sleep(wait)
    failure.usage = usage
    raise failure


def _request(
    api: Api, base_url: str, key: str, model: str, system: str, user: str, schema: Mapping[str, Any]
) -> tuple[str, dict[str, str], bytes]:
    """Return (url, headers, body) of one request; raise JudgeError if these settings allow none."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise JudgeError("the base URL is not valid: it needs http:// or https:// and a host")
    if not (key and key.isascii() and key.isprintable()):
        raise JudgeError("the key is empty or contains characters that a header cannot (line ends, non-ASCII letters)")
    headers = {"content-type": "application/json"}
    if api == "anthropic":
        headers.update({"x-api-key": key, "anthropic-version": "2023-06-01"})
        url = base_url + ("/messages" if base_url.endswith("/v1") else "/v1/messages")
        body = {
            "model": model,
            "max_tokens": MAX_REPLY_TOKENS,
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "output_config": {"format": {"type": "json_schema", "schema": schema}},
        }
    elif api == "openai":
        headers["authorization"] = f"Bearer {key}"
        url = base_url + ("/chat/completions" if base_url.endswith("/v1") else "/v1/chat/completions")
        body = {
            "model": model,
            "max_completion_tokens": MAX_REPLY_TOKENS,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "grade", "strict": True, "schema": schema},
            },
        }
    else:
        raise JudgeError(f"unknown kind of API {api!r}: anthropic or openai")
    return url, headers, json.dumps(body).encode()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: a redirected request would carry the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _post(url: str, headers: dict[str, str], body: bytes, timeout: float) -> Any:
    """Return the reply, which may take `timeout` seconds to begin, and as many to arrive."""
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    with _opener.open(request, timeout=timeout) as response:
        deadline, content = time.monotonic() + timeout, b""
        while part := response.read1(1 << 16):
            content += part
            if len(content) > MOST_REPLY_BYTES:
                raise JudgeError("the service's reply is too long")
            if time.monotonic() > deadline:
                raise TimeoutError("the reply did not end")
        return json.loads(content)


def _text(api: Api, reply: Any, usage: dict[str, int]) -> str:
    """Return the text of a reply and count its tokens."""
    if not isinstance(reply, dict):
        raise JudgeError("the service's reply is not a JSON object")
    used = reply.get("usage")
    used = used if isinstance(used, dict) else {}
    names = ("input_tokens", "output_tokens") if api == "anthropic" else ("prompt_tokens", "completion_tokens")
    for ours, theirs in zip(usage, names, strict=True):
        value = used.get(theirs)
        usage[ours] += value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
    try:
        if api == "anthropic":
            if reply.get("stop_reason") not in ("end_turn", "stop_sequence"):
                raise JudgeError(f"the judge stopped with {str(reply.get('stop_reason'))[:40]}")
            return "".join(str(block["text"]) for block in reply["content"] if block.get("type") == "text")
        choice = reply["choices"][0]
        if choice.get("finish_reason") != "stop":
            raise JudgeError(f"the judge stopped with {str(choice.get('finish_reason'))[:40]}")
        return str(choice["message"]["content"] or "")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise JudgeError("the service's reply contains no text") from None


def _told(error: urllib.error.HTTPError, key: str) -> str:
    """Return the service's reason for its refusal as `: <reason>`, without the key."""
    try:
        said = str(json.loads(error.read(1 << 16))["error"]["message"])
    except (OSError, http.client.HTTPException, ValueError, RecursionError, KeyError, TypeError):
        return ""
    return ": " + said.replace(key, "[the key]")


def _retry_after(error: urllib.error.HTTPError, wait: float) -> float:
    """Return the seconds that the service asks for, at least `wait`."""
    try:
        return max(wait, min(float(error.headers["retry-after"]), 120.0))
    except (TypeError, ValueError):
        return wait
