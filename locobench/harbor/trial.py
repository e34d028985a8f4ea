"""Harbor's jobs and trials: which folders are trials, and what their result.json, config.json and lock.json say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field, FiniteFloat

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


class EnvironmentConfig(HarborFile):
    """Container limits that the job sets in place of the task's."""

    override_cpus: float | None = None
    override_memory_mb: Whole | None = None


class TrialConfig(HarborFile):
    """How the trial was set up."""

    agent: AgentConfig = AgentConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    timeout_multiplier: float | None = None
    agent_timeout_multiplier: float | None = None


class ModelInfo(HarborFile):
    """The model that the agent reported."""

    name: str | None = None


class AgentInfo(HarborFile):
    """What the agent reported about itself."""

    name: str | None = None
    version: str | None = None
    model_info: ModelInfo | None = None


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
    rewards: Rewards = Field(default={}, validation_alias=AliasPath("verifier_result", "rewards"))


class Trial(HarborFile):
    """<trial>/result.json, or config.json for a trial that left no result."""

    id: str | None = None
    trial_name: str
    task_name: str = ""
    task_path: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        default=None, validation_alias=AliasPath("task_id", "path")
    )
    """The task's folder on the machine that ran the trial, or in its git repository."""
    package: str | None = Field(default=None, validation_alias=AliasPath("task_id", "name"))
    organization: str | None = Field(default=None, validation_alias=AliasPath("task_id", "org"))
    """These two name a task from Harbor's registry."""
    task_checksum: str | None = None
    config: TrialConfig = TrialConfig()
    agent_info: AgentInfo | None = None
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
    def task_source(self) -> str:
        """The task's folder or full name, by which two tasks of one name can be told apart."""
        return str(self.task_path) if self.task_path else f"{self.organization or ''}/{self.package or self.task_name}"

    @property
    def run_id(self) -> str:
        """An id that every copy of the trial's folder shares: Harbor's own, or the trial's name and start time."""
        return self.id or f"{self.trial_name} {self.started_at.isoformat() if self.started_at else ''}".strip()

    @property
    def agent(self) -> str:
        """The agent's name in Harbor; empty for one that is given as a Python class and reports none."""
        return (self.agent_info and self.agent_info.name) or self.config.agent.name or ""

    @property
    def is_utility_agent(self) -> bool:
        """Whether the agent is one of Harbor's own without a model; Harbor gives these no MCP servers."""
        return self.config.agent.name in ("oracle", "nop")

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


class _Named(HarborFile):
    """<trial>/config.json, or the head of its result.json; a job's have no trial_name."""

    trial_name: str | None = None
    task_path: str | None = Field(default=None, validation_alias=AliasPath("task", "path"))
    package: str | None = Field(default=None, validation_alias=AliasPath("task", "name"))
    agent: AgentConfig = AgentConfig()


@dataclass(frozen=True)
class TrialFolder:
    """A folder that Harbor wrote as a trial."""

    path: Path
    result: Trial
    """What its result.json says; of a trial without a valid one, what its config.json says."""
    problem: str = ""
    """Why there is no valid result.json; empty if there is one."""

    @property
    def job(self) -> Path:
        """The job's folder."""
        return self.path.parent


def trials(path: Path, levels: int = 2) -> Iterator[TrialFolder]:
    """Yield the trials in a job folder, in a folder of job folders, or the one that `path` itself is.

    A trial is a folder whose config.json or result.json has a trial_name. Nothing inside it is a trial: agents leave
    files of any name. A trial whose result.json is missing, cut or invalid is yielded with its problem.

    Args:
        path: the folder.
        levels: how many folders a trial may lie below it.
    """
    inner = _folders(path) if levels else []
    if found := _trial(path):
        yield found
    else:
        for folder in inner:
            yield from trials(folder, levels - 1)


def _folders(path: Path) -> list[Path]:
    # Harbor keeps downloaded trials in hidden folders.
    return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _trial(folder: Path) -> TrialFolder | None:
    """Read a folder as a trial; None if it is not one."""
    file, named = folder / "result.json", _named(folder / "config.json")
    problem = f"{file}: missing, so the trial was killed or still runs"
    try:
        if file.is_file():
            named = named if named.trial_name else read(file, _Named)
            return TrialFolder(folder, read(file, Trial)) if named.trial_name else None
    except InputError as error:
        problem = str(error)
    if not named.trial_name and not ((folder / "agent").is_dir() or (folder / "verifier").is_dir()):
        return None
    task_id = {"path": named.task_path, "name": named.package and named.package.rpartition("/")[2]}
    config = {"agent": named.agent}
    return TrialFolder(
        folder,
        Trial.model_validate({"trial_name": named.trial_name or folder.name, "task_id": task_id, "config": config}),
        problem,
    )


def _named(file: Path) -> _Named:
    try:
        return read(file, _Named)
    except InputError:
        return _Named()


class RewardError(InputError):
    """The verifier's reward cannot be used: it is under another key, or out of range."""


@dataclass(frozen=True)
class RewardScale:
    """Which of a verifier's rewards counts, and the range that becomes 0 to 1."""

    key: str = "reward"
    low: float = 0.0
    high: float = 1.0

    def of(self, trial: TrialFolder) -> float | None:
        """Return a trial's reward, 0 to 1, or None if the verifier gave none; RewardError if it is out of range."""
        reward = trial.result.rewards.get(self.key)
        if reward is None:
            return None
        if not self.low <= reward <= self.high:
            raise RewardError(
                f"{trial.path / 'result.json'}: verifier_result.rewards.{self.key} is {reward:g}, not between "
                f"{self.low:g} and {self.high:g}"
            )
        return self.scaled(reward)

    def scaled(self, reward: float) -> float:
        """Return the share, 0 to 1, of the range that a reward in it reaches."""
        return (reward - self.low) / (self.high - self.low)


BY_NAME = RewardScale()
"""The reward that Harbor's own examples give: `reward`, from 0 to 1."""
