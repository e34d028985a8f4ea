"""Parses the output of the `claude` CLI: its messages, and the tool calls, texts and totals in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness.agents.claude.messages import Block, Init, Message, Result, Turn, Usage, message_of, whole
from harness.models import TokenUsage, ToolCall


def parse_messages(output: str) -> list[Message]:
    """Parse stream-json lines, the array that --verbose json prints, or a single json object.

    Lines that are not JSON objects (a line cut by a kill, a stray print) are skipped.
    """
    try:
        whole = _loads(output)
    except (ValueError, RecursionError):
        return [message for line in output.splitlines() if (message := parse_line(line)) is not None]
    items = whole if isinstance(whole, list) else [whole]
    return [message_of(item) for item in items if isinstance(item, dict)]


def parse_line(line: str | bytes, *, longest: Callable[[str], int | None] = whole) -> Message | None:
    """Parse one line of stream-json; None if it is not a complete JSON object, or is nested too deeply.

    Invalid UTF-8 becomes U+FFFD; long texts are cut as in `message_of`.
    """
    text = line.decode("utf-8", errors="replace") if isinstance(line, bytes) else line
    if not text.lstrip().startswith("{"):
        return None
    try:
        message = _loads(text)
    except (ValueError, RecursionError):
        return None
    return message_of(message, longest=longest) if isinstance(message, dict) else None


def _loads(text: str) -> Any:
    """Parse JSON; half a surrogate pair becomes a question mark, since no file could hold it."""
    value = json.loads(text)
    if "\\ud" in text.lower():
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace"))
    return value


def result_message(messages: Iterable[Message]) -> Result | None:
    """Return the last result line."""
    return next(reversed([m for m in messages if isinstance(m, Result)]), None)


def init_message(messages: Iterable[Message]) -> Init | None:
    """Return the system/init line: version, tools, skills and servers as the CLI really has them."""
    return next((m for m in messages if isinstance(m, Init)), None)


def response_text(messages: Iterable[Message]) -> str:
    """Return everything that the main agent wrote, in order, one paragraph per block."""
    said = (m for m in _turns(messages, "assistant") if m.parent_tool_use_id is None)
    return "\n\n".join(block.text for turn in said for block in turn.message.content if block.type == "text")


def tool_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the tool calls in the order they were made, including subagents', each with its result."""
    results = {
        block.tool_use_id: (block, turn)
        for turn in _turns(messages, "user")
        for block in turn.message.content
        if block.type == "tool_result"
    }
    calls: dict[str, ToolCall] = {}
    for turn in _turns(messages, "assistant"):
        for block in turn.message.content:
            if block.type == "tool_use":
                call = _tool_call(block, turn, results.get(block.id))
                calls[call.id or str(len(calls))] = call
    return list(calls.values())


def usage(messages: Sequence[Message]) -> TokenUsage:
    """Return the token counts: from modelUsage with subagents, else the main loop's, else summed over messages.

    The last case is a killed run: its output tokens are those known when each message began.
    """
    result = result_message(messages)
    if result is not None and result.model_usage:
        return _sum(result.model_usage.values())
    if result is not None and result.usage is not None:
        return _sum([result.usage])
    by_id = {turn.message.id: turn.message.usage for turn in _turns(messages, "assistant")}
    return _sum(usage for usage in by_id.values() if usage is not None)


def turns(messages: Sequence[Message]) -> int:
    """Return the API round trips of the main loop: as reported, else the number of distinct messages."""
    result = result_message(messages)
    if result is not None and result.num_turns is not None:
        return result.num_turns
    return len({turn.message.id for turn in _turns(messages, "assistant") if turn.parent_tool_use_id is None})


def _turns(messages: Iterable[Message], role: str) -> list[Turn]:
    return [m for m in messages if isinstance(m, Turn) and m.type == role]


def _tool_call(block: Block, turn: Turn, result: tuple[Block, Turn] | None) -> ToolCall:
    content, failed, seconds = None, False, None
    if result is not None:
        content, failed, ended = result[0].content_text, result[0].is_error, result[1].timestamp
        if turn.timestamp and ended:
            seconds = max(0.0, (ended - turn.timestamp).total_seconds())
    return ToolCall(
        name=block.name,
        input=block.input if isinstance(block.input, dict) else {"input": block.input},
        output=None if failed else content,
        error=content if failed else None,
        timestamp=turn.timestamp,
        id=block.id,
        duration_seconds=seconds,
        parent_id=turn.parent_tool_use_id,
    )


def _sum(usages: Iterable[Usage]) -> TokenUsage:
    counts = sum((Counter(dict(usage)) for usage in usages), Counter())
    return TokenUsage(**counts)
