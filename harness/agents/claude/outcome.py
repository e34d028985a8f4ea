"""How did a run end? Decides from the result line, API errors, the exit code and who ended the process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.agents.claude.messages import ApiRetry, Message, RateLimitEvent, Result, Turn
from harness.agents.claude.stream import result_message
from harness.host.processes import StopCause
from harness.models import ErrorKind, Outcome
from harness.models.outcomes import KIND_OF_STATUS


@dataclass(frozen=True)
class Ending:
    """How a run ended and why."""

    outcome: Outcome
    kind: ErrorKind = ErrorKind.NONE
    error: str = ""
    status: int | None = None
    retry_after_seconds: float | None = None


TERMINAL_REASONS: dict[str, tuple[Outcome, ErrorKind]] = {
    "completed": (Outcome.COMPLETED, ErrorKind.NONE),
    "max_turns": (Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    "budget_exhausted": (Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    "prompt_too_long": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "structured_output_retry_exhausted": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "hook_stopped": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "stop_hook_prevented": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "blocking_limit": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
}
"""Outcomes by the CLI's terminal_reason; any other reason is an infrastructure error."""

SUBTYPES: dict[str, str] = {
    "success": "completed",
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "budget_exhausted",
    "error_max_structured_output_retries": "structured_output_retry_exhausted",
}
"""The terminal_reason by subtype, for CLI versions that do not print one. `success` counts only without an error."""

ASSISTANT_ERRORS: dict[str, ErrorKind] = {
    "authentication_failed": ErrorKind.AUTH,
    "billing_error": ErrorKind.CREDIT,
    "model_not_found": ErrorKind.MODEL_NOT_FOUND,
    "rate_limit": ErrorKind.RATE_LIMIT,
    "overloaded": ErrorKind.OVERLOADED,
}
"""Error kinds by the `error` of an assistant or api_retry line."""

CURES: dict[str, str] = {
    "root/sudo": "set IS_SANDBOX=1 if this machine is a sandbox",
    "Not logged in": "set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN; runs have a home of their own",
}
"""What to do about CLI errors whose own advice does not fit an isolated run."""

LAST_EXIT_CODE = 128
"""In a container, a larger exit code means that a signal ended the process."""


def decide(
    messages: Sequence[Message],
    *,
    cause: StopCause = StopCause.EXITED,
    returncode: int | None = 0,
    stderr: str = "",
    unanswered: bool = False,
    now: datetime | None = None,
) -> Ending:
    """Decide how a run ended from the result line, the API errors, the exit code and who ended the process.

    `unanswered`: the service had been silent for too long when the time was up.

    The subtype alone decides nothing: the CLI prints `success` for failed logins and refused requests.
    """
    result = result_message(messages)
    wait = _retry_after(messages, now or datetime.now(UTC))
    if cause is StopCause.CANCELLED:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.INTERRUPTED, "interrupted")
    if result is not None:
        return _ending_of_result(result, messages, cause, returncode, wait)
    retry = _pending_retry(messages)
    if retry is not None:
        kind = _api_kind(retry.error, retry.error_status)
        error = f"{retry.error} ({retry.error_status}): still retrying when the run was ended"
        return Ending(Outcome.INFRA_ERROR, kind, error, retry.error_status, wait)
    if cause is StopCause.TIMEOUT and not messages:
        text = "the CLI printed nothing until the task's time was up"
        return Ending(Outcome.INFRA_ERROR, ErrorKind.SILENT, text)
    answered = any(isinstance(message, Turn) and message.type == "assistant" for message in messages)
    if cause is StopCause.TIMEOUT and (unanswered or not answered) and not _tool_runs(messages):
        text = "the service had not answered for too long when the task's time was up"
        return Ending(Outcome.INFRA_ERROR, ErrorKind.SILENT, text)
    if cause is StopCause.TIMEOUT:
        return Ending(Outcome.TIMEOUT, ErrorKind.TIME_LIMIT, "the task's time limit was reached")
    if cause is StopCause.SILENT:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.SILENT, "the CLI printed nothing for too long")
    why = _with_cure(_one_line(stderr))
    if returncode is not None and (returncode < 0 or returncode > LAST_EXIT_CODE):
        return Ending(Outcome.INFRA_ERROR, ErrorKind.KILLED, f"the CLI was killed (exit code {returncode})")
    if not messages and returncode != 0:
        return Ending(Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED, why or f"the CLI exited with {returncode}")
    text = f"the CLI exited with {returncode} without a result line" + (f": {why}" if why else "")
    return Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, text)


def _ending_of_result(
    result: Result, messages: Sequence[Message], cause: StopCause, returncode: int | None, wait: float | None
) -> Ending:
    status = result.api_error_status
    reason = result.terminal_reason or SUBTYPES.get(result.subtype, "error")
    outcome, kind = TERMINAL_REASONS.get(reason, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    error = result.result or "; ".join(result.errors) or reason
    if outcome is Outcome.COMPLETED and (result.is_error or status is not None):
        outcome, kind = Outcome.INFRA_ERROR, ErrorKind.API_ERROR
    if kind is ErrorKind.API_ERROR:
        kind = _api_kind(next((m.error for m in reversed(messages) if m.error), ""), status)
    if outcome is Outcome.COMPLETED:
        if cause is StopCause.EXITED and returncode:
            text = f"the CLI exited with {returncode} after a result without error"
            return Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, text)
        return Ending(Outcome.COMPLETED)
    return Ending(outcome, kind, _with_cure(error), status, wait if outcome is Outcome.INFRA_ERROR else None)


def _with_cure(error: str) -> str:
    return "; ".join([error, *(cure for phrase, cure in CURES.items() if phrase in error)])


def _api_kind(error: str, status: int | None) -> ErrorKind:
    return ASSISTANT_ERRORS.get(error) or KIND_OF_STATUS.get(status or 0, ErrorKind.API_ERROR)


def _tool_runs(messages: Sequence[Message]) -> bool:
    """Return whether a tool call has no result yet; the CLI is then silent because the agent waits for it."""
    blocks = [block for turn in messages if isinstance(turn, Turn) for block in turn.message.content]
    answered = {block.tool_use_id for block in blocks if block.type == "tool_result"}
    return any(block.type == "tool_use" and block.id not in answered for block in blocks)


def _pending_retry(messages: Sequence[Message]) -> ApiRetry | None:
    """Return the last api_retry line if no answer followed it."""
    for message in reversed(messages):
        if isinstance(message, Turn) and message.type == "assistant":
            return None
        if isinstance(message, ApiRetry):
            return message
    return None


def _retry_after(messages: Sequence[Message], now: datetime) -> float | None:
    """Return the seconds until the rate limit that rejected the run resets, from the last rate_limit_event."""
    for message in reversed(messages):
        if isinstance(message, RateLimitEvent):
            info = message.rate_limit_info
            if info.status == "rejected" and info.resets_at is not None:
                return max(0.0, info.resets_at - now.timestamp())
            return None
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[-300:]
