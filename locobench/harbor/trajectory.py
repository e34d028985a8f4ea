"""agent/trajectory.json of a Harbor trial as models: who acts in each step, and which tools are called."""

from __future__ import annotations

from locobench.harbor.files import HarborFile


class ToolRequest(HarborFile):
    """A tool call."""

    function_name: str


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    tool_calls: list[ToolRequest] | None = None
    is_copied_context: bool = False
    """Whether the step was copied from an earlier trajectory."""


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()
