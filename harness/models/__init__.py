"""The data models of the harness under one name: definitions a user writes, records a run leaves behind."""

from __future__ import annotations

from harness.models.definitions import Assertion as Assertion
from harness.models.definitions import AssertionType as AssertionType
from harness.models.definitions import CodeAssertion as CodeAssertion
from harness.models.definitions import CodeCheckType as CodeCheckType
from harness.models.definitions import Config as Config
from harness.models.definitions import LLMAssertion as LLMAssertion
from harness.models.definitions import Resources as Resources
from harness.models.definitions import Task as Task
from harness.models.definitions import TaskCategory as TaskCategory
from harness.models.definitions import TaskDifficulty as TaskDifficulty
from harness.models.definitions import assertion_ids as assertion_ids
from measure.records import LLM_WEIGHT_KEY as LLM_WEIGHT_KEY
from measure.records import PASS_SCORE as PASS_SCORE
from measure.records import ClaudeConfigSnapshot as ClaudeConfigSnapshot
from measure.records import Conditions as Conditions
from measure.records import ConfigSnapshot as ConfigSnapshot
from measure.records import CriterionScore as CriterionScore
from measure.records import ErrorKind as ErrorKind
from measure.records import EvalResult as EvalResult
from measure.records import ExecutionTrace as ExecutionTrace
from measure.records import FileChange as FileChange
from measure.records import Fingerprints as Fingerprints
from measure.records import GradeResult as GradeResult
from measure.records import JudgeRecord as JudgeRecord
from measure.records import Offered as Offered
from measure.records import Outcome as Outcome
from measure.records import ResultsFile as ResultsFile
from measure.records import TokenUsage as TokenUsage
from measure.records import ToolCall as ToolCall
from measure.records import weighted_score as weighted_score
