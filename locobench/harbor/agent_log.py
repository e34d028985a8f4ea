"""What an agent's own log says: how it ended, what Claude Code cost, and which MCP tools Codex called.

Harbor writes the output of an agent's program to agent/<agent>.txt, or nearly so. When the program ends with exit
code 0, an error in it is recorded nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

MOST_USD = 1e6
"""A larger cost is corrupt."""
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
    guessed: bool = False
    """Whether it was read from plain text, which may be the agent's answer, and not from an event."""


@dataclass
class AgentLog:
    """What an agent's own log says."""

    error: LogError | None = None
    is_silent: bool = False
    """Whether there is a log without a single event, of an agent that logs each of its turns as one."""
    cost_usd: float | None = None
    """What Claude Code's last result line says; Harbor takes the first."""
    servers: dict[str, str] = field(default_factory=dict)
    """MCP server -> its status when Claude Code started."""
    mcp_calls: list[Call] = field(default_factory=list)
    """Codex's calls of MCP tools, as `mcp__<server>__<tool>`; its trajectory leaves the server out."""


def read_log(content: bytes, agent: str) -> AgentLog:
    """Return what an agent's log says; `agent` is its name in Harbor, and an empty log says nothing."""
    log = AgentLog()
    last: dict[str, Any] = {}
    kind = ""
    for event in _events(content):
        last = event if event.get("type") and event.get("type") != "complete" else last  # goose's, after an error too
        kind = _text(event.get("error")) if event.get("type") == "assistant" else kind
        _add(log, event)
    log.is_silent = agent in LOGS_EVENTS and not last
    log.error = _error_of(last, kind)
    text = next((line for line in reversed(content.decode(errors="replace").splitlines()) if line.strip()), "")
    if log.error is None and not text.lstrip().startswith("{") and SAYS_ERROR.search(text):
        log.error = LogError(text.strip(), _status(text), guessed=True)
    return log


def _events(content: bytes) -> Iterable[dict[str, Any]]:
    """Yield the JSON objects among the lines; a line that a kill cut off, or that is plain text, is skipped."""
    for line in content.splitlines():
        if line.lstrip().startswith(b"{"):
            try:
                value = from_json(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def _add(log: AgentLog, event: Mapping[str, Any]) -> None:
    """Add to the log what an event says about cost, servers and MCP calls."""
    kind, item = event.get("type"), _object(event.get("item"))
    if kind == "result":
        cost = event.get("total_cost_usd")
        log.cost_usd = float(cost) if isinstance(cost, int | float) and 0 < cost < MOST_USD else log.cost_usd
    elif kind == "system" and event.get("subtype") == "init":
        given = event.get("mcp_servers")
        for server in map(_object, given if isinstance(given, list) else ()):
            log.servers[_text(server.get("name"))] = _text(server.get("status"))
    elif kind == "item.completed" and item.get("type") == "mcp_tool_call":
        failed = item.get("status") == "failed" or bool(item.get("error"))
        error = _message(item.get("error")) or "failed" if failed else None
        log.mcp_calls.append(Call(f"mcp__{_text(item.get('server'))}__{_text(item.get('tool'))}", error=error))


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
        return LogError(text, _whole(status), _text(last.get("error")))
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
        data = _object(_object(last.get("error")).get("data"))
        return LogError(text, _whole(data.get("statusCode")) or _status(text))
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


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000 else None
