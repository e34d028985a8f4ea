"""An agent's turns and tool calls in a trial, from its ATIF trajectory and its own files.

An MCP tool gets the same name whichever agent called it: `mcp__<server>__<tool>`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import FiniteFloat

from locobench.harbor.agent_log import AgentLog, Call, log_of, text_of
from locobench.harbor.contents import AgentFiles
from locobench.harbor.files import HarborFile, read
from locobench.harbor.tool_names import SURE, with_one_name
from locobench.harbor.trial import AgentResult
from locobench.shared.errors import InputError
from locobench.shared.validation import Whole

SAYS_FAILED = re.compile(
    r"\W*(?:error\W|error (?:executing|calling) (?:MCP )?tool|MCP error -?\d+|MCP tool .*failed)"
    r"|.{0,40}\"is_?error\": ?true",
    re.IGNORECASE,
)
"""The start of a tool's output that says that the call failed, for agents that do not mark it."""

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


class Observation(HarborFile):
    """The results of a step's tool calls."""

    results: list[ToolResult] | None = None


class StepMetrics(HarborFile):
    """What a step cost."""

    cost_usd: FiniteFloat | None = None


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    model_name: str | None = None
    tool_calls: list[ToolRequest] | None = None
    observation: Observation | None = None
    metrics: StepMetrics | None = None
    is_copied_context: bool | None = None
    """Whether the step was copied from an earlier trajectory."""
    extra: Any = None

    @property
    def is_turn(self) -> bool:
        """Whether a model made it."""
        return self.source == "agent" and self.model_name != MODEL_OF_ERRORS


class FinalMetrics(HarborFile):
    """What the whole trajectory cost, subagents included."""

    total_prompt_tokens: Whole | None = None
    total_completion_tokens: Whole | None = None
    total_cached_tokens: Whole | None = None
    total_cost_usd: FiniteFloat | None = None


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()
    final_metrics: FinalMetrics | None = None
    subagent_trajectories: list[Trajectory] | None = None
    continued_trajectory_ref: str | None = None


@dataclass(frozen=True)
class Actions:
    """What the agent of a trial did."""

    turns: int = 0
    calls: tuple[Call, ...] = ()
    logs: tuple[AgentLog, ...] = ()
    """Its own logs, one for each step of the trial."""
    spent: AgentResult = field(default_factory=AgentResult)
    """What it spent by its own account, which covers what Harbor did not record."""
    names_servers: bool = True
    """False if a call of an MCP tool may look like any other, so that none found does not mean none made."""


def actions_of(agents: Iterable[AgentFiles], agent: str, servers: Sequence[str]) -> Actions:
    """Return what an agent did; warn about a trajectory that is cut or invalid, and ignore it.

    Args:
        agents: its files, of each step of the trial.
        agent: its name in Harbor.
        servers: names of the MCP servers that it had.
    """
    turns, calls, logs, spent = 0, list[Call](), list[AgentLog](), list[AgentResult]()
    for files in agents:
        log = log_of(files, agent)
        parts = list(_parts(files, "trajectory.json", set()))
        found = [call for _, part in parts for step in part.steps for call in _calls_of(step)]
        turns += sum(step.is_turn and not step.is_copied_context for own, part in parts if own for step in part.steps)
        calls += _merge(found, log)
        logs.append(log)
        spent.append(_spent([part for own, part in parts if own], log))
    logged = [call for log in logs for call in log.mcp_calls]
    named = with_one_name(calls, agent, servers, logged)
    return Actions(turns, tuple(named), tuple(logs), AgentResult.total(spent), agent in SURE or bool(logged))


def _parts(files: AgentFiles, name: str, seen: set[str]) -> Iterator[tuple[bool, Trajectory]]:
    """Yield a trajectory file with its continuations and subagents; True for those of the agent itself."""
    if name in seen or name not in files.trajectories:
        return
    seen.add(name)
    try:
        whole = read(files.folder / name, Trajectory, files.trajectories[name])
    except InputError as error:
        warnings.warn(f"{error}; its tool calls and turns are not counted", stacklevel=2)
        return
    yield True, whole
    if whole.continued_trajectory_ref:
        yield from _parts(files, whole.continued_trajectory_ref, seen)
    pending = [whole]
    for part in pending:
        pending += part.subagent_trajectories or []
        results = [r for step in part.steps for r in (step.observation and step.observation.results) or []]
        for named in (ref.get("trajectory_path") for r in results for ref in r.subagent_trajectory_ref or []):
            if isinstance(named, str):
                yield from ((False, of_file) for _, of_file in _parts(files, named, seen))
    yield from ((False, part) for part in pending[1:])


def _calls_of(step: TrajectoryStep) -> list[Call]:
    if step.is_copied_context:
        return []
    results = {r.source_call_id: r for r in (step.observation and step.observation.results) or []}
    alone = len(step.tool_calls or []) == 1
    calls = []
    for request in step.tool_calls or []:
        result = results.get(request.tool_call_id) or (results.get(None) if alone else None)
        marks = [request.extra, *([step.extra] if alone else []), *([result.extra] if result else [])]
        output = text_of(result.content if result else None)
        text = output or ""
        failed = any(map(_says_failed, marks)) or SAYS_FAILED.match(text)
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


def _merge(found: Sequence[Call], log: AgentLog) -> list[Call]:
    """Add to a trajectory's calls their times, and the calls that only the agent's own files have."""
    calls = []
    for call in found:
        own, failed = log.sessions.get(call.id), call.error or log.failed.get(call.id)
        if own:
            output = own.output if call.output is None else call.output
            call = replace(call, seconds=own.seconds, error=failed or own.error, output=output)
        calls.append(call if own or failed == call.error else replace(call, error=failed))
    known = {call.id for call in found}
    calls += [call for name, call in log.sessions.items() if name not in known]
    if not calls:  # the trajectory was cut, or the agent has no converter
        calls = [Call(f"mcp__{c.server}__{c.tool}", error=c.error) for c in log.mcp_calls]
    return calls


def _spent(parts: Sequence[Trajectory], log: AgentLog) -> AgentResult:
    """Return what an agent spent, by its log where that says so, else by its trajectory."""
    totals = parts[-1].final_metrics if parts else None
    steps = [step.metrics.cost_usd for part in parts for step in part.steps if step.metrics and step.metrics.cost_usd]
    given = (totals.total_prompt_tokens, totals.total_cached_tokens, totals.total_completion_tokens) if totals else None
    tokens = log.tokens or given or (None, None, None)
    return AgentResult(
        n_input_tokens=tokens[0],
        n_cache_tokens=tokens[1],
        n_output_tokens=tokens[2],
        cost_usd=log.cost_usd or (totals and totals.total_cost_usd) or (sum(steps) if steps else None),
    )
