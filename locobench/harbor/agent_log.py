"""What an agent's own log and sessions say: how it ended, what it cost, and which tools it called.

Harbor writes the output of an agent's program to agent/<agent>.txt, or nearly so. When the program ends with exit
code 0, an error in it is recorded nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from pydantic_core import from_json

from locobench.harbor.contents import AgentFiles
from locobench.harbor.files import HarborFile, Time

MOST = 1e12
"""A larger count of tokens or dollars is corrupt."""
LOGS_EVENTS = {"claude-code", "codex", "cursor-cli", "opencode"}
"""Agents whose log has a JSON object for whatever they do."""

STATUS = re.compile(r"(?:status|code|error|http)\D{0,12}\b([45]\d\d)\b", re.IGNORECASE)
"""An HTTP status in an error's text."""

SAYS_ERROR = re.compile(
    r"^\W*(?:API Error\b|Not logged in\b|Invalid API key\b|Authentication(?: failed|Error)|Credit balance is too low"
    r"|Error: (?:40[0-9]|429|5\d\d)\b|.*\b(?:RateLimitError|AuthenticationError|ServiceUnavailableError)\b)",
    re.IGNORECASE,
)
"""A line of plain text that says that the model's service failed."""


@dataclass(frozen=True)
class Call:
    """A tool call of the agent or a subagent."""

    name: str
    id: str = ""
    skill: str = ""
    """The skill that it loaded or read; empty for none."""
    error: str | None = None
    """What the tool said when it failed; None if it did not."""
    seconds: float | None = None
    """From the call to its result; None where the agent does not record both times."""
    arguments: Any = None
    output: str | None = field(default=None, repr=False)
    """What the tool returned, failed or not; None where that is not recorded."""


@dataclass(frozen=True)
class LogError:
    """The error that an agent's program ended with."""

    text: str
    status: int | None = None
    """HTTP status of the service."""
    reason: str = ""
    """Why it ended, in the agent's own terms: Claude Code's terminal_reason, subtype or kind of error."""
    retrying: bool = False
    """Whether it was still trying again."""
    guessed: bool = False
    """Whether it was read from plain text, which may be the agent's answer, and not from an event."""


@dataclass
class AgentLog:
    """What an agent's own log says."""

    error: LogError | None = None
    is_silent: bool = False
    """Whether there is a log without a single event, of an agent that logs each of its turns as one."""
    cost_usd: float | None = None
    tokens: tuple[int, int, int] | None = None
    """Input tokens with cached ones, cached ones, and output tokens."""
    servers: dict[str, str] = field(default_factory=dict)
    """MCP server -> its status when Claude Code started."""
    mcp_calls: list[McpCall] = field(default_factory=list)
    """The calls of MCP tools, of agents that log server and tool apart."""
    sessions: dict[str, Call] = field(default_factory=dict)
    """The calls in Claude Code's session files and output, with their times, those of subagents included, by id."""
    failed: dict[str, str] = field(default_factory=dict)
    """What tools said when they failed, by the call's id; trajectories of some agents leave it out."""


@dataclass(frozen=True)
class McpCall:
    """A call of an MCP server's tool."""

    server: str
    tool: str
    error: str | None = None


def read_events(content: bytes) -> Iterable[dict[str, Any]]:
    """Yield the JSON objects among the lines; a line that a kill cut off, or that is plain text, is skipped."""
    for line in content.splitlines():
        if line.lstrip().startswith(b"{"):
            try:
                value = from_json(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def log_of(files: AgentFiles, agent: str) -> AgentLog:
    """Return what an agent's own files say; an empty log if it left none. `agent` is its name in Harbor."""
    log = AgentLog(sessions=_calls_of_sessions(files.sessions))
    content = b"\n".join(files.logs.values())
    last: dict[str, Any] = {}
    kind = ""
    for event in chain.from_iterable(map(_events, files.logs.values())):
        last = event if event.get("type") and event.get("type") != "complete" else last  # goose's, after an error too
        kind = _text(event.get("error")) if event.get("type") == "assistant" else kind
        _add(log, event)
    log.is_silent = bool(files.logs) and agent in LOGS_EVENTS and not last
    log.error = _error_of(last, kind)
    text = next((line for line in reversed(content.decode(errors="replace").splitlines()) if line.strip()), "")
    if log.error is None and not text.lstrip().startswith("{") and SAYS_ERROR.search(text):
        log.error = LogError(text.strip(), _status(text), guessed=True)
    return log


def _events(content: bytes) -> Iterable[dict[str, Any]]:
    """Yield the events of a log by lines, or the messages of one that is a single document, as Gemini's is."""
    try:
        whole = from_json(content)
    except ValueError:
        return read_events(content)
    messages = whole.get("messages") if isinstance(whole, dict) else None
    return (
        [event for event in messages if isinstance(event, dict)] if isinstance(messages, list) else read_events(content)
    )


@dataclass
class _Started:
    """A tool call in Claude Code's own files, and when it was made."""

    call: Call
    started: datetime | None


class _Line(HarborFile):
    timestamp: Time | None = None


def _calls_of_sessions(contents: Iterable[bytes]) -> dict[str, Call]:
    begun: dict[str, _Started] = {}
    for content in contents:
        for event in read_events(b"\n".join(line for line in content.splitlines() if b'"tool_' in line)):
            _add_call(begun, event)
    return {name: one.call for name, one in begun.items()}


def _add_call(begun: dict[str, _Started], event: Mapping[str, Any]) -> None:
    message = event.get("message")
    blocks = message.get("content") if isinstance(message, Mapping) else None
    try:
        time = _Line.model_validate(event).timestamp
    except ValueError:
        time = None
    for block in blocks if isinstance(blocks, list) else ():
        if not isinstance(block, Mapping):
            continue
        name, of = str(block.get("id")), begun.get(str(block.get("tool_use_id")))
        if block.get("type") == "tool_use" and name not in begun:
            call = Call(str(block.get("name")), name, arguments=block.get("input"))
            begun[name] = _Started(call, time)
        elif block.get("type") == "tool_result" and of:
            failed = block.get("is_error") is True
            output = text_of(block.get("content"))
            error = (output or "failed") if failed else None
            seconds = max(0.0, (time - of.started).total_seconds()) if time and of.started else None
            of.call = replace(of.call, error=error, seconds=seconds, output=output)


def text_of(content: object) -> str | None:
    """Return the text of a result; None if it has none."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else None


def _add(log: AgentLog, event: Mapping[str, Any]) -> None:
    """Add to the log what an event says about cost, tokens and MCP calls."""
    kind = event.get("type")
    if kind == "result":  # Claude Code, also as a program that other agents print like; the last one counts
        log.cost_usd = _number(event.get("total_cost_usd")) or log.cost_usd
        log.tokens = _claude_tokens(event) or log.tokens
    elif kind == "system" and event.get("subtype") == "init":  # Claude Code
        given = event.get("mcp_servers")
        for server in given if isinstance(given, list) else ():
            if isinstance(server, Mapping):
                log.servers[_text(server.get("name"))] = _text(server.get("status"))
    elif kind == "complete":  # goose
        log.cost_usd = _number(event.get("cost_usd")) or log.cost_usd
    elif kind == "step_finish":  # opencode: each step's own cost
        step = _number(_below(event, "part").get("cost"))
        log.cost_usd = (log.cost_usd or 0.0) + step if step else log.cost_usd
    elif kind == "gemini":
        calls = event.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("status") == "error":
                log.failed[_text(call.get("id"))] = _text(call.get("resultDisplay")) or "failed"
    elif kind == "tool_use":  # opencode
        state = _below(event, "part", "state")
        if state.get("status") == "error":
            log.failed[_text(_below(event, "part").get("callID"))] = _message(state.get("error")) or "failed"
    elif kind == "message":  # goose
        content = _below(event, "message").get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and _below(block, "toolResult").get("status") == "error":
                log.failed[_text(block.get("id"))] = _message(_below(block, "toolResult").get("error")) or "failed"
    elif kind == "item.completed":  # codex
        item = _below(event, "item")
        if item.get("type") == "mcp_tool_call":
            failed = item.get("status") == "failed" or bool(item.get("error"))
            error = _message(item.get("error")) or "failed" if failed else None
            log.mcp_calls.append(McpCall(_text(item.get("server")), _text(item.get("tool")), error))


def _claude_tokens(result: Mapping[str, Any]) -> tuple[int, int, int] | None:
    models = _below(result, "modelUsage").values()  # with subagents, which `usage` leaves out
    camel = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    snake = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    usages: list[Mapping[str, Any]] = [model for model in models if isinstance(model, Mapping)]
    names = camel if models else snake
    usages = usages if models else [_below(result, "usage")]
    fresh, read, written, out = (sum(int(_number(usage.get(name)) or 0) for usage in usages) for name in names)
    return (fresh + read + written, read, out) if fresh + read + written + out else None


def _error_of(last: Mapping[str, Any], kind: str) -> LogError | None:
    """Return the error that the last event of a log is, if it is one.

    Args:
        last: the last event.
        kind: the `error` of the last message of Claude Code's model, such as authentication_failed.
    """
    name = _text(last.get("type"))
    if name == "system" and last.get("subtype") == "api_retry":
        status = last.get("error_status")
        text = f"{_text(last.get('error'))} ({status}): still retrying when the run was ended"
        return LogError(text, _whole(status), _text(last.get("error")), retrying=True)
    if name == "result":
        subtype, status = _text(last.get("subtype")), _whole(last.get("api_error_status"))
        failed = last.get("is_error") is True or status is not None or last.get("status") == "error"
        if not failed and not subtype.startswith("error"):
            return None
        error = last.get("error")
        text = _text(last.get("result")) or _message(error) or "; ".join(map(str, last.get("errors") or [])) or subtype
        reason = _text(last.get("terminal_reason")) or (subtype if subtype != "success" else "") or kind
        return LogError(text, status or _status(text), kind if reason == "api_error" and kind else reason)
    if name == "error" or name.endswith((".error", ".failed")):
        text = _message(last) or name
        return LogError(text, _whole(_below(last, "error", "data").get("statusCode")) or _status(text))
    return None


def _message(value: object) -> str:
    """Return the innermost message of an error, whichever way an agent nests it."""
    if isinstance(value, Mapping):
        for key in ("message", "error", "data", "name"):
            if text := _message(value.get(key)):
                return text
        return ""
    return value if isinstance(value, str) else ""


def _status(text: str) -> int | None:
    found = STATUS.search(text)
    return int(found[1]) if found else None


def _below(value: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        inner = value.get(key)
        value = inner if isinstance(inner, Mapping) else {}
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000 else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < MOST else None
