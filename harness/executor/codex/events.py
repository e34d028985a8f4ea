"""The lines of `codex exec --json`, and the trace that they add up to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from harness.executor.transcript import STOP_ENDINGS, Transcript
from harness.models import ErrorKind, Outcome, TokenUsage, ToolCall
from harness.models.tools import mcp_name
from harness.sandbox.processes import LineVerdict, ProcessResult, StopCause
from measure.records.outcomes import KIND_OF_STATUS, Ending

Event = dict[str, Any]

STATUS = re.compile(r"status:? (\d{3})\b")
"""The HTTP status in an error of Codex."""


class Events(Transcript[Event]):
    """The events of a run."""

    def take(self, message: Event) -> LineVerdict:
        """Keep an event, unless it only announces an item."""
        if message.get("type") not in ("item.started", "item.updated"):
            self.messages.append(message)
        return LineVerdict.CONTINUE


def items(events: Iterable[Event], *types: str) -> list[Event]:
    """Return the completed items of these types, in order."""
    found = (event.get("item") for event in events if event.get("type") == "item.completed")
    return [item for item in found if isinstance(item, dict) and item.get("type") in types]


def tool_calls(events: Iterable[Event]) -> list[ToolCall]:
    """Return the calls of the shell, of MCP tools, of the editor and of the web search."""
    return [_call(i) for i in items(events, "command_execution", "mcp_tool_call", "file_change", "web_search")]


def _call(item: Event) -> ToolCall:
    given: object
    error: object
    if item["type"] == "mcp_tool_call":
        name = f"{mcp_name(str(item.get('server', '')))}__{item.get('tool', '')}"
        given, output, error = item.get("arguments"), _text(item.get("result")), item.get("error")
        error = error.get("message") if isinstance(error, dict) else error
    elif item["type"] == "command_execution":
        name, given = "shell", {"command": item.get("command")}
        output = str(item.get("aggregated_output", ""))
        error = None if item.get("exit_code") == 0 else output or f"exit code {item.get('exit_code')}"
    else:
        name = "apply_patch" if item["type"] == "file_change" else "web_search"
        given, output = {key: value for key, value in item.items() if key not in ("id", "type", "status")}, ""
        error = "failed" if item.get("status") == "failed" else None
    return ToolCall(
        name=name,
        input=given if isinstance(given, dict) else {"input": given},
        output=None if error else output,
        error=str(error) if error else None,
        id=str(item.get("id", "")),
    )


def _text(result: object) -> str:
    """Return the text of an MCP tool's result."""
    blocks = result.get("content") if isinstance(result, dict) else None
    return "\n".join(str(b["text"]) for b in blocks or () if isinstance(b, dict) and "text" in b)


def usage(events: Iterable[Event]) -> TokenUsage | None:
    """Return the token counts of all turns; None if none was completed, as in a killed run.

    Codex counts cached tokens among the input; here they are apart.
    """
    told = [event["usage"] for event in events if isinstance(event.get("usage"), dict)]
    if not told:
        return None
    counts: Counter[str] = Counter()
    for turn in told:
        counts.update({key: value for key, value in turn.items() if isinstance(value, int) and value > 0})
    cached = counts["cached_input_tokens"]
    return TokenUsage(
        input_tokens=max(0, counts["input_tokens"] - cached),
        output_tokens=counts["output_tokens"],
        cache_read_tokens=cached,
        cache_creation_tokens=counts["cache_write_input_tokens"],
    )


def decide(events: Sequence[Event], finished: ProcessResult, stderr: str) -> Ending:
    """Decide how a run ended, from the last events, the exit code and who ended the process."""
    if finished.cause is StopCause.CANCELLED:
        return STOP_ENDINGS[finished.cause]
    last = events[-1] if events else {}
    if last.get("type") == "turn.completed" and finished.cause is StopCause.EXITED and not finished.returncode:
        return Ending(Outcome.COMPLETED)
    error = _error(last)
    if finished.cause is StopCause.STORAGE or (finished.cause is StopCause.TIMEOUT and not error):
        return STOP_ENDINGS[finished.cause]
    if error:
        status = STATUS.search(error)
        number = int(status[1]) if status else None
        return Ending(Outcome.INFRA_ERROR, KIND_OF_STATUS.get(number or 0, ErrorKind.API_ERROR), error, number)
    lines = [line for line in stderr.splitlines() if line.startswith("Error:")] or stderr.strip().splitlines()[-1:]
    text = lines[0] if lines else f"codex ended with exit code {finished.returncode}"
    if "required MCP servers failed" in text:
        return Ending(Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED, text)
    kind = ErrorKind.NO_RESULT if events else ErrorKind.CLI_REFUSED
    return Ending(Outcome.INFRA_ERROR, kind, text)


def _error(event: Event) -> str:
    """Return what a failed turn or an error says; empty for any other event."""
    if event.get("type") not in ("turn.failed", "error"):
        return ""
    error = event.get("error")
    said = error.get("message") if isinstance(error, dict) else event.get("message")
    return str(said or event["type"])[:1000]
