"""The record of a run, the same for runs of this harness and for Harbor's trials."""

from __future__ import annotations

from measure.records.outcomes import ErrorKind as ErrorKind
from measure.records.outcomes import Outcome as Outcome
from measure.records.results import LLM_WEIGHT_KEY as LLM_WEIGHT_KEY
from measure.records.results import PASS_SCORE as PASS_SCORE
from measure.records.results import SCHEMA_VERSION as SCHEMA_VERSION
from measure.records.results import ClaudeConfigSnapshot as ClaudeConfigSnapshot
from measure.records.results import CriterionScore as CriterionScore
from measure.records.results import EvalResult as EvalResult
from measure.records.results import Fingerprints as Fingerprints
from measure.records.results import GradeResult as GradeResult
from measure.records.results import JudgeRecord as JudgeRecord
from measure.records.results import ResultsFile as ResultsFile
from measure.records.results import weighted_score as weighted_score
from measure.records.traces import Batch as Batch
from measure.records.traces import Conditions as Conditions
from measure.records.traces import ConfigSnapshot as ConfigSnapshot
from measure.records.traces import ExecutionTrace as ExecutionTrace
from measure.records.traces import FileChange as FileChange
from measure.records.traces import Offered as Offered
from measure.records.traces import Reach as Reach
from measure.records.traces import TokenUsage as TokenUsage
from measure.records.traces import ToolCall as ToolCall
