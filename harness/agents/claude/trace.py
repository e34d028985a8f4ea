"""Builds the trace of a run from the CLI's messages and the way it ended."""

from __future__ import annotations

from typing import Any

from harness.agents.claude import stream
from harness.agents.claude.messages import Init, Message, Result
from harness.agents.claude.outcome import Ending
from harness.models import Config, ConfigSnapshot, ErrorKind, ExecutionTrace, Outcome


def trace_of(
    messages: list[Message], end: Ending, prompt: str, config: Config | None, *, stderr: str = "", seconds: float = 0.0
) -> ExecutionTrace:
    """Build the trace of a run. `seconds` is its duration; 0 uses the CLI's own figure."""
    init = stream.init_message(messages) or Init()
    result = stream.result_message(messages) or Result()
    return ExecutionTrace(
        session_id=result.session_id or init.session_id,
        result=result.result,
        is_error=end.outcome is not Outcome.COMPLETED,
        usage=stream.usage(messages),
        tool_calls=stream.tool_calls(messages),
        duration_seconds=seconds or result.duration_ms / 1000,
        num_turns=stream.turns(messages),
        raw_output=_raw(messages, init, result),
        offered=init.offered,
        claude_prompt=prompt,
        claude_response=stream.response_text(messages) or result.result,
        config_snapshot=ConfigSnapshot.of(config) if config else ConfigSnapshot(),
        max_turns=config.max_turns if config else 0,
        hit_turn_limit=end.kind is ErrorKind.MAX_TURNS,
        stderr=stderr,
        outcome=end.outcome,
        error=end.error,
        error_kind=end.kind,
        error_status=end.status,
        cost_usd=result.total_cost_usd,
        claude_code_version=init.claude_code_version,
        retry_after_seconds=end.retry_after_seconds,
        permission_denials=[denial.tool_name for denial in result.permission_denials],
    )


def _raw(messages: list[Message], init: Init, result: Result) -> dict[str, Any]:
    raw: dict[str, Any] = {"init": init.raw, "result": result.raw}
    for name in ("api_retry", "permission_denied", "compact_boundary"):
        raw[name] = [m.raw for m in messages if (m.type, m.subtype) == ("system", name)]
    raw["rate_limit_event"] = [m.raw for m in messages if m.type == "rate_limit_event"]
    named = {id(line) for value in raw.values() for line in (value if isinstance(value, list) else [value])}
    raw["messages"] = [m.raw for m in messages if id(m.raw) not in named]
    return {name: value for name, value in raw.items() if value}
