"""What an agent's CLI prints, a JSON object a line, and how a run ended. What it prints is not trusted."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, Generic, TypeVar

from harness.models import ErrorKind, Outcome
from harness.sandbox.processes import LineVerdict, StopCause
from measure.records.outcomes import Ending

Message = TypeVar("Message")

WHOLE_BYTES = 2_000_000
"""Bytes kept whole of messages of one type, such as all that tools return; later texts are cut to `CUT_TEXT` each."""
CUT_TEXT = 200
MOST_MESSAGES = 6_000
"""A run ends after this many messages: no agent needs more, and they would fill the memory."""
DEEPEST = 64
"""Levels of nesting that are kept; results files could not hold much more."""


STOP_ENDINGS = {
    StopCause.CANCELLED: Ending(Outcome.INFRA_ERROR, ErrorKind.INTERRUPTED, "interrupted"),
    StopCause.TIMEOUT: Ending(Outcome.TIMEOUT, ErrorKind.TIME_LIMIT, "the task's time limit was reached"),
    StopCause.STORAGE: Ending(
        Outcome.AGENT_ERROR, ErrorKind.STORAGE, "it wrote more files than the task's resources.storage_mb allows"
    ),
}
"""How a run ended that the harness stopped."""


class Transcript(ABC, Generic[Message]):
    """Keeps the messages of a run as they come. Memory is bounded even for endless output."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.ending: Ending | None = None
        """Why the run has to end now."""
        self._verdict = LineVerdict.CONTINUE
        self._bytes: Counter[str] = Counter()
        """Bytes read so far, by type of message."""

    @abstractmethod
    def take(self, message: dict[str, Any]) -> LineVerdict:
        """Keep a message, and say what it means for the rest of the run."""

    def __call__(self, line: bytes) -> LineVerdict:
        """Take a line of output; one that is not JSON is ignored."""
        for message in objects_in(line):
            kind = str(message.get("type"))
            too_much = self._bytes[kind] > WHOLE_BYTES or self._bytes.total() > 2 * WHOLE_BYTES
            self._bytes[kind] += len(line)
            # The last message of Claude Code's has the answer and the cost.
            self._verdict = self.take(bounded(message, CUT_TEXT if too_much and kind != "result" else None))
        if len(self.messages) >= MOST_MESSAGES and self.ending is None:
            error = f"ended after {MOST_MESSAGES:,} messages, the most that are kept of a run"
            self.ending = Ending(Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED, error)
        return LineVerdict.ABORT if self.ending else self._verdict


def objects_in(output: str | bytes) -> list[dict[str, Any]]:
    """Parse lines of JSON objects, or of arrays of them.

    Lines that are not JSON (a line cut by a kill, a stray print) or nested too deeply are skipped. Invalid UTF-8
    becomes U+FFFD.
    """
    text = output.decode("utf-8", errors="replace") if isinstance(output, bytes) else output
    found = []
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return found


def bounded(value: Any, longest: int | None = None, levels: int = DEEPEST) -> Any:
    """Replace what is nested deeper than `levels` by a placeholder, and cut texts longer than `longest` characters.

    Halves of surrogate pairs, which no file could hold, become question marks.
    """
    if isinstance(value, dict | list) and not levels:
        return "[nested too deeply]"
    if isinstance(value, dict):
        return {bounded(key): bounded(item, longest, levels - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [bounded(item, longest, levels - 1) for item in value]
    if not isinstance(value, str):
        return value
    if longest is not None and len(value) > longest:
        value = f"{value[:longest]}[{len(value) - longest} characters left out]"
    return value.encode("utf-8", errors="replace").decode()
