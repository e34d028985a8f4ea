"""agent/trajectory.json of a Harbor trial as models: messages, tool calls and what they gave back."""

from __future__ import annotations

from typing import Any

from harness.results.harbor_files import HarborFile, Time


class ToolRequest(HarborFile):
    """A tool call of a trajectory."""

    tool_call_id: str | None = None
    function_name: str
    arguments: dict[str, Any] | None = None


class Part(HarborFile):
    """A part of a message; only text ones have a text."""

    text: str | None = None


Content = str | list[Part] | None


class Observed(HarborFile):
    """What a tool call gave back."""

    source_call_id: str | None = None
    content: Content = None


class Observation(HarborFile):
    """What the tool calls of a step gave back."""

    results: tuple[Observed, ...] = ()


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    message: Content = None
    timestamp: Time | None = None
    tool_calls: list[ToolRequest] | None = None
    observation: Observation | None = None
    is_copied_context: bool = False
    """Whether it stands in an earlier trajectory already."""


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()


def text_of(content: Content) -> str:
    """Text of a message: a string, or parts of which only the text ones are kept."""
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.text is not None)
    return content or ""
