"""The data models of the harness under one name: definitions a user writes, records a run leaves behind."""

from __future__ import annotations

from harness.models.definitions import LLM_WEIGHT_KEY as LLM_WEIGHT_KEY
from harness.models.definitions import Assertion as Assertion
from harness.models.definitions import AssertionType as AssertionType
from harness.models.definitions import CodeAssertion as CodeAssertion
from harness.models.definitions import CodeCheckType as CodeCheckType
from harness.models.definitions import Config as Config
from harness.models.definitions import LLMAssertion as LLMAssertion
from harness.models.definitions import Task as Task
from harness.models.definitions import TaskCategory as TaskCategory
from harness.models.definitions import TaskDifficulty as TaskDifficulty
from harness.models.definitions import assertion_ids as assertion_ids
from harness.models.outcomes import ErrorKind as ErrorKind
from harness.models.outcomes import Outcome as Outcome
from harness.models.records import PASS_SCORE as PASS_SCORE
from harness.models.records import SCHEMA_VERSION as SCHEMA_VERSION
from harness.models.records import ClaudeConfigSnapshot as ClaudeConfigSnapshot
from harness.models.records import CriterionScore as CriterionScore
from harness.models.records import EvalResult as EvalResult
from harness.models.records import Fingerprints as Fingerprints
from harness.models.records import GradeResult as GradeResult
from harness.models.records import JudgeRecord as JudgeRecord
from harness.models.records import ResultsFile as ResultsFile
from harness.models.records import weighted_score as weighted_score
from harness.models.traces import Batch as Batch
from harness.models.traces import Conditions as Conditions
from harness.models.traces import ConfigSnapshot as ConfigSnapshot
from harness.models.traces import ExecutionTrace as ExecutionTrace
from harness.models.traces import FileChange as FileChange
from harness.models.traces import Offered as Offered
from harness.models.traces import TokenUsage as TokenUsage
from harness.models.traces import ToolCall as ToolCall
from harness.models.traces import VerifierMetrics as VerifierMetrics
