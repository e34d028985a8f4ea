"""What the agent of a trial did: turns and tool calls, from its ATIF trajectory and its own log and sessions.

An MCP tool gets the same name whichever agent called it: `mcp__<server>__<tool>`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat

from locobench.harbor.agent_log import AgentLog, McpCall, events_in, left_by_agent, read_log
from locobench.harbor.files import HarborFile, Time, read
from locobench.harbor.trial import AgentResult, TrialFolder
from locobench.shared.errors import InputError
from locobench.shared.validation import Whole

SEPARATORS: dict[str, tuple[str, ...]] = {
    "claude-code": ("mcp__{}__",),
    "cline-cli": ("{}__", "mcp__{}__"),
    "codex": ("mcp__{}__", "{}__"),
    "copilot-cli": ("{}-",),
    "cortex-code": ("mcp__{}__",),
    "cursor-cli": ("mcp__{}__",),
    "gemini-cli": ("mcp_{}_", "{}__"),
    "goose": ("{}.", "{}__"),
    "grok-build": ("{}__",),
    "hermes": ("mcp_{}_",),
    "kimi-code": ("mcp__{}__",),
    "mimo": ("{}_",),
    "opencode": ("{}_",),
    "opencode-v2": ("{}_",),
    "pi": ("{}_",),
    "qwen-coder": ("mcp__{}__",),
    "vibe": ("{}_",),
}
"""How each agent puts a server's name in front of its tool's."""

SURE = {"claude-code", "codex", "copilot-cli", "cursor-cli", "gemini-cli", "goose", "opencode", "qwen-coder"}
"""Agents whose files were read by which it is known that they always name the server."""

ANY_SEPARATOR = ("mcp__{}__", "mcp_{}_", "{}__", "{}.", "{}/", "{}:")
"""Prefixes that no built-in tool has, looked for with every other agent."""

BUILT_IN = {"search_replace", "web_search", "web_fetch", "code_search", "file_search", "read_file", "write_file"}
"""Tools of agents that join server and tool by one underscore; a server may be called `search`, too."""

SERVER_KEYS = ("server", "server_name", "serverName", "providerIdentifier", "mcp_server")
TOOL_KEYS = ("toolName", "tool_name", "tool", "name")
"""Arguments that name a server and its tool, for agents that call all of them through one tool of their own."""

SKILL_TOOLS = {"skill", "activate_skill", "load_skill", "use_skill", "invoke_skill"}
SKILL_FILE = re.compile(r"skills/([^/\s\"']+)/")
"""Agents without such a tool read the skill's files."""

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


def read_actions(trial: TrialFolder, servers: Iterable[str]) -> Actions:
    """Read what the agent of a trial did; of a trajectory that is cut or invalid, warn and go without it.

    `servers` are the names of the MCP servers that it had.
    """
    agent, servers = trial.result.agent, list(servers)
    folders = [f"steps/{step.step_name}/agent" for step in trial.result.step_results if step.step_name]
    folders = [name for name in folders if (trial.path / name).is_dir()] or ["agent"]
    if trial.result.config.agent.resume_trajectory:
        folders = folders[-1:]  # each step's session holds those before it
    turns, calls, logs, spent = 0, list[Call](), list[AgentLog](), list[AgentResult]()
    for folder in folders:
        log = read_log(trial.path, folder, agent)
        parts = list(_parts(trial.path, folder, "trajectory.json", set()))
        sessions = _sessions(trial.path, folder)
        found = [call for _, part in parts for step in part.steps for call in _calls_of(step)]
        turns += sum(step.is_turn and not step.is_copied_context for own, part in parts if own for step in part.steps)
        calls += _merged(found, sessions, log)
        logs.append(log)
        spent.append(_spent([part for own, part in parts if own], log))
    logged = [call for log in logs for call in log.mcp_calls]
    named = _canonical(calls, agent, servers, logged)
    return Actions(turns, tuple(named), tuple(logs), AgentResult.total(spent), agent in SURE or bool(logged))


def _parts(folder: Path, agent_folder: str, name: str, seen: set[str]) -> Iterator[tuple[bool, Trajectory]]:
    """Yield a trajectory file with its continuations and subagents; True for those of the agent itself."""
    path = f"{agent_folder}/{name}"
    content = None if name in seen else left_by_agent(folder, path)
    seen.add(name)
    if content is None:
        return
    try:
        whole = read(folder / path, Trajectory, content)
    except InputError as error:
        warnings.warn(f"{error}; the agent's tool calls and turns in it are not counted", stacklevel=2)
        return
    yield True, whole
    if whole.continued_trajectory_ref:
        yield from _parts(folder, agent_folder, whole.continued_trajectory_ref, seen)
    pending = [whole]
    for part in pending:
        pending += part.subagent_trajectories or []
        results = [r for step in part.steps for r in (step.observation and step.observation.results) or []]
        for named in (ref.get("trajectory_path") for r in results for ref in r.subagent_trajectory_ref or []):
            if isinstance(named, str):
                yield from ((False, of_file) for _, of_file in _parts(folder, agent_folder, named, seen))
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
        output = _content(result.content if result else None)
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


def _content(content: object) -> str | None:
    """Return the text of a result; None if it has none."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else None


@dataclass
class _Session:
    """A tool call in Claude Code's own files, which have the times, and the subagents' calls."""

    call: Call
    started: datetime | None


class _Line(HarborFile):
    timestamp: Time | None = None


def _sessions(folder: Path, agent_folder: str) -> dict[str, Call]:
    """Return the tool calls in Claude Code's session files and output by id, those of subagents included."""
    begun: dict[str, _Session] = {}
    root = folder / agent_folder / "sessions"
    files = sorted(root.glob("projects/**/*.jsonl")) if root.is_dir() else []
    for file in [*files, folder / agent_folder / "claude-code.txt"]:
        content = left_by_agent(folder, file.relative_to(folder).as_posix()) or b""
        for event in events_in(b"\n".join(line for line in content.splitlines() if b'"tool_' in line)):
            _add_session(begun, event)
    return {name: session.call for name, session in begun.items()}


def _add_session(begun: dict[str, _Session], event: Mapping[str, Any]) -> None:
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
            begun[name] = _Session(call, time)
        elif block.get("type") == "tool_result" and of:
            failed = block.get("is_error") is True
            output = _content(block.get("content"))
            error = (output or "failed") if failed else None
            seconds = max(0.0, (time - of.started).total_seconds()) if time and of.started else None
            of.call = replace(of.call, error=error, seconds=seconds, output=output)


def _merged(found: Sequence[Call], sessions: Mapping[str, Call], log: AgentLog) -> list[Call]:
    """Add to a trajectory's calls their times, and the calls that only the agent's own files have."""
    calls = []
    for call in found:
        own, failed = sessions.get(call.id), call.error or log.failed.get(call.id)
        if own:
            output = own.output if call.output is None else call.output
            call = replace(call, seconds=own.seconds, error=failed or own.error, output=output)
        calls.append(call if own or failed == call.error else replace(call, error=failed))
    known = {call.id for call in found}
    calls += [call for name, call in sessions.items() if name not in known]
    if not calls:  # the trajectory was cut, or the agent has no converter
        calls = [Call(f"mcp__{c.server}__{c.tool}", error=c.error) for c in log.mcp_calls]
    return calls


def _canonical(calls: Iterable[Call], agent: str, servers: Sequence[str], logged: Sequence[McpCall]) -> list[Call]:
    """Return the calls under the names that every agent's calls of MCP tools get, with the skills that they used.

    `logged` are the calls of MCP tools in the agent's own log, in the order they were made.
    """
    waiting = list(logged)
    found = []
    for call in calls:
        server, tool = _server_and_tool(call, agent, servers)
        own = next(
            (c for c in waiting if (c.server, c.tool) == (server, tool) or (not server and c.tool == call.name)), None
        )
        if own:
            waiting.remove(own)
            server, tool = own.server, own.tool
            call = replace(call, error=call.error or own.error)
        name, skill = f"mcp__{server}__{tool}" if server else call.name, _skill(call)
        found.append(replace(call, name=name, skill=skill) if server or skill else call)
    return found


def _server_and_tool(call: Call, agent: str, servers: Sequence[str]) -> tuple[str, str]:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    told = [_folded(str(arguments[key])) for key in SERVER_KEYS if arguments.get(key)]
    for server in servers if told else ():
        if _folded(server) in told:
            return server, next((str(arguments[k]) for k in TOOL_KEYS if arguments.get(k)), call.name)
    name = call.name
    if name in ("mcp", "mcpToolCall", "use_mcp_tool", "invoke_tool"):
        name = next((str(arguments[k]) for k in TOOL_KEYS if arguments.get(k)), name)
    for server in sorted(servers, key=len, reverse=True):
        for form in SEPARATORS.get(agent, ANY_SEPARATOR):
            before, after = form.split("{}")
            end = len(before) + len(server)
            called = name.startswith(before) and _folded(name[len(before) : end]) == _folded(server)
            if called and name[end:].startswith(after) and name[end:] != after and name not in BUILT_IN:
                return server, name[end + len(after) :]
    return "", ""


def _folded(name: str) -> str:
    """Return a name as agents write it, which replace characters that the model's service does not take."""
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def _skill(call: Call) -> str:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {"": call.arguments}
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if call.name.lower() in SKILL_TOOLS and texts:
        return str(arguments.get("skill") or arguments.get("name") or texts[0]).rpartition(":")[2]
    found = next(filter(None, map(SKILL_FILE.search, texts)), None)
    return found[1] if found else ""


def _spent(parts: Sequence[Trajectory], log: AgentLog) -> AgentResult:
    """Return what an agent's log and its trajectory say that it spent; the log has the last word."""
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
