"""What a run leaves behind: the trace of the agent, the grades, the result and the file that holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.models.definitions import LLM_WEIGHT_KEY

SCHEMA_VERSION = 1
"""Version of the results file; raised when an older reader would misread a newer file."""

DEFAULT_CODE_ID = re.compile(r"code_\d+_(\w+)\Z")


class Record(BaseModel):
    """Base of everything the harness writes: frozen; keys of newer versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


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
    """The agent finished, and grading it failed in an unforeseen way; `grade` can do it again."""
    NOT_LOADED = "not_loaded"
    """A skill, CLAUDE.md, subagent or MCP server of the config was not there when the agent started."""

    @property
    def stops_matrix(self) -> bool:
        """Whether every further run would fail in the same way."""
        return self in (ErrorKind.AUTH, ErrorKind.CREDIT, ErrorKind.MODEL_NOT_FOUND, ErrorKind.CLI_REFUSED)


def _outcome_of(is_error: bool) -> Outcome:
    return Outcome.INFRA_ERROR if is_error else Outcome.COMPLETED


class TokenUsage(Record):
    """Token counts of a run, subagents included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output tokens, without the cache."""
        return self.input_tokens + self.output_tokens

    @property
    def total_tokens_with_cache(self) -> int:
        """Every token the model read or wrote, cache reads and cache writes included."""
        return self.total_tokens + self.cache_read_tokens + self.cache_creation_tokens


class ToolCall(Record):
    """One tool call of the agent or of a subagent."""

    name: str
    input: dict[str, Any] = {}
    output: str | None = None
    error: str | None = None
    timestamp: datetime | None = None
    id: str = ""
    duration_seconds: float | None = None
    """From the call to its result as the CLI reported them; None without a result."""
    parent_id: str | None = None
    """Id of the call that started the subagent which made this call."""


class FileChange(Record):
    """One file the agent created, modified or deleted."""

    path: str
    action: Literal["created", "modified", "deleted"]
    diff: str | None = None
    content_after: str | None = None
    is_binary: bool = False
    size_after: int | None = None
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
    max_turns: int = 0


class ExecutionTrace(Record):
    """Trace of a Claude Code execution."""

    session_id: str | None = None
    result: str = ""
    """Final answer of the agent."""
    is_error: bool = False
    """Whether the run ended in any other way than completed."""
    usage: TokenUsage | None = TokenUsage()
    """None when it was not recorded, which a Harbor trial may not have done."""
    tool_calls: list[ToolCall] = []
    duration_seconds: float | None = 0.0
    """Wall clock of the CLI; None when it was not recorded."""
    num_turns: int | None = 0
    """None when they were not recorded."""
    raw_output: dict[str, Any] = {}
    """The CLI's init and result messages, api_retry and rate_limit messages, under these names."""
    file_changes: list[FileChange] = []
    claude_prompt: str = ""
    claude_response: str = ""
    """All text the agent wrote, in order."""
    config_snapshot: ConfigSnapshot = ConfigSnapshot()
    max_turns: int = 0
    hit_turn_limit: bool = False
    """Whether the CLI stopped the run because of max_turns."""
    stderr: str = ""
    outcome: Outcome = Field(default_factory=lambda data: _outcome_of(data["is_error"]))
    """Without one, an error counts as the infrastructure's, since nothing says that it was the agent's."""
    error: str = ""
    """Why the outcome is not completed, in one line."""
    error_kind: ErrorKind = ErrorKind.NONE
    error_status: int | None = None
    """HTTP status of the API error that ended the run."""
    cost_usd: float | None = None
    """Subagents included; None when the CLI did not report it."""
    claude_code_version: str = ""
    retry_after_seconds: float | None = None
    """What the service asked to wait before the next try."""
    permission_denials: list[str] = []
    """Names of the tools whose calls were denied, one entry a call."""


class CriterionScore(Record):
    """Score of one criterion of a rubric."""

    criterion: str
    score: float = Field(ge=0, le=1)
    reasoning: str = ""
    evidence: str = ""
    """What in the graded material the score rests on."""


class JudgeRecord(Record):
    """What a judge cost and how far its samples agree."""

    model: str
    usage: TokenUsage = TokenUsage()
    cost_usd: float | None = None
    samples: list[float] = []
    """Overall score of every usable sample, 0 to 1."""
    spread: float | None = None
    """Largest minus smallest sample; None with fewer than two."""
    failed_samples: int = 0
    """Samples that gave no usable verdict."""


class GradeResult(Record):
    """Result of grading a single assertion."""

    assertion_id: str = ""
    assertion_type: str = ""
    assertion_name: str = ""
    """The check's name for code, llm_quality for judges, unless the assertion names itself."""
    passed: bool
    score: float = Field(ge=0, le=1)
    details: str = ""
    reasoning: str = ""
    full_output: str = ""
    grading_prompt: str = ""
    criteria_scores: list[CriterionScore] = []
    status: Literal["graded", "judge_error"] = "graded"
    """judge_error: no usable verdict; passed and score then mean nothing and do not count."""
    judge: JudgeRecord | None = None
    weight: float | None = None
    """Weight that the task gave this assertion when the run was graded."""
    duration_seconds: float = 0.0

    def resolve_weight(self, weights: Mapping[str, float]) -> float:
        """Weight of this grade: by assertion id, then check name, then llm_quality for judges, else 1."""
        default_id = DEFAULT_CODE_ID.match(self.assertion_id)
        keys = [self.assertion_id, self.assertion_name, default_id.group(1) if default_id else ""]
        if self.assertion_type == "llm":
            keys.append(LLM_WEIGHT_KEY)
        return next((weights[key] for key in keys if key and key in weights), 1.0)


def weighted_score(grades: list[GradeResult], weights: Mapping[str, float]) -> float:
    """Weighted mean of grades, 0 to 1; failed judges and weight 0 do not count; 0.0 if nothing has weight."""
    counted = [(g.resolve_weight(weights), g.score) for g in grades if g.status == "graded"]
    total = sum(weight for weight, _ in counted)
    return sum(weight * score for weight, score in counted) / total if total > 0 else 0.0


class Fingerprints(Record):
    """Hashes of all content a run depends on; two runs with equal ones are the same experiment."""

    task: str = ""
    """Over the task, its fixture and its hidden files."""
    config: str = ""
    """Over the config, its skills and MCP servers, and the model."""


class EvalResult(Record):
    """Complete result of an evaluation run."""

    task_id: str
    config_name: str
    model: str
    run_index: int
    timestamp: datetime
    """When the run was over and graded."""
    trace: ExecutionTrace
    grades: list[GradeResult] = []
    overall_score: float = 0.0
    passed: bool = False
    started_at: datetime | None = None
    outcome: Outcome = Field(default_factory=lambda data: data["trace"].outcome)
    cost_usd: float | None = Field(default_factory=lambda data: data["trace"].cost_usd)
    """Cost of the agent, without judges; None when unknown."""
    claude_code_version: str = Field(default_factory=lambda data: data["trace"].claude_code_version)
    fingerprints: Fingerprints = Fingerprints()
    category: str = ""
    difficulty: str = ""
    language: str = ""
    attempts: int = 1
    """Tries it took, infrastructure failures included."""
    retry_cost_usd: float = 0.0
    """Known cost of the failed tries before this one."""
    source: str = ""
    """Where a result comes from that this harness did not run itself, for example a trial directory."""

    @property
    def measured(self) -> bool:
        """Whether the result counts in rates: the run says something about the agent and no judge failed."""
        return not self.lost_to

    @property
    def verdict(self) -> Literal["pass", "fail", "lost"]:
        """`lost` when the run was not measured, whatever `passed` says."""
        if self.lost_to:
            return "lost"
        return "pass" if self.passed else "fail"

    @property
    def lost_to(self) -> str:
        """Why the run is outside the rates: `infra_error`, `setup_error` or `judge_error`; empty when it counts."""
        if not self.outcome.measured:
            return str(self.outcome)
        return "judge_error" if any(grade.status != "graded" for grade in self.grades) else ""

    @property
    def why(self) -> str:
        """What made the run fail or be lost, in one line: the error, then the assertions that did not pass."""
        failed = [
            g.assertion_id + (" (judge error)" if g.status != "graded" else "") for g in self.grades if not g.passed
        ]
        return "; ".join([self.trace.error, *failed] if self.trace.error else failed)

    @property
    def tokens(self) -> int | None:
        """Every token the agent's model read or wrote, cache included; None when not recorded."""
        return None if self.trace.usage is None else self.trace.usage.total_tokens_with_cache

    def calculate_overall_score(self, weights: Mapping[str, float]) -> float:
        """Weighted mean of the grades, 0 to 1; grades of failed judges and of weight 0 do not count.

        Weights resolve by assertion id, then check name, then `llm_quality` for judges, else 1.
        0.0 without grades, or when nothing has weight.
        """
        return weighted_score(self.grades, weights)


class ResultsFile(Record):
    """The file that holds the results of one or more matrices."""

    schema_version: int = SCHEMA_VERSION
    timestamp: datetime
    num_results: int
    complete: bool = True
    """False when the matrix was stopped before all its runs were done."""
    stop_reason: str = ""
    results: list[EvalResult]


class ClaudeConfigSnapshot(Record):
    """Snapshot of a Claude Code configuration for CI reproducibility, without secrets."""

    schema_version: int = SCHEMA_VERSION
    claude_version: str = ""
    snapshot_timestamp: datetime
    global_claude_md: str | None = None
    settings: dict[str, Any] = {}
    mcp_servers: dict[str, Any] = {}
    skills: dict[str, str] = {}
    """Path below skills/ to content of every text file."""
    source_machine: str = ""
    skills_binary: dict[str, str] = {}
    """Path below skills/ to base64 content of every other file."""
    files: dict[str, str] = {}
    """Path below .claude/ to content of agents, commands and hooks."""
    files_binary: dict[str, str] = {}
    """Path below .claude/ to base64 content of those of them that are no text."""
    executable: list[str] = []
    """Paths below .claude/ that were executable."""
    redacted: list[str] = []
    """Where a secret was taken out, as dotted paths."""
