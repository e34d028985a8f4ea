"""What an agent did in one run and how it ended; under which conditions, and what a verifier found in its answer."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from locobench.shared.validation import Whole
from measure.records.outcomes import ErrorKind, Outcome

WEB = re.compile(r"(?:google_?)?web_?(?:search|fetch)|(?:fetch|read)_?url", re.IGNORECASE)
"""Names of agents' own tools for the web."""
FETCHES = re.compile(
    r"\b(?:git clone|curl|wget)\b[^|;&\n]*?\b(?:https?|ssh|git)://(?!(?:localhost|127\.|172\.17\.|host\.docker)\b)[\w./@-]+"
    r"|\bgit clone [\w.-]+@[\w.-]+:[\w./-]+|\bpip3? download [\w.-]+"
)
"""A command that gets code from another machine."""
WRITES = re.compile("write|edit|patch|create|replace", re.IGNORECASE)
"""In the name of a tool that writes text, which may hold such a command."""


class Record(BaseModel):
    """Base of everything the harness writes; keys of newer versions are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class TokenUsage(Record):
    """Token counts of a run, subagents included."""

    input_tokens: Whole = 0
    output_tokens: Whole = 0
    cache_read_tokens: Whole = 0
    cache_creation_tokens: Whole = 0

    @property
    def total_tokens(self) -> int:
        """Input and output tokens, without the cache."""
        return self.input_tokens + self.output_tokens

    @property
    def total_tokens_with_cache(self) -> int:
        """Every token the model read or wrote, cache reads and cache writes included."""
        return self.total_tokens + self.cache_read_tokens + self.cache_creation_tokens


class Reach(Record):
    """How an agent came to the files that its answer had to name."""

    calls_to_first: Whole | None = None
    """Tool calls until the first of these files was seen; None if none was."""
    found_at: tuple[Whole, ...] | None = None
    """The calls, from 1, that first showed the files that were seen, one each, ascending; None where not kept."""
    recall: float = Field(ge=0, le=1)
    """Share of these files that the agent saw."""
    precision: float | None = Field(default=None, ge=0, le=1)
    """Share of all files it saw that are these; None if it saw none, or the code base is not at hand."""
    bytes_read: Whole = 0
    """What its tools returned, in bytes of UTF-8."""


class ToolCall(Record):
    """One tool call of the agent or of a subagent."""

    name: str
    input: dict[str, Any] = {}
    output: str | None = None
    error: str | None = None
    timestamp: datetime | None = None
    id: str = ""
    duration_seconds: float | None = None
    """Time from the call to its result, as the CLI reported them; None without a result."""

    @property
    def fetched(self) -> str:
        """What the call got from outside of the task: by a tool for the web, or a command; empty for nothing."""
        if WEB.fullmatch(self.name):
            return self.name
        found = FETCHES.search(json.dumps(self.input, ensure_ascii=False, default=str))
        return found[0] if found and not WRITES.search(self.name) else ""


class FileChange(Record):
    """One file the agent created, modified or deleted."""

    path: str
    action: Literal["created", "modified", "deleted"]
    diff: str | None = None
    content_after: str | None = None
    is_binary: bool = False
    size_after: Whole | None = None
    """Bytes; None for a deleted file."""
    mode_change: str | None = None
    """For example 100644 -> 100755."""
    truncated: bool = False
    """Whether diff or content_after was cut or left out because of its size."""


class ConfigSnapshot(Record):
    """The part of a config that explains a result on its own."""

    model: str = ""
    claude_md: str | None = None
    """First 200 characters."""
    skills_path: str | None = None
    max_turns: Whole = 0


class Offered(Record):
    """What the agent had when it started; each part is None when not recorded."""

    tools: list[str] | None = None
    servers: dict[str, str] | None = None
    """MCP server name to status (`connected`, `failed`, ...); the status is empty when not reported."""
    skills: list[str] | None = None
    agents: list[str] | None = None


class ExecutionTrace(Record):
    """Trace of a Claude Code execution."""

    session_id: str | None = None
    result: str = ""
    """Final answer of the agent."""
    is_error: bool = False
    """Whether the run did not complete."""
    usage: TokenUsage | None = Field(default_factory=TokenUsage)
    """None when not recorded, as in some Harbor trials."""
    tool_calls: list[ToolCall] = []
    reach: Reach | None = None
    """How the agent came to the files of the task's key; None where the key names none, or no text is recorded."""
    names_servers: bool = True
    """False if the agent records MCP calls like any other, so that none found does not mean none made."""
    has_transcript: bool = True
    """False when the agent's actions were not recorded. An empty `tool_calls` then does not mean that it made none."""
    duration_seconds: float | None = 0.0
    """Wall-clock time of the CLI; None when not recorded."""
    num_turns: Whole | None = 0
    """None when not recorded."""
    raw_output: dict[str, Any] = {}
    """Everything the CLI printed: `init`, `result`, and all other messages under `messages`, in order.

    Saved results hold it without secrets.
    """
    offered: Offered = Field(default_factory=Offered)
    """What the agent had when it started."""
    file_changes: list[FileChange] = []
    file_changes_left_out: Whole = 0
    """Changed files that are not in the list, since there are too many."""
    claude_prompt: str = ""
    claude_response: str = ""
    """All text the agent wrote, in order."""
    config_snapshot: ConfigSnapshot = Field(default_factory=ConfigSnapshot)
    max_turns: Whole = 0
    hit_turn_limit: bool = False
    """Whether the CLI stopped the run because of max_turns."""
    stderr: str = ""
    outcome: Outcome = Field(
        default_factory=lambda data: Outcome.INFRA_ERROR if data["is_error"] else Outcome.COMPLETED
    )
    """When missing, an error counts as the infrastructure's, since nothing says that it was the agent's."""
    error: str = ""
    """Why the outcome is not completed, in one line."""
    error_kind: ErrorKind = ErrorKind.NONE
    doubt: str = ""
    """Why a measured run may say nothing about the agent after all, guessed from a text; empty if no doubt."""
    error_status: Whole | None = None
    """HTTP status of the API error that ended the run."""
    cost_usd: float | None = None
    """Subagents included; None when the CLI did not report it."""
    claude_code_version: str = ""
    retry_after_seconds: float | None = None
    """How long the service asked to wait before the next try."""
    permission_denials: list[str] = []
    """Names of the tools whose calls were denied, one entry per call."""

    @property
    def tool_count(self) -> int | None:
        """Number of tool calls; None when they were not recorded."""
        known = self.has_transcript and self.num_turns is not None  # where turns are unknown, so are calls
        return len(self.tool_calls) if known or self.tool_calls else None

    @property
    def may_be_retried(self) -> bool:
        """Whether the run may succeed when repeated: the failure was temporary, and the request was not refused."""
        status = self.error_status
        refused = status is not None and 400 <= status < 500 and status not in (408, 429)
        return self.error_kind.is_temporary and not refused


class Conditions(Record):
    """The conditions of a run other than its task and config; None where not recorded."""

    agent: str | None = None
    agent_version: str | None = None
    agent_settings: str | None = None
    """Hash of the agent's settings without its model, MCP servers and skills."""
    base_image: str | None = None
    """Base of the task's image, as its Dockerfile names it."""
    closed_book: bool | None = None
    """Whether the code is not in the agent's container."""
    verifier_mode: str | None = None
    """`separate` or `shared`: whether the verifier has a container of its own."""
    scoring: str | None = None
    scoring_version: str | None = None
    agent_timeout_seconds: float | None = None
    cpus: float | None = None
    memory_mb: Whole | None = None


class Batch(Record):
    """The job or matrix that a run was part of; None where not recorded."""

    name: str
    planned: Whole | None = None
    """Number of runs planned."""
    present: Whole | None = None
    """Number of runs that left a result."""
    finished: bool | None = None

    @property
    def cut_short(self) -> bool:
        """Whether runs are known to be missing."""
        fewer = self.planned is not None and self.present is not None and self.present < self.planned
        return fewer or self.finished is False
