"""The trace of a run, built from the CLI's messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from harness.executor.claude.messages import Block, Init, Message, Result, Turn, Usage
from harness.models import ExecutionTrace, TokenUsage, ToolCall


def trace_of(messages: list[Message], **known: Any) -> ExecutionTrace:
    """Build the trace of a run; `known` are the fields that the messages do not tell."""
    init = next((m for m in messages if isinstance(m, Init)), Init())
    result = next((m for m in reversed(messages) if isinstance(m, Result)), Result())
    said = [turn for turn in _turns(messages, "assistant") if turn.parent_tool_use_id is None]
    texts = [block.text for turn in said for block in turn.message.content if block.type == "text"]
    others = [m.raw for m in messages if m is not init and m is not result]
    raw = {"init": init.raw, "result": result.raw, "messages": others}
    return ExecutionTrace(
        **known,
        session_id=result.session_id or init.session_id,
        result=result.result,
        usage=_usage(messages, result),
        tool_calls=tool_calls(messages),
        num_turns=len({turn.message.id for turn in said}) if result.num_turns is None else result.num_turns,
        raw_output={name: value for name, value in raw.items() if value},
        offered=init.offered,
        claude_response="\n\n".join(texts) or result.result,
        cost_usd=result.total_cost_usd,
        claude_code_version=init.claude_code_version,
        permission_denials=[str(denial.get("tool_name", "")) for denial in result.permission_denials],
    )


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
    )


def _usage(messages: Sequence[Message], result: Result) -> TokenUsage:
    """Return the token counts: from modelUsage with subagents, else the main loop's, else summed over messages.

    The last case is a killed run: its output tokens are those known when each message began.
    """
    usages: Iterable[Usage | None] = result.model_usage.values() or [result.usage]
    if not result.model_usage and result.usage is None:
        usages = {turn.message.id: turn.message.usage for turn in _turns(messages, "assistant")}.values()
    counts = sum((Counter(dict(usage)) for usage in usages if usage is not None), Counter())
    return TokenUsage(**counts)


def _turns(messages: Iterable[Message], role: str) -> list[Turn]:
    return [m for m in messages if isinstance(m, Turn) and m.type == role]
