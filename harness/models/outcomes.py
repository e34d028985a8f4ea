"""How a run can end: the outcome that counts in rates or not, and the kind of error that explains it."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended. Only the first three say something about the agent."""

    COMPLETED = "completed"
    AGENT_ERROR = "agent_error"
    """The agent ran out of turns or budget."""
    TIMEOUT = "timeout"
    """The task's time was up while the agent was working."""
    INFRA_ERROR = "infra_error"
    """The service or the CLI failed: rate limit, login, credit, unknown model, hang, no result line."""
    SETUP_ERROR = "setup_error"
    """The run was not what the config asks for: a fixture, skill, CLAUDE.md or server was not there."""

    @property
    def measured(self) -> bool:
        """Whether the run counts in rates; the others are shown apart."""
        return self in (Outcome.COMPLETED, Outcome.AGENT_ERROR, Outcome.TIMEOUT)


class ErrorKind(StrEnum):
    """Why a run ended in any other way than completed; decides what the runner does next."""

    NONE = ""
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    AGENT_STOPPED = "agent_stopped"
    """The agent's own doing: a prompt grown too long, a hook of the project that stopped it."""
    TIME_LIMIT = "time_limit"
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
    """The agent finished, and its work was lost before it was graded: a verifier of Harbor that failed."""
    KILLED = "killed"
    """Something outside of the agent ended its process or container, its memory limit for example."""
    UNREADABLE = "unreadable"
    """What the agent left cannot be read: files without rights, a disk that fails."""
    NOT_LOADED = "not_loaded"
    """A skill, CLAUDE.md, subagent or MCP server of the config was not there when the agent started."""

    @property
    def stops_matrix(self) -> bool:
        """Whether every further run would fail in the same way."""
        return self in (ErrorKind.AUTH, ErrorKind.CREDIT, ErrorKind.MODEL_NOT_FOUND, ErrorKind.CLI_REFUSED)

    @property
    def is_temporary(self) -> bool:
        """Whether the same run may well succeed a little later."""
        return self in (
            ErrorKind.RATE_LIMIT,
            ErrorKind.OVERLOADED,
            ErrorKind.API_ERROR,
            ErrorKind.NO_RESULT,
            ErrorKind.SILENT,
        )

    @property
    def slows_all(self) -> bool:
        """Whether the service asks everybody to wait, so that no other run should start meanwhile."""
        return self in (ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED)
