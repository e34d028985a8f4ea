"""Harbor's jobs and trials: what their result.json, config.json and lock.json say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, AliasPath, BeforeValidator, ConfigDict, Field, FiniteFloat

from locobench.harbor.contents import CONFIG, RESULT
from locobench.harbor.files import HarborFile, Named, Time, read
from locobench.shared.errors import InputError
from locobench.shared.validation import LARGEST_COUNT, Whole

Rewards = Annotated[dict[str, FiniteFloat], BeforeValidator(lambda rewards: rewards or {})]
Listed = BeforeValidator(lambda value: value or ())


class Span(HarborFile):
    """When a part of a trial started and finished."""

    started_at: Time | None = None
    finished_at: Time | None = None

    @property
    def seconds(self) -> float | None:
        """The duration; None if either time is missing."""
        if self.started_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.started_at).total_seconds())


class AgentConfig(HarborFile):
    """How the agent was set up, with every key of its configuration."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str | None = None
    import_path: str | None = None
    model_name: str | None = None
    mcp_servers: list[Named] | None = None
    """The servers that the job gave to the agent."""
    skills: list[str] | None = None
    """Folders, git addresses or `owner/name@ref`."""
    override_timeout_sec: float | None = None
    max_timeout_sec: float | None = None
    resume_trajectory: bool | None = None
    """Whether each step goes on with the session of the one before, so that its trajectory holds both."""


class AgentResult(HarborFile):
    """What the agent spent; input tokens include cached tokens."""

    n_input_tokens: Whole | None = None
    n_cache_tokens: Whole | None = None
    n_output_tokens: Whole | None = None
    cost_usd: FiniteFloat | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether tokens were counted and there were none; False if they were not counted."""
        counts = (self.n_input_tokens, self.n_output_tokens)
        return any(count is not None for count in counts) and not any(counts)

    @staticmethod
    def total(parts: list[AgentResult]) -> AgentResult:
        """Add up the parts; a field is None if no part has it."""
        sums: dict[str, float | None] = {}
        for name in AgentResult.model_fields:
            recorded = [value for part in parts if (value := getattr(part, name)) is not None]
            sums[name] = total if recorded and (total := sum(recorded)) <= LARGEST_COUNT else None
        return AgentResult.model_validate(sums)


class ExceptionInfo(HarborFile):
    """The exception that ended a trial or a step early."""

    exception_type: str
    exception_message: str | None = None
    reward_counts: bool | None = Field(default=None, validation_alias=AliasPath("policy", "has_valid_reward"))
    """Whether Harbor lets the reward count; recorded since Harbor 0.26."""
    user_lets_reward_count: bool | None = Field(
        default=None, validation_alias=AliasPath("policy_override", "has_valid_reward")
    )
    """The same, where the job's configuration said so."""


class StepResult(HarborFile):
    """One step of a multi-step trial."""

    step_name: str = ""
    agent_result: AgentResult | None = None
    exception_info: ExceptionInfo | None = None
    agent_execution: Span | None = None


class Trial(HarborFile):
    """<trial>/result.json, or of a lost trial its config.json, which Harbor writes before it runs the trial."""

    id: str | None = None
    trial_name: str
    task_name: str = ""
    task_path: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        default=None, validation_alias=AliasChoices(AliasPath("task_id", "path"), AliasPath("task", "path"))
    )
    """The task's folder on the machine that ran the trial, or in its git repository."""
    package: str | None = Field(
        default=None, validation_alias=AliasChoices(AliasPath("task_id", "name"), AliasPath("task", "name"))
    )
    """The name of a task from Harbor's registry; in result.json without its organization."""
    task_checksum: str | None = None
    agent_config: AgentConfig = Field(
        default=AgentConfig(), validation_alias=AliasChoices(AliasPath("config", "agent"), "agent")
    )
    reported_agent: str | None = Field(default=None, validation_alias=AliasPath("agent_info", "name"))
    agent_version: str | None = Field(default=None, validation_alias=AliasPath("agent_info", "version"))
    reported_model: str | None = Field(default=None, validation_alias=AliasPath("agent_info", "model_info", "name"))
    timeout_multiplier: float | None = Field(default=None, validation_alias=AliasPath("config", "timeout_multiplier"))
    agent_timeout_multiplier: float | None = Field(
        default=None, validation_alias=AliasPath("config", "agent_timeout_multiplier")
    )
    override_cpus: float | None = Field(
        default=None, validation_alias=AliasPath("config", "environment", "override_cpus")
    )
    override_memory_mb: Whole | None = Field(
        default=None, validation_alias=AliasPath("config", "environment", "override_memory_mb")
    )
    """Container limits that the job sets in place of the task's."""
    agent_result: AgentResult | None = None
    step_results: Annotated[tuple[StepResult, ...], Listed] = ()
    rewards: Rewards = Field(default={}, validation_alias=AliasPath("verifier_result", "rewards"))
    """All rewards by name; empty when the verifier gave none."""
    exception_info: ExceptionInfo | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    verifier_environment_mode: str | None = None
    agent_execution: Span | None = None
    verifier: Span | None = None

    @property
    def task(self) -> str:
        """Its folder's name, of Linux or Windows, else its name in the registry without the organization."""
        for name in (str(self.task_path or ""), self.package or "", self.task_name):
            last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
            if last not in ("", ".", ".."):
                return last
        return self.trial_name.rpartition("__")[0] or self.trial_name

    @property
    def run_id(self) -> str:
        """An id that every copy of the trial's folder shares: Harbor's own, or the trial's name and start time."""
        return self.id or f"{self.trial_name} {self.started_at.isoformat() if self.started_at else ''}".strip()

    @property
    def agent(self) -> str:
        """The agent's name in Harbor; empty for one that is given as a Python class and reports none."""
        return self.reported_agent or self.agent_config.name or ""

    @property
    def model(self) -> str:
        """The model that the agent reported, else the one that the job set; empty for none."""
        return self.reported_model or self.agent_config.model_name or ""

    @property
    def is_utility_agent(self) -> bool:
        """Whether the agent is one of Harbor's own without a model; Harbor gives these no MCP servers."""
        return self.agent_config.name in ("oracle", "nop")

    @property
    def exceptions(self) -> list[ExceptionInfo]:
        """The trial's exception, then those of its steps, which Harbor records with the step alone."""
        every = [self.exception_info, *(step.exception_info for step in self.step_results)]
        return [exception for exception in every if exception]

    @property
    def spent(self) -> AgentResult:
        """What the trial spent, or the sum over its steps; a field is None if nothing was recorded."""
        steps = [step.agent_result for step in self.step_results if step.agent_result]
        return AgentResult.total([self.agent_result] if self.agent_result else steps)

    @property
    def agent_seconds(self) -> float | None:
        """How long the agent worked, over all steps; None if not recorded."""
        spans = [self.agent_execution] if self.agent_execution else [step.agent_execution for step in self.step_results]
        known = [seconds for span in spans if span and (seconds := span.seconds) is not None]
        return sum(known) if known else None


class Job(HarborFile):
    """<job>/result.json."""

    n_total_trials: Whole | None = None
    finished_at: Time | None = None


class Lock(HarborFile):
    """<trial>/lock.json."""

    digest: str | None = Field(default=None, validation_alias=AliasPath("task", "digest"))
    """The task's."""


def read_trial(path: Path, files: Mapping[str, bytes]) -> tuple[Trial | None, str]:
    """Read what the files of a folder say of its trial, and what is wrong with its result.json; None if it is no trial.

    A trial is a folder whose result.json or config.json has a trial_name.
    """
    problem = f"{path / RESULT}: missing, so the trial was killed or still runs"
    if RESULT in files:
        try:
            return read(path / RESULT, Trial, files[RESULT]), ""
        except InputError as error:
            problem = str(error)
    try:
        known = read(path / CONFIG, Trial, files.get(CONFIG, b""))
    except InputError:
        return None, ""
    warnings.warn(f"{problem}; the trial is lost", stacklevel=2)
    return known, problem
