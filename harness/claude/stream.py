"""What the `claude` CLI prints: messages, tool calls, texts and totals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from harness.models import TokenUsage, ToolCall

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
        return "\n".join(str(b.get("text", "")) if b.get("type") == "text" else f"[{b.get('type')}]" for b in parts)
    return "" if content is None else str(content)


def _usage_sum(usages: Iterable[Mapping[str, Any]]) -> TokenUsage:
    items = list(usages)
    return TokenUsage(
        input_tokens=sum(int(u.get("input_tokens") or 0) for u in items),
        output_tokens=sum(int(u.get("output_tokens") or 0) for u in items),
        cache_read_tokens=sum(int(u.get("cache_read_input_tokens") or 0) for u in items),
        cache_creation_tokens=sum(int(u.get("cache_creation_input_tokens") or 0) for u in items),
    )
