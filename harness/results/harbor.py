"""How the trials of Harbor jobs become results, so that the same reports serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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

REWARD = "reward"
"""The reward key that counts; other keys of a verifier are shown as criteria."""

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


def load_jobs(
    path: Path,
    *,
    config_name: str | None = None,
    tasks_dir: Path | None = None,
    pass_score: float = PASS_SCORE,
) -> list[EvalResult]:
    """Results of all trials of a job folder, or of all jobs in a folder of them, by task, config and run.

    `config_name` names the config of all trials; by default it is the job's name, and where a job has several
    agents also the agent's. `tasks_dir` holds the task folders, from which language, category and difficulty
    are read (default: where the trial says its task lay). A trial passes that completed with a reward of
    `pass_score` or more. InputError when there are no trials, or one cannot be read.
    """
    folders = sorted(p.parent for p in [*path.glob("*/result.json"), *path.glob("*/*/result.json")])
    trials = [(f, data) for f in folders if "trial_name" in (data := _json(f / "result.json"))]
    if not trials:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    names = _config_names(trials)
    results = [
        _result(folder, trial, config_name or names[_config_key(folder, trial)], tasks_dir, pass_score)
        for folder, trial in trials
    ]
    return _with_run_indices(results)


def _result(
    folder: Path, trial: Mapping[str, Any], config_name: str, tasks_dir: Path | None, pass_score: float
) -> EvalResult:
    trace = _trace(folder, trial)
    grades = [_grade(folder, trial, pass_score)] if _reward(trial) is not None else []
    if trace.outcome.measured and not grades:
        trace = trace.model_copy(
            update={
                "outcome": Outcome.INFRA_ERROR,
                "error_kind": ErrorKind.GRADING,
                "error": f"the verifier gave no {REWARD!r}",
                "is_error": True,
            }
        )
    score = grades[0].score if grades else 0.0
    metadata = _metadata(trial, tasks_dir)
    started = _time(trial.get("started_at"))
    return EvalResult(
        task_id=_task_id(trial),
        config_name=config_name,
        model=_model(trial),
        run_index=0,
        timestamp=_time(trial.get("finished_at")) or started or datetime.fromtimestamp(0, UTC),
        started_at=started,
        trace=trace,
        grades=grades,
        overall_score=score,
        passed=trace.outcome is Outcome.COMPLETED and score >= pass_score,
        fingerprints=Fingerprints(task=str(trial.get("task_checksum") or ""), config=_agent_hash(trial)),
        category=str(metadata.get("category") or metadata.get("task_category") or ""),
        difficulty=str(metadata.get("difficulty") or ""),
        language=str(metadata.get("language") or ""),
        source=str(folder),
    )


def _trace(folder: Path, trial: Mapping[str, Any]) -> ExecutionTrace:
    outcome, kind, error = _ending(trial)
    steps = _steps(folder)
    spent = _spent(trial)
    agent = trial.get("agent_info") or {}
    answers = [text for step in steps if step.get("source") == "agent" and (text := _text(step.get("message")))]
    prompts = [_text(step.get("message")) for step in steps if step.get("source") == "user"]
    cached = int(spent["n_cache_tokens"] or 0)
    return ExecutionTrace(
        result=answers[-1] if answers else "",
        is_error=outcome is not Outcome.COMPLETED,
        # Harbor counts cached tokens as input tokens too.
        usage=TokenUsage(
            input_tokens=max(0, int(spent["n_input_tokens"] or 0) - cached),
            output_tokens=int(spent["n_output_tokens"] or 0),
            cache_read_tokens=cached,
        ),
        tool_calls=[call for step in steps for call in _tool_calls(step)],
        duration_seconds=_seconds(trial.get("agent_execution")),
        num_turns=len(answers),
        claude_prompt=prompts[0] if prompts else "",
        claude_response="\n\n".join(answers),
        outcome=outcome,
        error=error,
        error_kind=kind,
        cost_usd=spent["cost_usd"],
        claude_code_version=str(agent.get("version") or "") if agent.get("name") == "claude-code" else "",
        offered=_offered(trial),
        raw_output={
            "agent_info": agent,
            "rewards": (trial.get("verifier_result") or {}).get("rewards") or {},
        },
    )


def _offered(trial: Mapping[str, Any]) -> Offered:
    """Harbor records the servers of the agent's configuration; neither their state nor the tools."""
    servers = ((trial.get("config") or {}).get("agent") or {}).get("mcp_servers") or []
    return Offered(servers={str(server.get("name")): "" for server in servers})


def _ending(trial: Mapping[str, Any]) -> tuple[Outcome, ErrorKind, str]:
    exception = trial.get("exception_info")
    if not exception:
        return Outcome.COMPLETED, ErrorKind.NONE, ""
    name = str(exception.get("exception_type"))
    error = f"{name}: {' '.join(str(exception.get('exception_message') or '').split())[:300]}"
    if name == "NonZeroAgentExitCodeError" and _reward(trial) is not None:
        return Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED, error
    outcome, kind = EXCEPTIONS.get(name, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    return outcome, kind, error


def _grade(folder: Path, trial: Mapping[str, Any], pass_score: float) -> GradeResult:
    reward = _reward(trial)
    assert reward is not None
    score = min(1.0, max(0.0, reward))
    rewards = {k: v for k, v in trial["verifier_result"]["rewards"].items() if k != REWARD}
    metrics = folder / "verifier/metrics.json"
    components = (_json(metrics).get("components") if metrics.exists() else None) or rewards
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
            CriterionScore(criterion=str(name), score=float(value))
            for name, value in components.items()
            if isinstance(value, int | float) and 0 <= value <= 1
        ],
        weight=1.0,
        duration_seconds=_seconds(trial.get("verifier")),
    )


def _reward(trial: Mapping[str, Any]) -> float | None:
    value = ((trial.get("verifier_result") or {}).get("rewards") or {}).get(REWARD)
    return float(value) if isinstance(value, int | float) else None


def _config_names(trials: Iterable[tuple[Path, Mapping[str, Any]]]) -> dict[str, str]:
    """Name of each job and agent: the job's, and the agent's too where the job has several."""
    agents: dict[str, dict[str, str]] = defaultdict(dict)
    for folder, trial in trials:
        agents[folder.parent.name].setdefault(_config_key(folder, trial), _agent_label(trial))
    names: dict[str, str] = {}
    for job, labels in agents.items():
        used: dict[str, int] = defaultdict(int)
        for key, label in sorted(labels.items(), key=lambda item: (item[1], item[0])):
            used[label] += 1
            number = f"#{used[label]}" if used[label] > 1 else ""
            names[key] = job if len(labels) == 1 else f"{job}/{label}{number}"
    return names


def _config_key(folder: Path, trial: Mapping[str, Any]) -> str:
    return f"{folder.parent.name}\0{_agent_hash(trial)}"


def _agent_hash(trial: Mapping[str, Any]) -> str:
    """Hash of the agent's configuration without its model, which a result names on its own."""
    agent = {k: v for k, v in ((trial.get("config") or {}).get("agent") or {}).items() if k != "model_name"}
    return hashlib.sha256(json.dumps(agent, sort_keys=True).encode()).hexdigest()[:16]


def _agent_label(trial: Mapping[str, Any]) -> str:
    agent = (trial.get("config") or {}).get("agent") or {}
    servers = [str(server.get("name")) for server in agent.get("mcp_servers") or []]
    return "+".join([str((trial.get("agent_info") or {}).get("name") or agent.get("name")), *servers])


def _task_id(trial: Mapping[str, Any]) -> str:
    """The task's folder name where the trial tells it, else its registered name."""
    task = trial.get("task_id")
    path = task.get("path") if isinstance(task, dict) else None
    return Path(str(path)).name if path else str(trial["task_name"])


def _model(trial: Mapping[str, Any]) -> str:
    info = (trial.get("agent_info") or {}).get("model_info") or {}
    configured = ((trial.get("config") or {}).get("agent") or {}).get("model_name")
    return str(info.get("name") or configured or "none")


def _metadata(trial: Mapping[str, Any], tasks_dir: Path | None) -> dict[str, Any]:
    task = trial.get("task_id")
    path = Path(str(task.get("path"))) if isinstance(task, dict) and task.get("path") else None
    folder = tasks_dir / _task_id(trial) if tasks_dir else path
    file = folder / "task.toml" if folder else None
    if file is None or not file.is_file():
        return {}
    try:
        return dict(tomllib.loads(file.read_text(encoding="utf-8")).get("metadata") or {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not TOML ({error})") from error


def _spent(trial: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and cost of the trial, or summed over its steps; None where nothing is reported."""
    contexts = [trial.get("agent_result")] if trial.get("agent_result") else []
    contexts = contexts or [step.get("agent_result") for step in trial.get("step_results") or []]
    spent: dict[str, Any] = {}
    for name in ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd"):
        values = [c[name] for c in contexts if c and c.get(name) is not None]
        spent[name] = sum(values) if values else None
    return spent


def _steps(folder: Path) -> list[Mapping[str, Any]]:
    """Steps of the agent's ATIF trajectory, without those copied from an earlier one."""
    path = folder / "agent/trajectory.json"
    steps = _json(path).get("steps") if path.exists() else None
    return [step for step in steps or [] if isinstance(step, dict) and not step.get("is_copied_context")]


def _tool_calls(step: Mapping[str, Any]) -> list[ToolCall]:
    observed = {
        result.get("source_call_id"): _text(result.get("content"))
        for result in (step.get("observation") or {}).get("results") or []
    }
    return [
        ToolCall(
            name=str(call.get("function_name")),
            input=call.get("arguments") or {},
            output=observed.get(call.get("tool_call_id")),
            timestamp=_time(step.get("timestamp")),
            id=str(call.get("tool_call_id") or ""),
        )
        for call in step.get("tool_calls") or []
    ]


def _text(content: object) -> str:
    """Text of a message: a string, or parts of which only text ones are kept."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _with_run_indices(results: list[EvalResult]) -> list[EvalResult]:
    """Number the runs of each task, config and model by the time they began."""
    groups: dict[tuple[str, str, str], list[EvalResult]] = defaultdict(list)
    for result in sorted(results, key=lambda r: (r.started_at or r.timestamp, r.source)):
        groups[result.task_id, result.config_name, result.model].append(result)
    return [
        result.model_copy(update={"run_index": index})
        for _, group in sorted(groups.items())
        for index, result in enumerate(group)
    ]


def _seconds(timing: Mapping[str, Any] | None) -> float:
    started, finished = (_time((timing or {}).get(name)) for name in ("started_at", "finished_at"))
    return max(0.0, (finished - started).total_seconds()) if started and finished else 0.0


def _time(value: object) -> datetime | None:
    """A time of a trial; one without a zone is UTC."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: must hold a JSON object")
    return data
