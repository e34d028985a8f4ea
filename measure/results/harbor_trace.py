"""What did the agent of a Harbor trial do, how did it end, and which task did it run?"""

from __future__ import annotations

import os
import re
from pathlib import Path

from locobench.harbor.files import read
from locobench.harbor.task import TASK_FILE, TaskFolder
from locobench.harbor.trial import REWARD, AgentInfo, AgentResult, Lock, Trajectory, TrajectoryStep, Trial
from locobench.shared.files import read_below
from measure.records import ErrorKind, ExecutionTrace, Offered, Outcome, TokenUsage, ToolCall

EXCEPTIONS: dict[str, tuple[Outcome, ErrorKind]] = {
    "AgentTimeoutError": (Outcome.TIMEOUT, ErrorKind.TIME_LIMIT),
    "ContextWindowExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "ContextLengthExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "OutputTokenExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "OutputLengthExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "AgentSafetyRefusalError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "AgentAuthenticationError": (Outcome.INFRA_ERROR, ErrorKind.AUTH),
    "ModelNotFoundError": (Outcome.INFRA_ERROR, ErrorKind.MODEL_NOT_FOUND),
    "ApiRateLimitError": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    "ApiUsageLimitError": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    "ApiOverloadedError": (Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    "AgentSetupTimeoutError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "EnvironmentStartTimeoutError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "HealthcheckError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "SandboxBuildFailedError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "VerifierTimeoutError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "RewardFileNotFoundError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "RewardFileEmptyError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "VerifierOutputParseError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
}
"""What a trial's exception says about the agent; one that is not listed is an infrastructure error."""

ERROR_CHARS = 300
"""Characters kept of an exception's message."""

KILLED = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?:?|rc=?) ?\(?137\b|OOMKilled|oom-kill|Killed\b")
"""In an exception's message: something outside the agent ended its process (128 + SIGKILL)."""
GONE = b'service "main" is not running'
"""In a trial's log: the container was gone when the agent had finished. Harbor raises no exception for this."""

TEST_OUTPUT = "verifier/test-stdout.txt"
"""The shell in the container creates it before it starts the tests."""

MOST_BYTES = 100_000_000
"""Limit for a trajectory, which takes some ten times as much memory, and for a trial's log."""

ANSWER = "artifacts/app/solution.md"
MOST_ANSWER_BYTES = 1 << 18
"""Bytes read of the graded answer, as many as the verifier reads."""


def left_by_agent(folder: Path, path: str, most: int, *, cut: bool = False) -> bytes | None:
    """Read a file of a trial's folder that its agent may have tampered with; None if it is no regular file.

    Args:
        folder: the trial's folder.
        path: relative to it. No link on the way is followed.
        most: size limit in bytes; a longer file counts as missing.
        cut: read the first `most` bytes of a longer file instead.
    """
    try:
        return read_below(folder, path, most, cut=cut)
    except OSError:
        return None


def trace_of(folder: Path, trial: Trial, task: TaskFolder | None) -> ExecutionTrace:
    """Read what the agent of a trial did and how it ended: of its tool calls only the names, the rest is Harbor's.

    Args:
        folder: the trial's folder.
        trial: its result.json.
        task: the task as it ran, for the servers that it offers; None when unknown.

    Raises:
        InputError: the trajectory cannot be read.
    """
    steps = _steps(folder)
    turns = sum(step.source == "agent" for step in steps)
    spent = trial.spent
    usage = _usage(spent)
    agent = trial.agent_info or AgentInfo()
    answer = answer_of(folder)
    outcome, kind, error = _ending(folder, trial, answered=answer is not None)
    return ExecutionTrace(
        result=answer or "",
        is_error=outcome is not Outcome.COMPLETED,
        usage=usage,
        tool_calls=[ToolCall(name=call.function_name) for step in steps for call in step.tool_calls or []],
        has_transcript=bool(turns),
        duration_seconds=trial.agent_execution.seconds if trial.agent_execution else None,
        num_turns=turns or None,
        outcome=outcome,
        error=error,
        error_kind=kind,
        # An agent that counted no tokens did not know what it spent.
        cost_usd=spent.cost_usd or (0.0 if spent.cost_usd == 0 and usage else None),
        claude_code_version=agent.version or "" if agent.name == "claude-code" else "",
        offered=Offered(servers=offered_servers(trial, task)),
    )


def answer_of(folder: Path) -> str | None:
    """Read the graded answer in a trial's folder, cut at MOST_ANSWER_BYTES; None when Harbor brought none home."""
    content = left_by_agent(folder, ANSWER, MOST_ANSWER_BYTES, cut=True)
    return None if content is None else content.decode("utf-8", errors="replace")


def offered_servers(trial: Trial, task: TaskFolder | None) -> dict[str, str] | None:
    """Return the MCP servers that the job and the task gave to the agent; None when unknown.

    Harbor records neither their status nor their tools, so the status is empty.
    """
    given = trial.config.agent.mcp_servers
    if trial.is_utility_agent:
        return {}
    if task is None:  # the task may have offered more
        return {server.name: "" for server in given} if given else None
    names = [server.name for server in task.toml.environment.mcp_servers] + [server.name for server in given or []]
    return dict.fromkeys(names, "")


def _usage(spent: AgentResult) -> TokenUsage | None:
    """Return token counts; None unless both directions were recorded, since half of them would look cheap."""
    if spent.n_input_tokens is None or spent.n_output_tokens is None:
        return None
    if not spent.n_input_tokens and not spent.n_output_tokens:  # no model reads and writes nothing
        return None
    cached = spent.n_cache_tokens or 0
    return TokenUsage(
        input_tokens=max(0, spent.n_input_tokens - cached),  # Harbor counts cached tokens as input tokens too
        output_tokens=spent.n_output_tokens,
        cache_read_tokens=cached,
    )


def _ending(folder: Path, trial: Trial, *, answered: bool) -> tuple[Outcome, ErrorKind, str]:
    exception = trial.exception_info
    if exception is None:
        log = left_by_agent(folder, "trial.log", MOST_BYTES, cut=True) or b""
        if not answered and GONE in log:
            return Outcome.INFRA_ERROR, ErrorKind.KILLED, "the agent's container was gone before the agent was graded"
        return Outcome.COMPLETED, ErrorKind.NONE, ""
    name, message = exception.exception_type, exception.exception_message or ""
    error = f"{name}: {' '.join(message.split())[:ERROR_CHARS]}"
    never_tested = name == "RewardFileNotFoundError" and not os.path.lexists(folder / TEST_OUTPUT)
    if never_tested:
        error = f"the tests never started, so the container was gone; {error}"
    if never_tested or (name not in EXCEPTIONS and KILLED.search(message)):
        return Outcome.INFRA_ERROR, ErrorKind.KILLED, error
    if name == "NonZeroAgentExitCodeError" and REWARD in trial.rewards:
        return Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED, error
    outcome, kind = EXCEPTIONS.get(name, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    return outcome, kind, error


def _steps(folder: Path) -> list[TrajectoryStep]:
    """Read the steps of the agent's trajectory, except those copied from an earlier one; none without a trajectory."""
    path = "agent/trajectory.json"
    content = left_by_agent(folder, path, MOST_BYTES)
    if content is None:
        return []
    return [step for step in read(folder / path, Trajectory, content).steps if not step.is_copied_context]


def task_folder(path: Path | None) -> TaskFolder | None:
    """Read a task where a trial says that it was; None when it is not there."""
    # For a name that no file can have, os.path returns False where Path may raise.
    return TaskFolder.read(path) if path is not None and os.path.isfile(path / TASK_FILE) else None  # noqa: PTH113


def as_it_ran(folder: Path, task: TaskFolder | None) -> TaskFolder | None:
    """Return the task of the trial in `folder`; None when it is missing, or was generated again since.

    The lock of a trial has the digest of what it ran.
    """
    lock = folder / "lock.json"
    if task is None or not lock.is_file():
        return task
    ran = read(lock, Lock).digest
    return task if ran is None or ran == task.digest else None


def task_id(trial: Trial) -> str:
    """Return the task's folder name if the trial records it, else its registered name."""
    return trial.task_path.name if trial.task_path else trial.task_name
