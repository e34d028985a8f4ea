"""What Harbor 0.24 leaves of jobs and trials, as models: their results, and the agent's trajectory.

Only the fields that a result needs; Harbor's other ones are ignored. None means that Harbor did not record it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, FiniteFloat, RootModel, ValidationError

from harness.errors import InputError
from harness.models.records import CONTROL_GROUP
from harness.models.traces import Whole
from locobench.shared.validation import first_problem

REWARD = "reward"
"""The reward key that counts; other keys of a verifier are shown as criteria."""


class HarborFile(BaseModel):
    """Base of everything read from Harbor."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)

Time = Annotated[datetime, AfterValidator(lambda time: time if time.tzinfo else time.replace(tzinfo=UTC))]
"""A time without a zone is UTC."""


class Span(HarborFile):
    """When a part of a trial began and ended."""

    started_at: Time | None = None
    finished_at: Time | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took; None when an end is missing."""
        if self.started_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.started_at).total_seconds())


class TaskId(HarborFile):
    """Where the task came from."""

    path: str | None = None


class McpServer(HarborFile):
    """An MCP server that the agent was given, with every key of its configuration."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str = ""


class AgentConfig(HarborFile):
    """How the agent was set up, with every key of its configuration."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str | None = None
    model_name: str | None = None
    mcp_servers: list[McpServer] | None = None
    override_timeout_sec: float | None = None
    max_timeout_sec: float | None = None


class EnvironmentConfig(HarborFile):
    """Limits of the container that the job sets in place of the task's."""

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
    """What the agent spent; cached tokens are among the input tokens."""

    n_input_tokens: Whole | None = None
    n_cache_tokens: Whole | None = None
    n_output_tokens: Whole | None = None
    cost_usd: FiniteFloat | None = None


class StepResult(HarborFile):
    """One step of a trial that has several."""

    agent_result: AgentResult | None = None


class VerifierResult(HarborFile):
    """What the verifier gave."""

    rewards: dict[str, FiniteFloat] | None = None


class ExceptionInfo(HarborFile):
    """What ended a trial before its time."""

    exception_type: str
    exception_message: str | None = None


class Trial(HarborFile):
    """<trial>/result.json."""

    id: str | None = None
    trial_name: str
    task_name: str
    task_id: TaskId | str | None = None
    task_checksum: str | None = None
    config: TrialConfig = TrialConfig()
    agent_info: AgentInfo | None = None
    agent_result: AgentResult | None = None
    step_results: list[StepResult] | None = None
    verifier_result: VerifierResult | None = None
    exception_info: ExceptionInfo | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    verifier_environment_mode: str | None = None
    agent_execution: Span | None = None
    verifier: Span | None = None

    @property
    def run_id(self) -> str:
        """The same in every copy of the trial's folder: Harbor's own id, else its name and when it began."""
        return self.id or f"{self.trial_name} {self.started_at.isoformat() if self.started_at else ''}".strip()

    @property
    def is_utility_agent(self) -> bool:
        """Whether it is one of Harbor's own agents without a model, to which it gives no servers."""
        return self.config.agent.name in ("oracle", "nop")

    @property
    def task_path(self) -> Path | None:
        """Folder of the task, as the machine that ran the trial called it."""
        return Path(self.task_id.path) if isinstance(self.task_id, TaskId) and self.task_id.path else None

    @property
    def rewards(self) -> dict[str, float]:
        """All rewards by name; empty when the verifier gave none."""
        return (self.verifier_result and self.verifier_result.rewards) or {}

    @property
    def spent(self) -> AgentResult:
        """What the trial spent, or the sum over its steps; None where nothing was recorded."""
        steps = [step.agent_result for step in self.step_results or []]
        parts = [part for part in ([self.agent_result] if self.agent_result else steps) if part is not None]
        sums: dict[str, float | None] = {}
        for name in AgentResult.model_fields:
            recorded = [value for part in parts if (value := getattr(part, name)) is not None]
            sums[name] = sum(recorded) if recorded else None
        return AgentResult.model_validate(sums)


class Derived(HarborFile):
    """[metadata.derived]: of a question with an exact answer, as far as reports look at it."""

    kind: str = ""
    tier: str = ""
    control_group: bool = False

    @property
    def groups(self) -> dict[str, str]:
        """What comparisons group these tasks by, beside category, language and difficulty."""
        found = {"kind": self.kind, "tier": self.tier, CONTROL_GROUP: "yes" if self.control_group else "no"}
        return {name: value for name, value in found.items() if value}


class TaskMetadata(HarborFile):
    """[metadata] of a task.toml, as far as reports look at it."""

    category: str = ""
    task_category: str = ""
    difficulty: str = ""
    language: str = ""
    project_id: str = ""
    context_length: Whole | None = None
    content_fingerprint: str = ""
    """The generator's fingerprint of the task without the servers it offers."""
    derived: Derived | None = None


class JobStats(HarborFile):
    """Counts of a job."""

    n_retries: Whole | None = None


class Job(HarborFile):
    """<job>/result.json."""

    n_total_trials: Whole | None = None
    finished_at: Time | None = None
    stats: JobStats | None = None


class AnyJson(RootModel[Any]):
    """A JSON file of any shape."""


class _Kind(HarborFile):
    trial_name: str | None = None


def trials(path: Path) -> Iterator[tuple[Path, Trial]]:
    """Folder and result of every trial of a job folder, or of a folder of job folders.

    Raises:
        InputError: a result.json cannot be read, or is not what Harbor writes.
    """
    for file in sorted([*path.glob("*/result.json"), *path.glob("*/*/result.json")]):
        content = _content(file)
        # A job has a result.json as well, which names no trial.
        if b'"trial_name"' in content or _parse(file, content, _Kind).trial_name is not None:
            yield file.parent, _parse(file, content, Trial)


def read_job(folder: Path) -> Job:
    """What a job folder tells of the job; nothing when it left no result.json.

    Raises:
        InputError: its result.json is not what Harbor writes.
    """
    file = folder / "result.json"
    return read(file, Job) if file.is_file() else Job()


def read(path: Path, model: type[Model], content: bytes | None = None) -> Model:
    """One file as a model; its `content` where that was read before.

    Raises:
        InputError: names the file and the field.
    """
    return _parse(path, _content(path) if content is None else content, model)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _parse(path: Path, content: bytes, model: type[Model]) -> Model:
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error)}; move the trial's folder away to read the others") from error
