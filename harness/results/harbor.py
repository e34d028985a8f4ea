"""How the trials of Harbor jobs become results, so that the same reports serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from harness.errors import InputError
from harness.models import (
    PASS_SCORE,
    CriterionScore,
    ErrorKind,
    EvalResult,
    ExecutionTrace,
    Fingerprints,
    GradeResult,
    Offered,
    Outcome,
    TokenUsage,
    ToolCall,
)
from harness.results.harbor_files import (
    REWARD,
    AgentInfo,
    AgentResult,
    TaskMetadata,
    TaskToml,
    Trajectory,
    TrajectoryStep,
    Trial,
    VerifierMetrics,
    first_problem,
    read,
    text_of,
    trials,
)

EXCEPTIONS: dict[str, tuple[Outcome, ErrorKind]] = {
    "AgentTimeoutError": (Outcome.TIMEOUT, ErrorKind.TIME_LIMIT),
    "ContextWindowExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "ContextLengthExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "OutputTokenExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "OutputLengthExceededError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "AgentSafetyRefusalError": (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    "AgentAuthenticationError": (Outcome.INFRA_ERROR, ErrorKind.AUTH),
    "ModelNotFoundError": (Outcome.INFRA_ERROR, ErrorKind.MODEL_NOT_FOUND),
    "ApiRateLimitError": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    "ApiUsageLimitError": (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    "ApiOverloadedError": (Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    "AgentSetupTimeoutError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "EnvironmentStartTimeoutError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "HealthcheckError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "SandboxBuildFailedError": (Outcome.SETUP_ERROR, ErrorKind.FIXTURE),
    "VerifierTimeoutError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "RewardFileNotFoundError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "RewardFileEmptyError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
    "VerifierOutputParseError": (Outcome.INFRA_ERROR, ErrorKind.GRADING),
}
"""What the exception of a trial says about the agent; one that is not here is an infrastructure error."""

ERROR_CHARS = 300
"""Of an exception's message."""


def load_jobs(
    path: Path,
    *,
    config_name: str | None = None,
    tasks_dir: Path | None = None,
    pass_score: float = PASS_SCORE,
) -> list[EvalResult]:
    """Results of all trials of a job folder, or of all jobs in a folder of them, by task, config and run.

    Args:
        path: the folder, such as jobs/<job name>.
        config_name: of all trials; by default the job's name, and where a job has several agents also the agent's.
        tasks_dir: folder of the task folders, from which language, category and difficulty are read; by default
            where the trial says its task lay.
        pass_score: the reward, 0 to 1, from which a completed trial passes.

    Raises:
        InputError: there are no trials, or one cannot be read.
    """
    found = list(trials(path))
    if not found:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    names = _config_names(found)
    return _with_run_indices(
        _result(folder, trial, config_name or names[_config_key(folder, trial)], tasks_dir, pass_score)
        for folder, trial in found
    )


def _result(folder: Path, trial: Trial, config_name: str, tasks_dir: Path | None, pass_score: float) -> EvalResult:
    trace = _trace(folder, trial)
    grade = _grade(folder, trial, pass_score)
    if trace.outcome.measured and grade is None:
        trace = trace.model_copy(
            update={
                "outcome": Outcome.INFRA_ERROR,
                "error_kind": ErrorKind.GRADING,
                "error": f"the verifier gave no {REWARD!r}",
                "is_error": True,
            }
        )
    score = grade.score if grade else 0.0
    metadata = _metadata(trial, tasks_dir)
    return EvalResult(
        task_id=_task_id(trial),
        config_name=config_name,
        model=_model(trial),
        run_index=0,
        timestamp=trial.finished_at or trial.started_at or datetime.fromtimestamp(0, UTC),
        started_at=trial.started_at,
        trace=trace,
        grades=[grade] if grade else [],
        overall_score=score,
        passed=trace.outcome is Outcome.COMPLETED and score >= pass_score,
        fingerprints=Fingerprints(task=trial.task_checksum or "", config=_agent_hash(trial)),
        category=metadata.category or metadata.task_category,
        difficulty=metadata.difficulty,
        language=metadata.language,
        source=str(folder),
    )


def _trace(folder: Path, trial: Trial) -> ExecutionTrace:
    outcome, kind, error = _ending(trial)
    steps = _steps(folder)
    spent = trial.spent
    agent = trial.agent_info or AgentInfo()
    answers = [text for step in steps or [] if step.source == "agent" and (text := text_of(step.message))]
    prompts = [text_of(step.message) for step in steps or [] if step.source == "user"]
    return ExecutionTrace(
        result=answers[-1] if answers else "",
        is_error=outcome is not Outcome.COMPLETED,
        usage=_usage(spent),
        tool_calls=[call for step in steps or [] for call in _tool_calls(step)],
        duration_seconds=trial.agent_execution.seconds if trial.agent_execution else None,
        num_turns=None if steps is None else len(answers),
        claude_prompt=prompts[0] if prompts else "",
        claude_response="\n\n".join(answers),
        outcome=outcome,
        error=error,
        error_kind=kind,
        cost_usd=spent.cost_usd,
        claude_code_version=agent.version or "" if agent.name == "claude-code" else "",
        # Harbor records the servers of the agent's configuration; neither their state nor the tools.
        offered=Offered(servers={server.name: "" for server in trial.config.agent.mcp_servers or []}),
        raw_output={
            "agent_info": agent.model_dump(mode="json", exclude_none=True),
            "rewards": trial.rewards,
        },
    )


def _usage(spent: AgentResult) -> TokenUsage | None:
    """Token counts; None unless both directions were recorded, since half of them would look cheap."""
    if spent.n_input_tokens is None or spent.n_output_tokens is None:
        return None
    cached = spent.n_cache_tokens or 0
    return TokenUsage(
        input_tokens=max(0, spent.n_input_tokens - cached),  # Harbor counts cached tokens as input tokens too
        output_tokens=spent.n_output_tokens,
        cache_read_tokens=cached,
    )


def _ending(trial: Trial) -> tuple[Outcome, ErrorKind, str]:
    exception = trial.exception_info
    if exception is None:
        return Outcome.COMPLETED, ErrorKind.NONE, ""
    name = exception.exception_type
    error = f"{name}: {' '.join((exception.exception_message or '').split())[:ERROR_CHARS]}"
    if name == "NonZeroAgentExitCodeError" and REWARD in trial.rewards:
        return Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED, error
    outcome, kind = EXCEPTIONS.get(name, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    return outcome, kind, error


def _grade(folder: Path, trial: Trial, pass_score: float) -> GradeResult | None:
    reward = trial.rewards.get(REWARD)
    if reward is None:
        return None
    score = min(1.0, max(0.0, reward))
    metrics = folder / "verifier/metrics.json"
    components = read(metrics, VerifierMetrics).components if metrics.exists() else {}
    output = folder / "verifier/test-stdout.txt"
    return GradeResult(
        assertion_id=REWARD,
        assertion_type="code",
        assertion_name="verifier",
        passed=score >= pass_score,
        score=score,
        details=f"reward {reward:g}" + ("" if score == reward else f", outside of 0 to 1, counted as {score:g}"),
        full_output=output.read_text(encoding="utf-8", errors="replace") if output.exists() else "",
        criteria_scores=[
            CriterionScore(criterion=name, score=float(value))
            for name, value in (components or trial.rewards).items()
            if isinstance(value, int | float) and 0 <= value <= 1 and (components or name != REWARD)
        ],
        weight=1.0,
        duration_seconds=(trial.verifier.seconds if trial.verifier else None) or 0.0,
    )


def _config_names(found: Iterable[tuple[Path, Trial]]) -> dict[str, str]:
    """Name of each job and agent: the job's, and the agent's too where the job has several."""
    agents: dict[str, dict[str, str]] = defaultdict(dict)
    for folder, trial in found:
        agents[folder.parent.name].setdefault(_config_key(folder, trial), _agent_label(trial))
    names: dict[str, str] = {}
    for job, labels in agents.items():
        used: dict[str, int] = defaultdict(int)
        for key, label in sorted(labels.items(), key=lambda item: (item[1], item[0])):
            used[label] += 1
            number = f"#{used[label]}" if used[label] > 1 else ""
            names[key] = job if len(labels) == 1 else f"{job}/{label}{number}"
    return names


def _config_key(folder: Path, trial: Trial) -> str:
    return f"{folder.parent.name}\0{_agent_hash(trial)}"


def _agent_hash(trial: Trial) -> str:
    """Hash of the agent's configuration without its model, which a result names on its own."""
    agent = trial.config.agent.model_dump(mode="json", exclude_unset=True, exclude={"model_name"})
    return hashlib.sha256(json.dumps(agent, sort_keys=True).encode()).hexdigest()[:16]


def _agent_label(trial: Trial) -> str:
    agent = trial.config.agent
    name = (trial.agent_info and trial.agent_info.name) or agent.name or "agent"
    return "+".join([name, *(server.name for server in agent.mcp_servers or [])])


def _task_id(trial: Trial) -> str:
    """The task's folder name where the trial tells it, else its registered name."""
    return trial.task_path.name if trial.task_path else trial.task_name


def _model(trial: Trial) -> str:
    reported = trial.agent_info.model_info if trial.agent_info else None
    return (reported and reported.name) or trial.config.agent.model_name or "none"


def _metadata(trial: Trial, tasks_dir: Path | None) -> TaskMetadata:
    folder = tasks_dir / _task_id(trial) if tasks_dir else trial.task_path
    file = folder / "task.toml" if folder else None
    if file is None or not file.is_file():
        return TaskMetadata()
    try:
        return TaskToml.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))).metadata
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not TOML ({error})") from error
    except ValidationError as error:
        raise InputError(f"{file}: {first_problem(error)}") from error


def _steps(folder: Path) -> list[TrajectoryStep] | None:
    """Steps of the agent's trajectory, without those copied from an earlier one; None without a trajectory."""
    path = folder / "agent/trajectory.json"
    return [s for s in read(path, Trajectory).steps if not s.is_copied_context] if path.exists() else None


def _tool_calls(step: TrajectoryStep) -> list[ToolCall]:
    results = step.observation.results if step.observation else []
    observed = {result.source_call_id: text_of(result.content) for result in results}
    return [
        ToolCall(
            name=call.function_name,
            input=call.arguments or {},
            output=observed.get(call.tool_call_id),
            timestamp=step.timestamp,
            id=call.tool_call_id or "",
        )
        for call in step.tool_calls or []
    ]


def _with_run_indices(results: Iterable[EvalResult]) -> list[EvalResult]:
    """Number the runs of each task, config and model by the time they began."""
    groups: dict[tuple[str, str, str], list[EvalResult]] = defaultdict(list)
    for result in sorted(results, key=lambda r: (r.started_at or r.timestamp, r.source)):
        groups[result.task_id, result.config_name, result.model].append(result)
    return [
        result.model_copy(update={"run_index": index})
        for _, group in sorted(groups.items())
        for index, result in enumerate(group)
    ]
