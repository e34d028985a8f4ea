"""The outcome of a run, which decides whether it counts in rates, and the kind of error, which says why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a run ended. Only the first three say something about the agent."""

    COMPLETED = "completed"
    AGENT_ERROR = "agent_error"
    """The agent ran out of turns, budget or storage."""
    TIMEOUT = "timeout"
    """The agent was still working when the task's time limit was reached."""
    INFRA_ERROR = "infra_error"
    """The service or the CLI failed: rate limit, login, credit, unknown model, hang, no result line."""
    SETUP_ERROR = "setup_error"
    """The run did not match its config: a fixture, skill, CLAUDE.md or server was missing."""

    @property
    def measured(self) -> bool:
        """Whether the run counts in rates; other runs are reported separately."""
        return self in (Outcome.COMPLETED, Outcome.AGENT_ERROR, Outcome.TIMEOUT)


class ErrorKind(StrEnum):
    """Why a run did not complete; decides what the runner does next."""

    NONE = ""
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    AGENT_STOPPED = "agent_stopped"
    """The agent's own doing: its prompt grew too long, or a hook of the project stopped it."""
    TIME_LIMIT = "time_limit"
    STORAGE = "storage"
    """The agent wrote more than its container may hold."""
    AUTH = "auth"
    CREDIT = "credit"
    MODEL_NOT_FOUND = "model_not_found"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    API_ERROR = "api_error"
    CLI_REFUSED = "cli_refused"
    """The CLI did not start: not found, unknown flag, root without IS_SANDBOX."""
    SILENT = "silent"
    """No output for too long."""
    NO_RESULT = "no_result"
    """The CLI ended without a result line."""
    INTERRUPTED = "interrupted"
    FIXTURE = "fixture"
    """The environment could not be built."""
    GRADING = "grading"
    """The agent finished, but its work was never graded: Harbor's verifier failed."""
    KILLED = "killed"
    """Something outside the agent ended its process or container, such as the memory limit."""
    UNREADABLE = "unreadable"
    """The agent's files cannot be read: permissions are missing, or the disk fails."""
    EXECUTOR = "executor"
    """The program that gives the prompt to the agent failed."""
    NOT_LOADED = "not_loaded"
    """A skill, CLAUDE.md, subagent or MCP server of the config was missing when the agent started."""

    @property
    def stops_matrix(self) -> bool:
        """Whether every further run would fail in the same way."""
        return self in (ErrorKind.AUTH, ErrorKind.CREDIT, ErrorKind.MODEL_NOT_FOUND, ErrorKind.CLI_REFUSED)

    @property
    def is_temporary(self) -> bool:
        """Whether the same run may well succeed a little later."""
        return self.slows_all or self in (ErrorKind.API_ERROR, ErrorKind.NO_RESULT, ErrorKind.SILENT)

    @property
    def slows_all(self) -> bool:
        """Whether the service asks everybody to wait, so no other run should start in the meantime."""
        return self in (ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED)


@dataclass(frozen=True)
class Ending:
    """How a run ended and why."""

    outcome: Outcome = Outcome.COMPLETED
    kind: ErrorKind = ErrorKind.NONE
    error: str = ""
    status: int | None = None
    retry_after_seconds: float | None = None
    doubt: str = ""
    """Why a measured run may say nothing about the agent after all, guessed from a text; empty if no doubt."""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a trace that say how the run ended."""
        return {
            "is_error": self.outcome is not Outcome.COMPLETED,
            "hit_turn_limit": self.kind is ErrorKind.MAX_TURNS,
            "outcome": self.outcome,
            "error": self.error,
            "error_kind": self.kind,
            "error_status": self.status,
            "retry_after_seconds": self.retry_after_seconds,
            "doubt": self.doubt,
        }


KIND_OF_STATUS = {
    401: ErrorKind.AUTH,
    402: ErrorKind.CREDIT,
    403: ErrorKind.AUTH,
    404: ErrorKind.MODEL_NOT_FOUND,
    429: ErrorKind.RATE_LIMIT,
    529: ErrorKind.OVERLOADED,
}
"""Error kind by HTTP status of the service; any other status is an API error."""

TERMINAL_REASONS: dict[str, tuple[Outcome, ErrorKind]] = {
    "completed": (Outcome.COMPLETED, ErrorKind.NONE),
    "max_turns": (Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    "budget_exhausted": (Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    "prompt_too_long": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "structured_output_retry_exhausted": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "hook_stopped": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "stop_hook_prevented": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "blocking_limit": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    # Subtypes, for CLI versions that do not print a reason. `success` counts only without an error.
    "success": (Outcome.COMPLETED, ErrorKind.NONE),
    "error_max_turns": (Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    "error_max_budget_usd": (Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    "error_max_structured_output_retries": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
}
"""Outcomes by Claude Code's terminal_reason; any other reason is an infrastructure error."""

ASSISTANT_ERRORS: dict[str, ErrorKind] = {
    "authentication_failed": ErrorKind.AUTH,
    "billing_error": ErrorKind.CREDIT,
    "model_not_found": ErrorKind.MODEL_NOT_FOUND,
    "rate_limit": ErrorKind.RATE_LIMIT,
    "overloaded": ErrorKind.OVERLOADED,
}
"""Error kinds by the `error` of an assistant or api_retry line."""
