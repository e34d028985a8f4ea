"""The outcome of a run: from the result line, API errors, the exit code and who ended the process."""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.executor.claude.messages import Message, Result, tool_calls
from harness.executor.transcript import STOP_ENDINGS
from harness.models import ErrorKind, Outcome
from harness.sandbox.processes import ProcessResult, StopCause
from measure.records.outcomes import ASSISTANT_ERRORS, KIND_OF_STATUS, TERMINAL_REASONS, Ending

CURES: dict[str, str] = {
    "root/sudo": "set IS_SANDBOX=1 if this machine is a sandbox",
    "Not logged in": "set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN; runs have a home of their own",
}
"""What to do about CLI errors whose own advice does not fit an isolated run."""

UNANSWERED_SECONDS = 120.0
"""Seconds of silence after which the service counts as not answering; for a short task, half its time limit."""

LATEST_SECONDS = 1e11
"""Seconds since 1970; a larger number is a time in milliseconds, or not a time at all."""

LAST_EXIT_CODE = 128
"""A larger exit code means that a signal ended the process."""


def decide(messages: Sequence[Message], finished: ProcessResult, stderr: str, timeout: float = 0.0) -> Ending:
    """Decide how a run ended. The subtype alone decides nothing: the CLI prints `success` for failed logins too.

    `timeout` is the time limit of the run in seconds.
    """
    cause, returncode = finished.cause, finished.returncode
    infra = Outcome.INFRA_ERROR
    if cause is StopCause.CANCELLED:
        return STOP_ENDINGS[cause]
    for message in reversed(messages):
        if isinstance(message, Result):
            return _ending_of_result(message, messages, returncode if cause is StopCause.EXITED else 0)
    last = next((m for m in reversed(messages) if m.type == "assistant" or m.subtype == "api_retry"), None)
    if last is not None and last.subtype == "api_retry":
        kind = _api_kind(last.error, last.error_status)
        error = f"{last.error} ({last.error_status}): still retrying when the run was ended"
        return Ending(infra, kind, error, last.error_status, _retry_after(messages))
    unanswered = last is None or finished.silent_seconds > min(UNANSWERED_SECONDS, timeout / 2)
    if cause is StopCause.TIMEOUT and unanswered and not _tool_runs(messages):
        return Ending(infra, ErrorKind.SILENT, "the service was silent when the task's time limit was reached")
    if cause in STOP_ENDINGS:
        return STOP_ENDINGS[cause]
    if cause is StopCause.SILENT:
        return Ending(infra, ErrorKind.SILENT, "the CLI printed nothing for too long")
    if returncode is not None and returncode > LAST_EXIT_CODE:
        return Ending(infra, ErrorKind.KILLED, f"the CLI was killed (exit code {returncode})")
    why = _with_cure(" ".join(stderr.split())[-300:])
    if not messages and returncode != 0:
        return Ending(infra, ErrorKind.CLI_REFUSED, why or f"the CLI exited with {returncode}")
    text = f"the CLI exited with {returncode} without a result line" + (f": {why}" if why else "")
    return Ending(infra, ErrorKind.NO_RESULT, text)


def _ending_of_result(result: Result, messages: Sequence[Message], returncode: int | None) -> Ending:
    status = result.api_error_status
    reason = result.terminal_reason or result.subtype
    outcome, kind = TERMINAL_REASONS.get(reason, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    if outcome is Outcome.COMPLETED and (result.is_error or status is not None):
        outcome, kind = Outcome.INFRA_ERROR, ErrorKind.API_ERROR
    if outcome is Outcome.COMPLETED and returncode:
        text = f"the CLI exited with {returncode} after a result without error"
        return Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, text)
    if outcome is Outcome.COMPLETED:
        return Ending(outcome)
    if kind is ErrorKind.API_ERROR:
        kind = _api_kind(next((m.error for m in reversed(messages) if m.error), ""), status)
    error = _with_cure(result.result or "; ".join(result.errors) or reason)
    return Ending(outcome, kind, error, status, _retry_after(messages) if outcome is Outcome.INFRA_ERROR else None)


def _with_cure(error: str) -> str:
    return "; ".join([error, *(cure for phrase, cure in CURES.items() if phrase in error)])


def _api_kind(error: str, status: int | None) -> ErrorKind:
    return ASSISTANT_ERRORS.get(error) or KIND_OF_STATUS.get(status or 0, ErrorKind.API_ERROR)


def _tool_runs(messages: Sequence[Message]) -> bool:
    """Return whether a tool call has no result yet; the CLI is then silent because the agent waits for it."""
    return any(call.output is None and call.error is None for call in tool_calls(messages))


def _retry_after(messages: Sequence[Message]) -> float | None:
    """Return the seconds until the rate limit that rejected the run resets, from the last rate_limit_event."""
    told = next((m.raw.get("rate_limit_info") for m in reversed(messages) if m.type == "rate_limit_event"), None)
    resets_at = told.get("resetsAt") if isinstance(told, dict) and told.get("status") == "rejected" else None
    if isinstance(resets_at, int | float) and 0 <= resets_at < LATEST_SECONDS:
        return max(0.0, resets_at - time.time())
    return None
