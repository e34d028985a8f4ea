"""Typed messages for the lines of the CLI's stream, and the trace that they add up to.

Malformed fields are treated as missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from harness.models import ExecutionTrace, Offered, TokenUsage, ToolCall
from locobench.shared.validation import Whole

Count = Annotated[Whole, BeforeValidator(lambda value: 0 if value is None else value), Field(ge=0)]
Truth = Annotated[bool, BeforeValidator(bool)]


class CliOutput(BaseModel):
    """Base class of the CLI's output. A value of an unexpected type leaves the field at its default."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @field_validator("*", mode="wrap")
    @classmethod
    def _default_if_invalid(cls, value: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return validate(value)
        except ValidationError:
            assert info.field_name is not None
            return cls.model_fields[info.field_name].get_default(call_default_factory=True)


class Usage(BaseModel):
    """Token counts of one request, the main loop or one model, under the API's names or those of `modelUsage`.

    A single malformed count invalidates all of them.
    """

    input_tokens: Count = Field(0, validation_alias=AliasChoices("input_tokens", "inputTokens"))
    output_tokens: Count = Field(0, validation_alias=AliasChoices("output_tokens", "outputTokens"))
    cache_read_tokens: Count = Field(
        0, validation_alias=AliasChoices("cache_read_input_tokens", "cacheReadInputTokens")
    )
    cache_creation_tokens: Count = Field(
        0, validation_alias=AliasChoices("cache_creation_input_tokens", "cacheCreationInputTokens")
    )


class Block(CliOutput):
    """One block of content: text, a tool call or a tool result."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: Any = None
    is_error: Truth = False

    @property
    def content_text(self) -> str:
        """The text of a tool result; blocks other than text are shown as their type in brackets."""
        if isinstance(self.content, list):
            parts = [b if isinstance(b, dict) else {"type": "text", "text": b} for b in self.content]
            return "\n".join(str(b.get("text", "")) if b.get("type") == "text" else f"[{b.get('type')}]" for b in parts)
        return "" if self.content is None else str(self.content)


class Content(CliOutput):
    """The API message inside a line."""

    id: str = ""
    content: list[Block] = []
    usage: Usage | None = None


class Message(CliOutput):
    """Any line of the stream."""

    type: str = ""
    subtype: str = ""
    session_id: str | None = None
    timestamp: AwareDatetime | None = None
    error: str = ""
    """Kind of an API error, on assistant and api_retry lines."""
    error_status: Whole | None = None
    """HTTP status of that error, on api_retry lines."""
    raw: dict[str, Any] = {}
    """The line as it was printed."""


class Server(CliOutput):
    """An MCP server, as the first line lists it."""

    name: str = ""
    status: str = ""


class Init(Message):
    """The first line: what the CLI really loaded."""

    tools: list[str] | None = None
    mcp_servers: list[Server] | None = None
    skills: list[str] | None = None
    agents: list[str] | None = None
    slash_commands: list[str] = []
    claude_code_version: str = ""

    @property
    def offered(self) -> Offered:
        """The tools, servers, skills and agents that the CLI offers."""
        servers = None if self.mcp_servers is None else {server.name: server.status for server in self.mcp_servers}
        return Offered(tools=self.tools, servers=servers, skills=self.skills, agents=self.agents)


class Turn(Message):
    """An assistant or user line: one block that the model wrote, or results of its tools."""

    message: Content = Content()
    parent_tool_use_id: str | None = None
    """The tool call that started the subagent that wrote this; None for the main agent."""


class Result(Message):
    """The last line: how the run ended and what it cost, according to the CLI."""

    subtype: str = "success"
    is_error: Truth = False
    api_error_status: Whole | None = None
    terminal_reason: str = ""
    result: str = ""
    errors: list[str] = []
    num_turns: Annotated[Whole, Field(ge=0, strict=True)] | None = None
    total_cost_usd: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    usage: Usage | None = None
    model_usage: dict[str, Usage] = Field(default={}, alias="modelUsage")
    permission_denials: list[dict[str, Any]] = []


KINDS: dict[tuple[str, str] | str, type[Message]] = {
    ("system", "init"): Init,
    "assistant": Turn,
    "user": Turn,
    "result": Result,
}
"""Message classes by type of a line, or by type and subtype."""


def message_of(line: dict[str, Any]) -> Message:
    """Make the most specific message of one JSON object that the CLI printed."""
    name, subtype = str(line.get("type")), str(line.get("subtype"))
    kind = KINDS.get(name) or KINDS.get((name, subtype), Message)
    return kind.model_validate({**line, "raw": line})


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
