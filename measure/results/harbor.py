"""Reads trials of Harbor jobs as results, so that the same reports serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from locobench.harbor.agent_log import Call
from locobench.harbor.record import TrialRecord, read_trials
from locobench.harbor.task import MetadataSection, TaskToml
from locobench.harbor.trial import AgentResult
from locobench.reading import fold
from locobench.shared.errors import InputError
from measure.records import (
    PASS_SCORE,
    Conditions,
    CriterionScore,
    ErrorKind,
    EvalResult,
    ExecutionTrace,
    Fingerprints,
    GradeResult,
    Offered,
    TokenUsage,
    ToolCall,
)
from measure.records.outcomes import Ending
from measure.results.endings import ERROR_CHARS, ending_of
from measure.results.files import with_run_indices
from measure.results.jobs import as_configs
from measure.results.reach import reach_in
from measure.results.rewards import BY_NAME, RewardError, RewardScale
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

    A trial that is measured passes with a reward of PASS_SCORE. What a cut or invalid file would say is missing, and a
    warning names the file. Copies of a trial count once.

    Raises:
        InputError: there are no trials.
        RewardError: none has a reward under the scale's key, or one is out of its range.
    """
    results: dict[str, EvalResult] = {}
    copies: list[Path] = []
    keys: set[str] = set()
    for trial in read_trials(path) if path.is_dir() else ():
        result = _result(trial, scale)
        if result.run_id in results:
            copies.append(trial.path)
        results.setdefault(result.run_id, result)
        keys |= trial.result.rewards.keys()
    if not results:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    if keys and scale.key not in keys:
        raise RewardError(
            f"{path}: no reward is called {scale.key!r}; the verifiers' keys are {', '.join(sorted(keys))}"
        )
    if copies:
        what = f"left out {len(copies)} copies of trials, such as {copies[0].name}"
        warnings.warn(f"{copies[0].parent}: {what}", stacklevel=2)
    found = as_configs(list(results.values()), path)
    return with_run_indices(sorted(found, key=lambda run: (run.started_at or run.timestamp, run.source)))


def _result(trial: TrialRecord, scale: RewardScale) -> EvalResult:
    """Turn a trial into a result, as yet without its config's name and its batch."""
    result, task, about = trial.result, trial.task, trial.about
    reward, metrics = scale.of(result.rewards, trial.path), _metrics(trial)
    grade = None if reward is None else _grade(trial, reward, scale.key, metrics)
    conditions, config = _conditions(trial, metrics), _agent_hash(trial)
    ending = ending_of(trial, reward, explained=metrics is not None)
    if ending.kind is ErrorKind.GRADING:
        grade = None
    score = grade.score if grade else 0.0
    return EvalResult(
        task_id=result.task,
        config_name="",
        model=result.model or "none",
        run_index=0,
        timestamp=result.finished_at or result.started_at or datetime.fromtimestamp(0, UTC),
        started_at=result.started_at,
        trace=_trace(trial, ending),
        grades=[grade] if grade else [],
        overall_score=score,
        passed=ending.outcome.measured and score >= PASS_SCORE,
        fingerprints=Fingerprints(
            task=result.task_checksum or "",
            # Without a lock nothing says that the folder still holds what ran.
            task_content=task.content if task and trial.has_lock else "",
            task_generated=task.toml.metadata.content_fingerprint if task else "",
            config=config,
        ),
        category=about.category or about.task_category,
        difficulty=about.difficulty,
        language=about.language,
        groups=_groups(about),
        conditions=conditions,
        pilot_runs=about.pilot_runs,
        run_id=str(trial.path.resolve()) if trial.problem else result.run_id,
        source=str(trial.path),
    )


def _trace(trial: TrialRecord, ending: Ending) -> ExecutionTrace:
    """Return what the agent did. Errors are short and without secrets, since reports quote them."""
    actions, spent, result = trial.actions, trial.spent, trial.result
    error, doubt = (redact_text(text)[:ERROR_CHARS] for text in (ending.error, ending.doubt))
    return ExecutionTrace(
        result=trial.answer or "",
        usage=_usage(spent),
        tool_calls=[
            ToolCall(
                name=call.name,
                id=call.id,
                input=_kept_input(call),
                error=call.error and redact_text(call.error)[:ERROR_CHARS],
            )
            for call in actions.calls
        ],
        reach=reach_in(trial),
        names_servers=actions.names_servers,
        has_transcript=bool(actions.turns),
        duration_seconds=result.agent_seconds,
        num_turns=actions.turns or None,
        **replace(ending, error=error, doubt=doubt).fields,
        cost_usd=spent.cost_usd,
        claude_code_version=(result.agent_version if result.reported_agent == "claude-code" else None) or "",
        # Harbor records neither the servers' status nor their tools.
        offered=Offered(
            servers=None if trial.servers is None else dict.fromkeys(trial.servers, ""),
            skills=None if trial.skills is None else list(trial.skills),
        ),
    )


def _kept_input(call: Call) -> dict[str, str]:
    """Return what is kept of a call's arguments, which may be long: the skill that it used, and what it fetched."""
    fetched = ToolCall(name=call.name, input={"": call.arguments}).fetched
    told = {"skill": call.skill, "fetched": redact_text(fetched)[:ERROR_CHARS]}
    return {name: text for name, text in told.items() if text}


def _groups(about: MetadataSection) -> dict[str, str]:
    if about.derived:
        return about.derived.groups
    named = {name: getattr(about, name) for name in ("project_id", "context_length")}
    return {name: str(value) for name, value in named.items() if value not in (None, "")}


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
    result, config, toml = trial.result, trial.result.agent_config, trial.task.toml if trial.task else TaskToml()
    timeout = config.override_timeout_sec or toml.agent.timeout_sec
    if timeout is not None and config.max_timeout_sec is not None:
        timeout = min(timeout, config.max_timeout_sec)
    if timeout is not None:
        timeout *= result.agent_timeout_multiplier or result.timeout_multiplier or 1.0
    settings = config.model_dump(mode="json", exclude_defaults=True, exclude=UNLIKE_SETTINGS)
    return Conditions(
        agent=result.agent or None,
        agent_version=result.agent_version,
        agent_settings=_hash(settings),
        base_image=trial.task.base_image if trial.task else None,
        closed_book=toml.metadata.closed_book,
        verifier_mode=result.verifier_environment_mode or toml.verifier.environment_mode,
        scoring=metrics.scoring if metrics else None,
        scoring_version=metrics.scoring_version if metrics else None,
        agent_timeout_seconds=timeout,
        cpus=result.override_cpus or toml.environment.cpus,
        memory_mb=result.override_memory_mb or toml.environment.memory_mb,
    )


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


def _agent_hash(trial: TrialRecord) -> str:
    """Hash the agent's configuration without its model, which a result names separately."""
    return _hash(trial.result.agent_config.model_dump(mode="json", exclude_unset=True, exclude=NOT_A_CONFIG))


def _hash(settings: Mapping[str, object]) -> str:
    """Hash settings without the empty ones, since each version of Harbor has more of them."""
    told = {key: value for key, value in settings.items() if value not in (None, [], {}, False)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
