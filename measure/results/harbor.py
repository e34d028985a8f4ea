"""Reads trials of Harbor jobs as results, so that the same reports serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from locobench.harbor.record import TrialRecord, read_or_warn, read_records
from locobench.harbor.task import EnvironmentSection, MetadataSection
from locobench.harbor.trial import BY_NAME, AgentInfo, AgentResult, Job, RewardError, RewardScale, TrialFolder, trials
from locobench.reading import fold
from locobench.shared.errors import InputError
from measure.records import (
    PASS_SCORE,
    Batch,
    Conditions,
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
from measure.results.endings import ERROR_CHARS, ending_of
from measure.results.files import with_run_indices
from measure.results.reach import reach_in
from measure.results.reruns import join_jobs
from measure.secrets.redaction import redact_text

NOT_A_CONFIG = {"model_name", "n_concurrent", "concurrency_group"}
"""Keys that do not make a config another one: a result names the model separately."""

UNLIKE_SETTINGS = {
    *("name", "import_path", "model_name", "mcp_servers", "skills"),
    *("n_concurrent", "concurrency_group", "override_timeout_sec", "max_timeout_sec"),
}
"""Keys of an agent's configuration that are compared separately, or that do not affect what it does."""


def load_jobs(path: Path, scale: RewardScale = BY_NAME) -> list[EvalResult]:
    """Read all trials of a job folder, or of a folder of jobs, as results sorted by task, config and run.

    A config is named after its job, and after its agent too if the job has several. Jobs of a folder that ran one
    config on other tasks, or ran lost trials again, are one config, named after the folder. A trial that is measured
    passes with a reward of PASS_SCORE. What a cut or invalid file would say is missing, and a warning names the file.

    Raises:
        InputError: there are no trials.
        RewardError: none has a reward under the scale's key, or one is out of its range.
    """
    found = _without_copies(trials(path)) if path.is_dir() else []
    if not found:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    _refuse_namesakes(found)
    _refuse_other_keys(path, found, scale)
    names, batches = _config_names(found), _batches(found)
    results = [
        _result(record, scale.of(trial), scale.key, names[_config_key(trial)], batches[trial.job])
        for trial, record in zip(found, read_records(found), strict=True)
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
            f"{copies[0].parent}: left out {len(copies)} copies of trials, such as {copies[0].name}", stacklevel=2
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


def _result(trial: TrialRecord, reward: float | None, key: str, config_name: str, batch: Batch) -> EvalResult:
    """Turn a trial into a result; `reward` is the one under `key`, 0 to 1."""
    result, task, about, actions = trial.result, trial.task, trial.about, trial.actions
    metrics = _metrics(trial)
    ending = ending_of(trial, reward, explained=metrics is not None)
    graded = reward is not None and ending.kind is not ErrorKind.GRADING
    grade = _grade(trial, reward, key, metrics) if reward is not None and graded else None
    score = grade.score if grade else 0.0
    agent = result.agent_info or AgentInfo()
    trace = ExecutionTrace(
        result=trial.answer or "",
        is_error=ending.outcome is not Outcome.COMPLETED,
        usage=_usage(trial.spent),
        tool_calls=[
            ToolCall(
                name=call.name,
                id=call.id,
                input={"skill": call.skill} if call.skill else {},
                error=call.error and _excerpt(call.error),
            )
            for call in actions.calls
        ],
        reach=reach_in(trial),
        names_servers=actions.names_servers,
        has_transcript=bool(actions.turns),
        duration_seconds=result.agent_seconds,
        num_turns=actions.turns or None,
        outcome=ending.outcome,
        error=_excerpt(ending.error),
        error_kind=ending.kind,
        doubt=_excerpt(ending.doubt),
        cost_usd=trial.spent.cost_usd,
        claude_code_version=agent.version or "" if agent.name == "claude-code" else "",
        # Harbor records neither the servers' status nor their tools.
        offered=Offered(
            servers=None if trial.servers is None else dict.fromkeys(trial.servers, ""),
            skills=None if trial.skills is None else list(trial.skills),
        ),
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
        passed=ending.outcome.measured and score >= PASS_SCORE,
        fingerprints=Fingerprints(
            task=result.task_checksum or "",
            # Without a lock nothing says that the folder still holds what ran.
            task_content=task.content if task and (trial.path / "lock.json").is_file() else "",
            task_generated=task.toml.metadata.content_fingerprint if task else "",
            config=_agent_hash(trial),
        ),
        category=about.category or about.task_category,
        difficulty=about.difficulty,
        language=about.language,
        groups=_groups(about),
        conditions=_conditions(trial, metrics),
        batch=batch,
        pilot_runs=about.pilot_runs,
        run_id=str(trial.path.resolve()) if trial.problem else result.run_id,
        source=str(trial.path),
    )


def _groups(about: MetadataSection) -> dict[str, str]:
    if about.derived:
        return about.derived.groups
    named = {name: getattr(about, name) for name in ("project_id", "context_length")}
    return {name: str(value) for name, value in named.items() if value not in (None, "")}


def _excerpt(text: str) -> str:
    """Return the start of what an agent or a tool said, without secrets, since reports quote it."""
    return redact_text(text)[:ERROR_CHARS]


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


def _conditions(trial: TrialRecord, metrics: Metrics | None) -> Conditions:
    task = trial.task
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
        closed_book=task.toml.metadata.closed_book if task else None,
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
        told = (read_or_warn(file, Job) if file.is_file() else None) or Job()
        batches[job] = Batch(
            name=job.resolve().name,
            planned=told.n_total_trials,
            present=count,
            # Only a file that says how many trials were planned says whether they are done.
            finished=told.finished_at is not None if "finished_at" in told.model_fields_set else None,
        )
    return batches


def _grade(trial: TrialRecord, reward: float, key: str, metrics: Metrics | None) -> GradeResult:
    components, rewards = metrics.components if metrics else {}, trial.result.rewards
    called = {call.name.rpartition("__")[2] for call in trial.actions.calls if call.name.startswith("mcp__")}
    return GradeResult(
        assertion_id=key,
        assertion_type="code",
        assertion_name="verifier",
        passed=reward >= PASS_SCORE,
        score=reward,
        details=f"{key} {rewards[key]:g}",
        full_output=trial.output,
        criteria_scores=[
            CriterionScore(criterion=name, score=float(value))
            for name, value in (components or rewards).items()
            if isinstance(value, int | float) and 0 <= value <= 1 and (components or name != key)
        ],
        weight=1.0,
        duration_seconds=(trial.result.verifier.seconds if trial.result.verifier else None) or 0.0,
        tools_as_invented=sorted(name for name in called if metrics and fold(name) in metrics.invented_identifiers),
    )


class Metrics(BaseModel):
    """What a reward is made of, as this project's tasks report it in verifier/metrics.json."""

    components: dict[str, float | None] = {}
    """Each part of the score, 0 to 1."""
    invented_identifiers: list[str] = []
    scoring: str | None = None
    scoring_version: str | None = None


def _metrics(trial: TrialRecord) -> Metrics | None:
    """Return what the verifier reports besides its reward; None if it did not, or another benchmark wrote it."""
    try:
        return Metrics.model_validate(trial.metrics)
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


def _agent_hash(trial: TrialFolder | TrialRecord) -> str:
    """Hash the agent's configuration without its model, which a result names separately."""
    return _hash(trial.result.config.agent.model_dump(mode="json", exclude_unset=True, exclude=NOT_A_CONFIG))


def _hash(settings: Mapping[str, object]) -> str:
    """Hash settings without the empty ones, since each version of Harbor has more of them."""
    told = {key: value for key, value in settings.items() if value not in (None, [], {}, False)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _agent_label(trial: TrialFolder) -> str:
    return "+".join([trial.result.agent or "agent", *(s.name for s in trial.result.config.agent.mcp_servers or [])])


def _model(trial: TrialRecord) -> str:
    agent = trial.result.agent_info
    reported = agent.model_info if agent else None
    return (reported and reported.name) or trial.result.config.agent.model_name or "none"
