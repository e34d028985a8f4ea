"""The records of a run: grades, a result, the results file, and snapshots of a configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Base64Bytes, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from locobench.shared.validation import Whole
from measure.records.outcomes import ErrorKind, Outcome
from measure.records.traces import Batch, Conditions, ExecutionTrace, Record, TokenUsage

LLM_WEIGHT_KEY = "llm_quality"
"""The scoring key for every LLM assertion without a key of its own."""

SCHEMA_VERSION = 1
"""Version of the results file; raised when an older reader would misread a newer file."""


def _refuse_newer(version: int) -> int:
    if version > SCHEMA_VERSION:
        raise ValueError(
            f"{version} is newer than {SCHEMA_VERSION}, the newest that this harness reads; update the harness"
        )
    return version


SchemaVersion = Annotated[Whole, AfterValidator(_refuse_newer)]

PASS_SCORE = 0.7
"""The least score, 0 to 1, with which a judged assertion, a completed run or a Harbor trial passes."""

DEFAULT_CODE_ID = re.compile(r"code_\d+_(\w+)\Z")


class CriterionScore(Record):
    """Score of one criterion of a rubric."""

    criterion: str
    score: float = Field(ge=0, le=1)
    reasoning: str = ""
    evidence: str = ""
    """The part of the graded material that the score rests on."""


class JudgeRecord(Record):
    """What a judge cost and how far its samples agree."""

    model: str
    version: str = ""
    """Version of the prompt."""
    usage: TokenUsage = Field(default_factory=TokenUsage)
    cost_usd: float | None = None
    samples: list[float] = []
    """Overall score of every usable sample, 0 to 1."""
    spread: float | None = None
    """Largest minus smallest sample; None with fewer than two."""
    failed_samples: Whole = 0
    """Samples that gave no usable verdict."""
    refused: ErrorKind = ErrorKind.NONE
    """Why the service would refuse every further sample too: login, credit or model."""


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
    status: Literal["graded", "judge_error", "grading_error"] = "graded"
    """judge_error: no usable verdict; grading_error: the check could not run, through no fault of the agent.

    `passed` and `score` then mean nothing and do not count.
    """
    judge: JudgeRecord | None = None
    weight: float | None = None
    """Weight that the task gave this assertion when the run was graded."""
    duration_seconds: float = 0.0
    tools_as_invented: list[str] = []
    """Tools of the run's MCP servers that the verifier counted as identifiers which the code base does not have."""

    def resolve_weight(self, weights: Mapping[str, float]) -> float:
        """Look up the grade's weight by assertion id, then check name, then llm_quality for judges, else 1."""
        default_id = DEFAULT_CODE_ID.match(self.assertion_id)
        keys = [self.assertion_id, self.assertion_name, default_id.group(1) if default_id else ""]
        if self.assertion_type == "llm":
            keys.append(LLM_WEIGHT_KEY)
        return next((weights[key] for key in keys if key and key in weights), 1.0)


def weighted_score(grades: list[GradeResult], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of all valid grades, 0 to 1; 0.0 if none of them has weight."""
    counted = [(g.resolve_weight(weights), g.score) for g in grades if g.status == "graded"]
    total = sum(weight for weight, _ in counted)
    return sum(weight * score for weight, score in counted) / total if total > 0 else 0.0


class Fingerprints(BaseModel):
    """Hashes of all content a run depends on; runs with equal hashes are the same experiment."""

    model_config = ConfigDict(frozen=True, extra="ignore")  # a part of a key

    task: str = ""
    """Hash of the task, its fixture and its hidden files."""
    task_content: str = ""
    """The same without the MCP servers that a Harbor task offers; empty when unknown."""
    task_generated: str = ""
    """Hash of what the task was generated from, whether or not the code is in the container."""
    config: str = ""
    """Hash of the config, its skills, snapshot and MCP servers, and the model."""


class EvalResult(Record):
    """Complete result of an evaluation run."""

    task_id: str
    config_name: str
    model: str
    run_index: Whole
    timestamp: datetime
    """When the run had ended and was graded."""
    trace: ExecutionTrace
    grades: list[GradeResult] = []
    overall_score: float = 0.0
    passed: bool = False
    started_at: datetime | None = None
    outcome: Outcome = Field(default_factory=lambda data: data["trace"].outcome)
    cost_usd: float | None = Field(default_factory=lambda data: data["trace"].cost_usd, validate_default=True)
    """Cost of the agent, without judges; None when unknown, for example $0 beside tokens."""
    claude_code_version: str = Field(default_factory=lambda data: data["trace"].claude_code_version)
    fingerprints: Fingerprints = Field(default_factory=Fingerprints)
    category: str = ""
    difficulty: str = ""
    language: str = ""
    groups: dict[str, str] = {}
    """Further groups of the run, name to value. A name that ends in _a or _b describes that arm alone. A group with
    many numbers, such as context_length, is reported by quartile."""
    conditions: Conditions = Field(default_factory=Conditions)
    batch: Batch | None = None
    attempts: Whole = 1
    """Number of tries, infrastructure failures included."""
    retry_cost_usd: float = 0.0
    """Known cost of the failed tries before this one."""
    replaced_judge_cost_usd: float = 0.0
    """Known cost of judges whose verdicts were replaced later."""
    kept_project: Path | None = None
    """Where the agent's files are kept for checks that could not run yet."""
    run_id: str = Field(default_factory=lambda data: data["trace"].session_id or "")
    """The same in every copy of the run's result; empty without an id."""
    pilot_runs: tuple[str, ...] = ()
    """Ids of the runs by which the task was selected; they count in no comparison."""
    source: str = ""
    """Where the result comes from if this harness did not run it, for example a trial directory."""

    @field_validator("cost_usd")
    @classmethod
    def _no_price_is_not_free(cls, dollars: float | None, info: ValidationInfo) -> float | None:
        usage = info.data["trace"].usage if "trace" in info.data else None
        return None if usage and usage.total_tokens_with_cache and not dollars else dollars

    @property
    def key(self) -> tuple[str, str, str, int, Fingerprints]:
        """Which run of a matrix this is; a later row of a journal with the same key replaces it."""
        return (self.task_id, self.config_name, self.model, self.run_index, self.fingerprints)

    @property
    def measured(self) -> bool:
        """Whether the result counts in rates: the run says something about the agent, and no grading failed."""
        return not self.lost_to

    @property
    def verdict(self) -> Literal["pass", "fail", "lost"]:
        """`lost` when the run was not measured, whatever `passed` says."""
        if self.lost_to:
            return "lost"
        return "pass" if self.passed else "fail"

    @property
    def lost_to(self) -> str:
        """Why the run does not count in rates: an infra, setup, judge or grading error; empty when it counts."""
        if not self.outcome.measured:
            return str(self.outcome)
        for grade in self.grades:
            if grade.status != "graded":
                return grade.status
        return ""

    @property
    def why(self) -> str:
        """Why the run failed or was lost, in one line: the error, then the assertions that did not pass."""
        failed = [
            g.assertion_id + (f" ({g.status.replace('_', ' ')})" if g.status != "graded" else "")
            for g in self.grades
            if not g.passed
        ]
        return "; ".join([self.trace.error, *failed] if self.trace.error else failed)

    @property
    def tokens(self) -> int | None:
        """Every token the agent's model read or wrote, cache included; None when not recorded."""
        return None if self.trace.usage is None else self.trace.usage.total_tokens_with_cache

    @property
    def has_answer(self) -> bool:
        """Whether there is something to grade: the agent finished, even if a verifier failed afterwards."""
        return self.outcome.measured or self.trace.error_kind is ErrorKind.GRADING

    @property
    def is_ungraded(self) -> bool:
        """Whether an assertion lacks a grade that can still be given without running the agent."""
        return self.outcome.measured and any(
            g.status == "judge_error" or (g.status == "grading_error" and self.can_be_checked) for g in self.grades
        )

    @property
    def can_be_checked(self) -> bool:
        """Whether the agent's files are still there."""
        return self.kept_project is not None and os.path.isdir(self.kept_project)  # noqa: PTH112 - whatever its name

    @property
    def refused_judge(self) -> str:
        """Why the service would refuse every further judge too; empty when it would not."""
        refused = ((g.judge.refused, g.details) for g in self.grades if g.judge and g.judge.refused)
        return next((f"{kind} of the judge: {details}" for kind, details in refused), "")

    @property
    def spent_usd(self) -> float:
        """Known cost of the run in US$: the agent, its failed tries, and all judges, replaced verdicts included."""
        judges = sum(grade.judge.cost_usd or 0.0 for grade in self.grades if grade.judge)
        return (self.cost_usd or 0.0) + self.retry_cost_usd + self.replaced_judge_cost_usd + judges

    def calculate_overall_score(self, weights: Mapping[str, float]) -> float:
        """Return the weighted mean of all valid grades, 0 to 1, as `weighted_score` does."""
        return weighted_score(self.grades, weights)


class ResultsFile(Record):
    """The file that holds the results of one or more matrices."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    timestamp: datetime
    num_results: Whole
    complete: bool = True
    """False when the matrix was stopped before all its runs were done."""
    stop_reason: str = ""
    summary: dict[str, Any] = {}
    """Rates and means, where a report wrote the file."""
    results: list[EvalResult]


class ClaudeConfigSnapshot(Record):
    """Snapshot of a Claude Code configuration for CI reproducibility, without secrets."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    claude_version: str = ""
    snapshot_timestamp: datetime
    global_claude_md: str | None = None
    settings: dict[str, Any] = {}
    mcp_servers: dict[str, Any] = {}
    skills: dict[str, str] = {}
    """Path below skills/ to content of every text file."""
    source_machine: str = ""
    files: dict[str, str] = {}
    """Path below .claude/ to content of agents, commands and hooks."""
    binary: dict[str, Base64Bytes] = {}
    """Path below .claude/ to the content of every file that is not text, in base64 when written."""
    executable: list[str] = []
    """Paths below .claude/ that were executable."""
    redacted: list[str] = []
    """Dotted paths of the secrets that were taken out."""
    left_out: list[str] = []
    """Links, which the export does not follow, as `path -> target`."""
