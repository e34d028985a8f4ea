"""agent/trajectory.json of a Harbor trial as models: messages, tool calls and their results."""

from __future__ import annotations

from typing import Any

from locobench.harbor.files import HarborFile, Time


class ToolRequest(HarborFile):
    """A tool call."""

    tool_call_id: str | None = None
    function_name: str
    arguments: dict[str, Any] | None = None


class Part(HarborFile):
    """A part of a message; only text parts have a text."""

    text: str | None = None


Content = str | list[Part] | None


class Observed(HarborFile):
    """The result of a tool call."""

    source_call_id: str | None = None
    content: Content = None


class Observation(HarborFile):
    """The results of a step's tool calls."""

    results: tuple[Observed, ...] = ()


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    message: Content = None
    timestamp: Time | None = None
    tool_calls: list[ToolRequest] | None = None
    observation: Observation | None = None
    is_copied_context: bool = False
    """Whether the step was copied from an earlier trajectory."""


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()


def text_of(content: Content) -> str:
    """Return a message's text; of a list of parts, only the text parts."""
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.text is not None)
    return content or ""
