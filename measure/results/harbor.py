"""Reads trials of Harbor jobs as results, so that the same reports serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import RootModel, ValidationError

from locobench.harbor.agent_log import left_by_agent
from locobench.harbor.files import Model, read
from locobench.harbor.task import TASK_FILE, EnvironmentSection, MetadataSection, TaskFolder
from locobench.harbor.trajectory import Actions, read_actions
from locobench.harbor.trial import (
    BY_NAME,
    AgentInfo,
    AgentResult,
    Job,
    Lock,
    RewardError,
    RewardScale,
    TrialFolder,
    trials,
)
from locobench.shared.errors import InputError
from measure.records import (
    PASS_SCORE,
    Batch,
    Conditions,
    CriterionScore,
    EvalResult,
    ExecutionTrace,
    Fingerprints,
    GradeResult,
    Offered,
    Outcome,
    TokenUsage,
    ToolCall,
    VerifierMetrics,
)
from measure.results.endings import ERROR_CHARS, ending_of
from measure.results.files import with_run_indices
from measure.results.reruns import join_jobs

NOT_A_CONFIG = {"model_name", "n_concurrent", "concurrency_group"}
"""Keys that do not make a config another one: a result names the model separately."""

MOST_OUTPUT_BYTES = 1_000_000
"""Limit for what the tests printed, and for the verifier's metrics."""

UNLIKE_SETTINGS = {
    "name",
    "import_path",
    "model_name",
    "mcp_servers",
    "skills",
    "n_concurrent",
    "concurrency_group",
    "override_timeout_sec",
    "max_timeout_sec",
}
"""Keys of an agent's configuration that are compared separately, or that do not affect what it does."""


ANSWER = "artifacts/app/solution.md"
MOST_ANSWER_BYTES = 1 << 18
"""Bytes read of the graded answer, as many as the verifier reads."""


def load_jobs(path: Path, scale: RewardScale = BY_NAME) -> list[EvalResult]:
    """Read all trials of a job folder, or of a folder of jobs, as results sorted by task, config and run.

    A config is named after its job, and after its agent too if the job has several. Jobs of a folder that ran one
    config on other tasks, or ran lost trials again, are one config, named after the folder. A trial that is measured
    passes with a reward of PASS_SCORE. Files that are cut or invalid cost what they say, and are named in a warning.

    Raises:
        InputError: there are no trials.
        RewardError: none has a reward under the scale's key, or one is out of its range.
    """
    found = _without_copies(trials(path)) if path.is_dir() else []
    if not found:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    _refuse_namesakes(found)
    _refuse_other_keys(path, found, scale)
    task_at, names, batches = cache(_task_folder), _config_names(found), _batches(found)
    results = [
        _result(trial, task_at(trial.result.task_path), names[_config_key(trial)], batches[trial.job], scale)
        for trial in found
    ]
    return with_run_indices(sorted(join_jobs(results, path), key=lambda r: (r.started_at or r.timestamp, r.source)))


def _without_copies(found: Iterable[TrialFolder]) -> list[TrialFolder]:
    """Keep each trial once, however many copies of its folder there are; the first one stays."""
    first: dict[str, TrialFolder] = {}
    copies: list[Path] = []
    for trial in found:
        key = str(trial.path) if trial.problem else trial.result.run_id
        if key in first:
            copies.append(trial.path)
        else:
            first[key] = trial
    if copies:
        warnings.warn(
            f"{copies[0].parent}: copies of trials that lie elsewhere as well, such as {copies[0].name}, count once: "
            f"{len(copies)} left out",
            stacklevel=2,
        )
    return list(first.values())


def _refuse_namesakes(found: Iterable[TrialFolder]) -> None:
    """Refuse a job that ran two tasks of the same name, since their runs would be taken for runs of one task."""
    seen: dict[tuple[Path, str], tuple[str, str | None]] = {}
    for trial in found:
        result = trial.result
        own = result.task_source, result.task_checksum
        other = own if trial.problem else seen.setdefault((trial.job, result.task), own)
        if other[0] != own[0] and other[1] != own[1]:
            raise InputError(
                f"{trial.job}: two tasks are called {result.task}, {other[0]} and {own[0]}; rename one and run "
                "it again, or keep the trials of one"
            )


def _refuse_other_keys(path: Path, found: Iterable[TrialFolder], scale: RewardScale) -> None:
    """Refuse jobs whose verifiers give rewards, but none under the key that counts: all would be lost."""
    keys = sorted({key for trial in found for key in trial.result.rewards})
    if keys and scale.key not in keys:
        raise RewardError(f"{path}: no reward is called {scale.key!r}; the verifiers' keys are {', '.join(keys)}")


def _result(
    trial: TrialFolder, found: TaskFolder | None, config_name: str, batch: Batch, scale: RewardScale
) -> EvalResult:
    """Turn a trial into a result; of a task folder that was generated again since, only the groups are used."""
    result, task = trial.result, _as_it_ran(trial.path, found)
    if trial.problem:
        warnings.warn(f"{trial.problem}; the trial is lost", stacklevel=2)
    offered = _offered(trial, task)
    actions = read_actions(trial, offered.servers or {})
    output, metrics, reward = _test_output(trial), _metrics(trial.path), scale.of(trial)
    ending = ending_of(trial, actions, reward, output, explained=metrics is not None)
    measured = ending.outcome.measured
    grade = _grade(trial, reward, scale, metrics, output) if measured and reward is not None else None
    score = grade.score if grade else 0.0
    spent, agent = _spent(trial, actions), result.agent_info or AgentInfo()
    usage, cost = _usage(spent), spent.cost_usd
    metadata = found.toml.metadata if found else MetadataSection()
    answer = answer_of(trial.path)
    trace = ExecutionTrace(
        result=answer or "",
        is_error=ending.outcome is not Outcome.COMPLETED,
        usage=usage,
        tool_calls=[
            ToolCall(
                name=call.name,
                id=call.id,
                input={"skill": call.skill} if call.skill else {},
                error=call.error and call.error[:ERROR_CHARS],
                duration_seconds=call.seconds,
            )
            for call in actions.calls
        ],
        names_servers=actions.names_servers,
        has_transcript=bool(actions.turns),
        duration_seconds=result.agent_seconds,
        num_turns=actions.turns or None,
        outcome=ending.outcome,
        error=ending.error,
        error_kind=ending.kind,
        doubt=ending.doubt,
        cost_usd=cost,
        claude_code_version=agent.version or "" if agent.name == "claude-code" else "",
        offered=offered,
    )
    return EvalResult(
        task_id=result.task,
        config_name=config_name,
        model=_model(trial),
        run_index=0,
        timestamp=result.finished_at or result.started_at or datetime.fromtimestamp(0, UTC),
        started_at=result.started_at,
        trace=trace,
        grades=[grade] if grade else [],
        overall_score=score,
        passed=measured and score >= PASS_SCORE,
        fingerprints=Fingerprints(
            task=result.task_checksum or "", task_content=task.content if task else "", config=_agent_hash(trial)
        ),
        category=metadata.category or metadata.task_category,
        difficulty=metadata.difficulty,
        language=metadata.language,
        groups={
            name: str(value)
            for name in ("project_id", "context_length")
            if (value := getattr(metadata, name)) not in (None, "")
        }
        | (metadata.derived.groups if metadata.derived else {}),
        conditions=_conditions(trial, task, metrics),
        batch=batch,
        run_id=str(trial.path.resolve()) if trial.problem else result.run_id,
        source=str(trial.path),
    )


def answer_of(folder: Path) -> str | None:
    """Read the graded answer in a trial's folder, cut at MOST_ANSWER_BYTES; None when Harbor brought none home."""
    content = left_by_agent(folder, ANSWER, MOST_ANSWER_BYTES, cut=True)
    return None if content is None else content.decode("utf-8", errors="replace")


def _offered(trial: TrialFolder, task: TaskFolder | None) -> Offered:
    """Return the MCP servers and skills that the job and the task gave to the agent; a part is None when unknown.

    Harbor records neither the servers' status nor their tools, so the status is empty.
    """
    agent = trial.result.config.agent
    skills = agent.skills and [re.split(r"[\\/]", skill.rstrip("\\/"))[-1].partition("@")[0] for skill in agent.skills]
    given = [server.name for server in agent.mcp_servers or []]
    if trial.result.is_utility_agent:
        return Offered(servers={}, skills=[])
    if task is None:  # the task may have offered more
        return Offered(servers=dict.fromkeys(given, "") if given else None, skills=skills)
    names = [server.name for server in task.toml.environment.mcp_servers] + given
    return Offered(servers=dict.fromkeys(names, ""), skills=skills)


def _spent(trial: TrialFolder, actions: Actions) -> AgentResult:
    """Return what Harbor recorded, or the agent's own account where Harbor has none.

    Harbor takes the cost from the first result line of Claude Code's log, the agent's own account from the last one.
    Dollars of 0 beside tokens are a price that nobody knew, and tokens of 0 are none.
    """
    harbor, own = trial.result.spent, actions.spent
    tokens = own if harbor.n_input_tokens is None or harbor.n_output_tokens is None or harbor.is_nothing else harbor
    whole = all(log.cost_usd for log in actions.logs)
    return tokens.model_copy(update={"cost_usd": (whole and own.cost_usd) or harbor.cost_usd or own.cost_usd or None})


def _usage(spent: AgentResult) -> TokenUsage | None:
    """Return token counts; None unless both directions were recorded, since half of them would look cheap."""
    if spent.n_input_tokens is None or spent.n_output_tokens is None or spent.is_nothing:
        return None
    cached = spent.n_cache_tokens or 0
    return TokenUsage(
        input_tokens=max(0, spent.n_input_tokens - cached),  # Harbor counts cached tokens as input tokens too
        output_tokens=spent.n_output_tokens,
        cache_read_tokens=cached,
    )


def _task_folder(path: Path | None) -> TaskFolder | None:
    """Read a task where a trial says that it was; None when it is not there, or is no longer a valid task."""
    # For a name that no file can have, os.path returns False where Path may raise.
    if path is None or not os.path.isfile(path / TASK_FILE):  # noqa: PTH113
        return None
    try:
        return TaskFolder.read(path)
    except InputError as error:
        warnings.warn(f"{error}; what the task says about its trials is not known", stacklevel=2)
        return None


def _as_it_ran(folder: Path, task: TaskFolder | None) -> TaskFolder | None:
    """Return the task of the trial in `folder`; None when it is missing, or was generated again since.

    The lock of a trial has the digest of what it ran.
    """
    lock = folder / "lock.json"
    if task is None or not lock.is_file():
        return task
    ran = _read_or_warn(lock, Lock)
    return task if ran is None or ran.digest is None or ran.digest == task.digest else None


def _read_or_warn(file: Path, model: type[Model], content: bytes | None = None) -> Model | None:
    try:
        return read(file, model, content)
    except InputError as error:
        warnings.warn(f"{error}; what it says is not known", stacklevel=2)
        return None


def _conditions(trial: TrialFolder, task: TaskFolder | None, metrics: VerifierMetrics | None) -> Conditions:
    agent, config = trial.result.agent_info or AgentInfo(), trial.result.config
    environment = task.toml.environment if task else EnvironmentSection()
    timeout = config.agent.override_timeout_sec or (task.toml.agent.timeout_sec if task else None)
    if timeout is not None and config.agent.max_timeout_sec is not None:
        timeout = min(timeout, config.agent.max_timeout_sec)
    if timeout is not None:
        timeout *= config.agent_timeout_multiplier or config.timeout_multiplier or 1.0
    settings = config.agent.model_dump(mode="json", exclude_defaults=True, exclude=UNLIKE_SETTINGS)
    return Conditions(
        agent=agent.name or config.agent.name,
        agent_version=agent.version,
        agent_settings=_hash(settings),
        base_image=task.base_image if task else None,
        verifier_mode=trial.result.verifier_environment_mode or (task.toml.verifier.environment_mode if task else None),
        scoring=metrics.scoring if metrics else None,
        scoring_version=metrics.scoring_version if metrics else None,
        agent_timeout_seconds=timeout,
        cpus=config.environment.override_cpus or environment.cpus,
        memory_mb=config.environment.override_memory_mb or environment.memory_mb,
    )


def _batches(found: Sequence[TrialFolder]) -> dict[Path, Batch]:
    """Describe the job of each trial, by the job's folder."""
    batches = {}
    for job, count in Counter(trial.job for trial in found).items():
        file = job / "result.json"
        told = (_read_or_warn(file, Job) if file.is_file() else None) or Job()
        batches[job] = Batch(
            name=job.resolve().name,
            planned=told.n_total_trials,
            present=count,
            # Only a file that says how many trials were planned says whether they are done.
            finished=told.finished_at is not None if "finished_at" in told.model_fields_set else None,
            retries=told.n_retries,
        )
    return batches


def _grade(
    trial: TrialFolder, reward: float, scale: RewardScale, metrics: VerifierMetrics | None, output: str
) -> GradeResult:
    components = metrics.components if metrics else {}
    rewards = trial.result.rewards
    return GradeResult(
        assertion_id=scale.key,
        assertion_type="code",
        assertion_name="verifier",
        passed=reward >= PASS_SCORE,
        score=reward,
        details=f"{scale.key} {rewards[scale.key]:g}",
        full_output=output,
        criteria_scores=[
            CriterionScore(criterion=name, score=float(value))
            for name, value in (components or rewards).items()
            if isinstance(value, int | float) and 0 <= value <= 1 and (components or name != scale.key)
        ],
        verifier=metrics,
        weight=1.0,
        duration_seconds=(trial.result.verifier.seconds if trial.result.verifier else None) or 0.0,
    )


def _test_output(trial: TrialFolder) -> str:
    """Return what the tests printed, of a trial with steps one step after the other."""
    folders = ["verifier", *(f"steps/{step.step_name}/verifier" for step in trial.result.step_results)]
    found = (left_by_agent(trial.path, f"{name}/test-stdout.txt", MOST_OUTPUT_BYTES, cut=True) for name in folders)
    return b"\n".join(filter(None, found)).decode("utf-8", errors="replace")


def _metrics(folder: Path) -> VerifierMetrics | None:
    """Read what the verifier reports besides its reward; None without the file, or if another benchmark wrote it."""
    path = "verifier/metrics.json"
    content = left_by_agent(folder, path, MOST_OUTPUT_BYTES)
    told = _read_or_warn(folder / path, RootModel[object], content) if content is not None else None
    try:
        return VerifierMetrics.model_validate(told.root) if told else None
    except ValidationError:
        return None


def _config_names(found: Iterable[TrialFolder]) -> dict[str, str]:
    """Name each config after its job, and after its agent too if the job has several."""
    agents: dict[str, dict[str, str]] = defaultdict(dict)
    for trial in found:
        agents[trial.job.resolve().name].setdefault(_config_key(trial), _agent_label(trial))
    names: dict[str, str] = {}
    for job, labels in agents.items():
        used: dict[str, int] = defaultdict(int)
        for key, label in sorted(labels.items(), key=lambda item: (item[1], item[0])):
            used[label] += 1
            number = f"#{used[label]}" if used[label] > 1 else ""
            names[key] = job if len(labels) == 1 else f"{job}/{label}{number}"
    return names


def _config_key(trial: TrialFolder) -> str:
    return f"{trial.job.resolve().name}\0{_agent_hash(trial)}"


def _agent_hash(trial: TrialFolder) -> str:
    """Hash the agent's configuration without its model, which a result names separately."""
    return _hash(trial.result.config.agent.model_dump(mode="json", exclude_unset=True, exclude=NOT_A_CONFIG))


def _hash(settings: Mapping[str, object]) -> str:
    """Hash settings without the empty ones, since each version of Harbor has more of them."""
    told = {key: value for key, value in settings.items() if value not in (None, [], {}, False)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _agent_label(trial: TrialFolder) -> str:
    return "+".join([trial.result.agent or "agent", *(s.name for s in trial.result.config.agent.mcp_servers or [])])


def _model(trial: TrialFolder) -> str:
    agent = trial.result.agent_info
    reported = agent.model_info if agent else None
    return (reported and reported.name) or trial.result.config.agent.model_name or "none"
