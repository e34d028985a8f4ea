"""What Harbor writes about jobs and trials, as models: result.json, lock.json and the agent's trajectory.json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field, FiniteFloat

from locobench.harbor.files import HarborFile, Named, Time, content_of, read
from locobench.shared.errors import InputError
from locobench.shared.validation import Whole

REWARD = "reward"
"""The reward key that counts; a verifier's other keys are shown as criteria."""


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
    model_name: str | None = None
    mcp_servers: list[Named] | None = None
    """The servers that the job gave to the agent."""
    override_timeout_sec: float | None = None
    max_timeout_sec: float | None = None


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


class StepResult(HarborFile):
    """One step of a multi-step trial."""

    agent_result: AgentResult | None = None


class ExceptionInfo(HarborFile):
    """The exception that ended a trial early."""

    exception_type: str
    exception_message: str | None = None


class Trial(HarborFile):
    """<trial>/result.json."""

    id: str | None = None
    trial_name: str
    task_name: str
    task_path: Annotated[Path | None, BeforeValidator(lambda path: path or None)] = Field(
        default=None, validation_alias=AliasPath("task_id", "path")
    )
    """The task's folder on the machine that ran the trial."""
    task_checksum: str | None = None
    config: TrialConfig = TrialConfig()
    agent_info: AgentInfo | None = None
    agent_result: AgentResult | None = None
    step_results: list[StepResult] | None = None
    rewards: Annotated[dict[str, FiniteFloat], BeforeValidator(lambda rewards: rewards or {})] = Field(
        default={}, validation_alias=AliasPath("verifier_result", "rewards")
    )
    """All rewards by name; empty when the verifier gave none."""
    exception_info: ExceptionInfo | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    verifier_environment_mode: str | None = None
    agent_execution: Span | None = None
    verifier: Span | None = None

    @property
    def run_id(self) -> str:
        """An id that every copy of the trial's folder shares: Harbor's own, or the trial's name and start time."""
        return self.id or f"{self.trial_name} {self.started_at.isoformat() if self.started_at else ''}".strip()

    @property
    def is_utility_agent(self) -> bool:
        """Whether the agent is one of Harbor's own without a model; Harbor gives these no MCP servers."""
        return self.config.agent.name in ("oracle", "nop")

    @property
    def spent(self) -> AgentResult:
        """What the trial spent, or the sum over its steps; a field is None if nothing was recorded."""
        steps = [step.agent_result for step in self.step_results or []]
        parts = [part for part in ([self.agent_result] if self.agent_result else steps) if part is not None]
        sums: dict[str, float | None] = {}
        for name in AgentResult.model_fields:
            recorded = [value for part in parts if (value := getattr(part, name)) is not None]
            sums[name] = sum(recorded) if recorded else None
        return AgentResult.model_validate(sums)


class Job(HarborFile):
    """<job>/result.json."""

    n_total_trials: Whole | None = None
    finished_at: Time | None = None
    n_retries: Whole | None = Field(default=None, validation_alias=AliasPath("stats", "n_retries"))


class Lock(HarborFile):
    """<trial>/lock.json."""

    digest: str | None = Field(default=None, validation_alias=AliasPath("task", "digest"))
    """The task's."""


class ToolRequest(HarborFile):
    """A tool call."""

    function_name: str


class TrajectoryStep(HarborFile):
    """One message of the user or the agent, with the agent's tool calls."""

    source: str = ""
    tool_calls: list[ToolRequest] | None = None
    is_copied_context: bool = False
    """Whether the step was copied from an earlier trajectory."""


class Trajectory(HarborFile):
    """agent/trajectory.json in Harbor's interchange format, ATIF."""

    steps: tuple[TrajectoryStep, ...] = ()


class _Kind(HarborFile):
    trial_name: str | None = None


def trials(path: Path) -> Iterator[tuple[Path, Trial]]:
    """Yield the folder and result of every trial in a job folder, or in a folder of job folders.

    Raises:
        InputError: a result.json cannot be read or is not in Harbor's format.
    """
    for file in sorted([*path.glob("*/result.json"), *path.glob("*/*/result.json")]):
        content = content_of(file)
        # A job has a result.json as well, but without a trial_name.
        if b'"trial_name"' in content or read(file, _Kind, content).trial_name is not None:
            yield file.parent, read(file, Trial, content)


def reward_of(folder: Path, trial: Trial) -> float | None:
    """Return a trial's reward, or None if the verifier gave none; raise InputError if it is outside of 0 to 1."""
    reward = trial.rewards.get(REWARD)
    if reward is not None and not 0 <= reward <= 1:
        raise InputError(
            f"{folder / 'result.json'}: verifier_result.rewards.{REWARD} is {reward:g}; rewards go from 0 to 1: mend "
            "the verifier, or move the trial's folder away to read the others"
        )
    return reward


def read_job(folder: Path) -> Job:
    """Read a job's result.json; if there is none, every field is None.

    Raises:
        InputError: the file cannot be read or is not in Harbor's format.
    """
    file = folder / "result.json"
    return read(file, Job) if file.is_file() else Job()
