"""An agent's turns and tool calls in a trial, from its ATIF trajectory.

An MCP tool gets the same name whichever agent called it: `mcp__<server>__<tool>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasPath, Field

from locobench.harbor.agent_log import AgentLog, Call, read_log
from locobench.harbor.files import HarborFile, read_or_warn
from locobench.harbor.tool_names import SURE, with_one_name
from locobench.harbor.trial import Trial

SAYS_FAILED = re.compile(
    r"\W*(?:error\W|error (?:executing|calling) (?:MCP )?tool|MCP error -?\d+|MCP tool .*failed)"
    r"|.{0,40}\"is_?error\": ?true",
    re.IGNORECASE,
)
"""The start of a tool's output that says that the call failed, for agents that do not mark it."""

SHORTEST_NAME = 2
"""Letters of an agent's name, which its log is known by; `pi` has the fewest."""

LEAVES_ERRORS_OUT = {"gemini-cli", "goose"}
"""Agents in whose trajectory a call that failed has a result without text."""

MODEL_OF_ERRORS = "<synthetic>"
"""Claude Code writes messages about API errors under this name; no model made them."""


class ToolRequest(HarborFile):
    """A tool call."""

    function_name: str
    tool_call_id: str | None = None
    arguments: Any = None
    extra: Any = None


class ToolResult(HarborFile):
    """The result of a tool call."""

    source_call_id: str | None = None
    content: Any = None
    subagent_trajectory_ref: list[dict[str, Any]] | None = None
    extra: Any = None


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    model_name: str | None = None
    tool_calls: list[ToolRequest] | None = None
    results: list[ToolResult] | None = Field(default=None, validation_alias=AliasPath("observation", "results"))
    is_copied_context: bool | None = None
    """Whether the step was copied from an earlier trajectory."""
    extra: Any = None

    @property
    def is_turn(self) -> bool:
        """Whether a model made it."""
        return self.source == "agent" and self.model_name != MODEL_OF_ERRORS


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()
    subagent_trajectories: list[Trajectory] | None = None
    continued_trajectory_ref: str | None = None


@dataclass(frozen=True)
class Actions:
    """What the agent of a trial did."""

    turns: int = 0
    calls: tuple[Call, ...] = ()
    logs: tuple[AgentLog, ...] = ()
    """Its own logs, one for each step of the trial."""
    names_servers: bool = True
    """False if a call of an MCP tool may look like any other, so that none found does not mean none made."""


def actions_of(path: Path, files: Mapping[str, bytes], trial: Trial, servers: Sequence[str]) -> Actions:
    """Return what an agent did; warn about a trajectory that is cut or invalid, and ignore it.

    Args:
        path: the trial's folder, for warnings.
        files: contents by path in it.
        trial: its result.
        servers: names of the MCP servers that the agent had.
    """
    agent, steps = trial.agent, [f"steps/{step.step_name}/agent/" for step in trial.step_results if step.step_name]
    folders = [step for step in steps if any(name.startswith(step) for name in files)] or ["agent/"]
    if trial.agent_config.resume_trajectory:  # each step's session holds those before it
        folders = folders[-1:]
    turns, calls, logs = 0, list[Call](), list[AgentLog]()
    for folder in folders:
        for own, part in _parts(path, files, folder):
            calls += [call for step in part.steps for call in _calls_of(step, agent)]
            turns += sum(own and step.is_turn and not step.is_copied_context for step in part.steps)
        own_logs = [files[name] for name in files if name.startswith(folder) and _is_log(name, agent)]
        logs.append(read_log(b"\n".join(own_logs), agent) if own_logs else AgentLog())
    logged = [call for log in logs for call in log.mcp_calls]
    named = with_one_name(calls, agent, servers, logged)
    return Actions(turns, tuple(named), tuple(logs), agent in SURE or bool(logged))


def _is_log(name: str, agent: str) -> bool:
    """Decide whether Harbor, or the agent, logs to a file: `agent/cline.txt` is that of cline-cli."""
    stem = re.sub(r"[^a-z0-9]", "", name.rpartition("/")[2].partition(".")[0].lower())
    return len(stem) >= SHORTEST_NAME and re.sub(r"[^a-z0-9]", "", agent.lower()).startswith(stem)


def _parts(path: Path, files: Mapping[str, bytes], folder: str) -> Iterator[tuple[bool, Trajectory]]:
    """Yield a trajectory with its continuations and subagents; True for those of the agent itself."""
    pending: list[tuple[bool, Trajectory | str | None]] = [(True, "trajectory.json")]
    seen = set()
    for own, named in pending:
        part = named
        if isinstance(part, str):
            name = f"{folder}{part}"
            if name in seen or name not in files:
                continue
            seen.add(name)
            part = read_or_warn(path / name, Trajectory, files[name])
        if part is None:
            continue
        yield own, part
        results = [r for step in part.steps for r in step.results or []]
        refs = [ref.get("trajectory_path") for r in results for ref in r.subagent_trajectory_ref or []]
        pending += [(own, part.continued_trajectory_ref)]
        pending += [(False, inner) for inner in (*(part.subagent_trajectories or []), *refs)]


def _calls_of(step: TrajectoryStep, agent: str) -> list[Call]:
    if step.is_copied_context:
        return []
    results = {r.source_call_id: r for r in step.results or []}
    alone = len(step.tool_calls or []) == 1
    calls = []
    for request in step.tool_calls or []:
        result = results.get(request.tool_call_id) or (results.get(None) if alone else None)
        marks = [request.extra, *([step.extra] if alone else []), *([result.extra] if result else [])]
        output = _text_of(result.content if result else None)
        text = output or ""
        left_out = agent in LEAVES_ERRORS_OUT and result is not None and output is None
        failed = left_out or any(map(_says_failed, marks)) or SAYS_FAILED.match(text)
        calls.append(
            Call(
                request.function_name,
                request.tool_call_id or "",
                error=(text or "failed") if failed else None,
                arguments=request.arguments,
                output=output,
            )
        )
    return calls


def _says_failed(mark: object, levels: int = 4) -> bool:
    """Return whether what an agent recorded beside a result says that the call failed."""
    if not isinstance(mark, Mapping) or not levels:
        return False
    if any(mark.get(key) is True for key in ("tool_result_is_error", "tool_use_is_error", "is_error", "isError")):
        return True
    error = mark.get("error")
    if mark.get("status") in ("error", "failed") or mark.get("success") is False or (error and isinstance(error, str)):
        return True
    return any(_says_failed(inner, levels - 1) for inner in mark.values())


def _text_of(content: object) -> str | None:
    """Return the text of a result; None if it has none."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else None
