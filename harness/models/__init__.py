"""The data models of the harness under one name: definitions a user writes, records a run leaves behind."""

from __future__ import annotations

from harness.models.conditions import Batch, Conditions, VerifierMetrics
from harness.models.definitions import (
    CHECK_FIELDS,
    LLM_WEIGHT_KEY,
    Assertion,
    AssertionType,
    CodeAssertion,
    CodeCheckType,
    Config,
    LLMAssertion,
    Task,
    TaskCategory,
    TaskDifficulty,
    assertion_ids,
)
from harness.models.outcomes import ErrorKind, Outcome
from harness.models.records import (
    PASS_SCORE,
    SCHEMA_VERSION,
    ClaudeConfigSnapshot,
    CriterionScore,
    EvalResult,
    Fingerprints,
    GradeResult,
    JudgeRecord,
    ResultsFile,
    weighted_score,
)
from harness.models.traces import ConfigSnapshot, ExecutionTrace, FileChange, Offered, TokenUsage, ToolCall

__all__ = [
    "CHECK_FIELDS",
    "LLM_WEIGHT_KEY",
    "PASS_SCORE",
    "SCHEMA_VERSION",
    "Assertion",
    "AssertionType",
    "Batch",
    "ClaudeConfigSnapshot",
    "CodeAssertion",
    "CodeCheckType",
    "Conditions",
    "Config",
    "ConfigSnapshot",
    "CriterionScore",
    "ErrorKind",
    "EvalResult",
    "ExecutionTrace",
    "FileChange",
    "Fingerprints",
    "GradeResult",
    "JudgeRecord",
    "LLMAssertion",
    "Offered",
    "Outcome",
    "ResultsFile",
    "Task",
    "TaskCategory",
    "TaskDifficulty",
    "TokenUsage",
    "ToolCall",
    "VerifierMetrics",
    "assertion_ids",
    "weighted_score",
]
