"""What the `claude` CLI's output says: messages, tool calls, totals, and how the run ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from harness.models import ErrorKind, Outcome, TokenUsage, ToolCall
from harness.processes import StopCause

Message = dict[str, Any]


def parse_messages(output: str) -> list[Message]:
    """Messages of stream-json lines, of the array that --verbose json prints, or of a single json object.

    Lines that are no JSON objects (a line cut by a kill, a stray print) are left out.
    """
    try:
        whole = json.loads(output)
    except ValueError:
        return [message for line in output.splitlines() if (message := parse_line(line)) is not None]
    items = whole if isinstance(whole, list) else [whole]
    return [item for item in items if isinstance(item, dict)]


def parse_line(line: str | bytes) -> Message | None:
    """One line of stream-json; None when it is not a whole JSON object.

    Invalid UTF-8 becomes U+FFFD and half a surrogate pair a question mark, since no file could hold them.
    """
    text = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line
    if not text.lstrip().startswith("{"):
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    if "\\ud" in text.lower():
        whole = json.dumps(message, ensure_ascii=False).encode("utf-8", errors="replace")
        message = json.loads(whole)
    return dict(message)


def result_message(messages: Iterable[Message]) -> Message | None:
    """The last result line. A json output of the CLI is one such object; one without a type counts too."""
    found = [m for m in messages if m.get("type") == "result" or ("type" not in m and "session_id" in m)]
    return found[-1] if found else None


def init_message(messages: Iterable[Message]) -> Message | None:
    """The system/init line: version, tools, skills and servers as the CLI really has them."""
    return next((m for m in messages if m.get("type") == "system" and m.get("subtype") == "init"), None)


def system_messages(messages: Iterable[Message], subtype: str) -> list[Message]:
    """All system lines of one subtype, such as api_retry."""
    return [m for m in messages if m.get("type") == "system" and m.get("subtype") == subtype]


def response_text(messages: Iterable[Message]) -> str:
    """Everything the main agent wrote, in order, one paragraph a block."""
    texts = [
        str(block.get("text", ""))
        for message in messages
        if message.get("type") == "assistant" and message.get("parent_tool_use_id") is None
        for block in _blocks(message)
        if block.get("type") == "text"
    ]
    return "\n\n".join(texts)


def tool_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Tool calls in the order they were made, subagents' included, each with its result."""
    results = {
        str(block.get("tool_use_id")): (block, _time(message))
        for message in messages
        if message.get("type") == "user"
        for block in _blocks(message)
        if block.get("type") == "tool_result"
    }
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.get("type") != "assistant":
            continue
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                call = _tool_call(block, message, results.get(str(block.get("id"))))
                calls[call.id or str(len(calls))] = call
    return list(calls.values())


def usage(messages: Sequence[Message]) -> TokenUsage:
    """Totals with subagents from modelUsage; else the main loop's; else the sum over distinct messages.

    The last is what a killed run leaves: its output tokens are those known when each message began.
    """
    result = result_message(messages) or {}
    per_model = [m for m in (result.get("modelUsage") or {}).values() if isinstance(m, dict)]
    if per_model:
        return TokenUsage(
            input_tokens=sum(int(m.get("inputTokens") or 0) for m in per_model),
            output_tokens=sum(int(m.get("outputTokens") or 0) for m in per_model),
            cache_read_tokens=sum(int(m.get("cacheReadInputTokens") or 0) for m in per_model),
            cache_creation_tokens=sum(int(m.get("cacheCreationInputTokens") or 0) for m in per_model),
        )
    if isinstance(result.get("usage"), dict):
        return _usage_sum([result["usage"]])
    by_id = {
        message["message"].get("id"): message["message"].get("usage") or {}
        for message in messages
        if message.get("type") == "assistant" and isinstance(message.get("message"), dict)
    }
    return _usage_sum(list(by_id.values()))


def turns(messages: Sequence[Message]) -> int:
    """API round trips of the main loop: as reported, else the number of distinct messages."""
    reported = (result_message(messages) or {}).get("num_turns")
    if isinstance(reported, int):
        return reported
    main = (m for m in messages if m.get("type") == "assistant" and m.get("parent_tool_use_id") is None)
    return len({m["message"].get("id") for m in main if isinstance(m.get("message"), dict)})


@dataclass(frozen=True)
class Ending:
    """How a run ended and why."""

    outcome: Outcome
    kind: ErrorKind = ErrorKind.NONE
    error: str = ""
    status: int | None = None
    retry_after_seconds: float | None = None


TERMINAL_REASONS: dict[str, tuple[Outcome, ErrorKind]] = {
    "completed": (Outcome.COMPLETED, ErrorKind.NONE),
    "max_turns": (Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    "budget_exhausted": (Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    "prompt_too_long": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "structured_output_retry_exhausted": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "hook_stopped": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "stop_hook_prevented": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "blocking_limit": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
}
"""What the CLI's terminal_reason means; every reason that is not here is an infrastructure error."""

SUBTYPES: dict[str, str] = {
    "success": "completed",
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "budget_exhausted",
    "error_max_structured_output_retries": "structured_output_retry_exhausted",
}
"""The terminal_reason of CLI versions that do not print one. Only read when is_error and status agree."""

ASSISTANT_ERRORS: dict[str, ErrorKind] = {
    "authentication_failed": ErrorKind.AUTH,
    "billing_error": ErrorKind.CREDIT,
    "model_not_found": ErrorKind.MODEL_NOT_FOUND,
    "rate_limit": ErrorKind.RATE_LIMIT,
    "overloaded": ErrorKind.OVERLOADED,
}
"""The `error` of an assistant or api_retry line."""

STATUSES: dict[int, ErrorKind] = {
    401: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    404: ErrorKind.MODEL_NOT_FOUND,
    429: ErrorKind.RATE_LIMIT,
    529: ErrorKind.OVERLOADED,
}


def ending(
    messages: Sequence[Message],
    *,
    cause: StopCause = StopCause.EXITED,
    returncode: int | None = 0,
    stderr: str = "",
    now: datetime | None = None,
) -> Ending:
    """Decide how a run ended from the result line, the API errors, the exit code and who ended the process.

    The subtype alone decides nothing: the CLI prints `success` for failed logins and refused requests.
    """
    result = result_message(messages)
    wait = _retry_after(messages, now or datetime.now(UTC))
    if cause is StopCause.CANCELLED:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.INTERRUPTED, "interrupted")
    if result is not None:
        return _ending_of_result(result, messages, cause, returncode, wait)
    retry = _pending_retry(messages)
    if retry is not None:
        kind = _api_kind(retry.get("error"), retry.get("error_status"))
        error = f"{retry.get('error')} ({retry.get('error_status')}): still retrying when the run was ended"
        return Ending(Outcome.INFRA_ERROR, kind, error, retry.get("error_status"), wait)
    if cause is StopCause.TIMEOUT:
        return Ending(Outcome.TIMEOUT, ErrorKind.TIME_LIMIT, "the task's time limit was reached")
    if cause is StopCause.SILENT:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.SILENT, "the CLI printed nothing for too long")
    why = _one_line(stderr)
    if not messages and returncode != 0:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED, why or f"the CLI exited with {returncode}")
    text = f"the CLI exited with {returncode} without a result line" + (f": {why}" if why else "")
    return Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, text)


def _ending_of_result(
    result: Message,
    messages: Sequence[Message],
    cause: StopCause,
    returncode: int | None,
    wait: float | None,
) -> Ending:
    is_error = bool(result.get("is_error"))
    status = result.get("api_error_status")
    reason = str(
        result.get("terminal_reason") or SUBTYPES.get(str(result.get("subtype", "success")), "error")
    )
    outcome, kind = TERMINAL_REASONS.get(reason, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    error = str(result.get("result") or "; ".join(map(str, result.get("errors") or [])) or reason)
    if outcome is Outcome.COMPLETED and (is_error or status is not None):
        outcome, kind = Outcome.INFRA_ERROR, ErrorKind.API_ERROR
    if kind is ErrorKind.API_ERROR:
        kind = _api_kind(next((m["error"] for m in reversed(messages) if m.get("error")), None), status)
    if outcome is Outcome.COMPLETED:
        if cause is StopCause.EXITED and returncode:
            text = f"the CLI exited with {returncode} after a result without error"
            return Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, text)
        return Ending(Outcome.COMPLETED)
    return Ending(outcome, kind, error, status, wait if outcome is Outcome.INFRA_ERROR else None)


def _api_kind(error: object, status: object) -> ErrorKind:
    named = ASSISTANT_ERRORS.get(str(error))
    return named or (STATUSES.get(status) if isinstance(status, int) else None) or ErrorKind.API_ERROR


def _pending_retry(messages: Sequence[Message]) -> Message | None:
    """The api_retry line after which nothing came back, if the stream ends in one."""
    for message in reversed(messages):
        if message.get("type") == "assistant":
            return None
        if message.get("type") == "system" and message.get("subtype") == "api_retry":
            return message
    return None


def _retry_after(messages: Sequence[Message], now: datetime) -> float | None:
    """Seconds until the limit that rejected the run resets, as the last rate_limit_event says."""
    for message in reversed(messages):
        info = message.get("rate_limit_info")
        if message.get("type") == "rate_limit_event" and isinstance(info, dict):
            resets = info.get("resetsAt")
            if info.get("status") == "rejected" and isinstance(resets, int | float):
                return max(0.0, resets - now.timestamp())
            return None
    return None


def _blocks(message: Message) -> list[dict[str, Any]]:
    inner = message.get("message")
    content = inner.get("content") if isinstance(inner, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _time(message: Message) -> datetime | None:
    try:
        return datetime.fromisoformat(str(message.get("timestamp")))
    except ValueError:
        return None


def _tool_call(block: Message, message: Message, result: tuple[Message, datetime | None] | None) -> ToolCall:
    called = _time(message)
    content, failed, seconds = None, False, None
    if result is not None:
        content, failed = _content_text(result[0].get("content")), bool(result[0].get("is_error"))
        if called and result[1]:
            seconds = max(0.0, (result[1] - called).total_seconds())
    arguments = block.get("input")
    return ToolCall(
        name=str(block.get("name", "")),
        input=arguments if isinstance(arguments, dict) else {"input": arguments},
        output=None if failed else content,
        error=content if failed else None,
        timestamp=called,
        id=str(block.get("id", "")),
        duration_seconds=seconds,
        parent_id=message.get("parent_tool_use_id"),
    )


def _content_text(content: object) -> str:
    """Text of a tool result: a string, or blocks of which other than text are named."""
    if isinstance(content, list):
        parts = [b if isinstance(b, dict) else {"type": "text", "text": b} for b in content]
        return "\n".join(
            str(b.get("text", "")) if b.get("type") == "text" else f"[{b.get('type')}]" for b in parts
        )
    return "" if content is None else str(content)


def _usage_sum(usages: Iterable[Mapping[str, Any]]) -> TokenUsage:
    items = list(usages)
    return TokenUsage(
        input_tokens=sum(int(u.get("input_tokens") or 0) for u in items),
        output_tokens=sum(int(u.get("output_tokens") or 0) for u in items),
        cache_read_tokens=sum(int(u.get("cache_read_input_tokens") or 0) for u in items),
        cache_creation_tokens=sum(int(u.get("cache_creation_input_tokens") or 0) for u in items),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())[-300:]
