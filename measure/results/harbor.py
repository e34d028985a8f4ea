"""How do trials of Harbor jobs become results? The same reports then serve both ways of running."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import RootModel, ValidationError

from locobench.harbor.files import read
from locobench.harbor.task import EnvironmentSection, MetadataSection, TaskFolder
from locobench.harbor.trial import REWARD, AgentInfo, Trial, read_job, reward_of, trials
from locobench.shared.errors import InputError
from measure.records import (
    PASS_SCORE,
    Batch,
    Conditions,
    CriterionScore,
    ErrorKind,
    EvalResult,
    Fingerprints,
    GradeResult,
    Outcome,
    VerifierMetrics,
)
from measure.results.files import with_run_indices
from measure.results.harbor_trace import (
    ERROR_CHARS,
    TEST_OUTPUT,
    as_it_ran,
    left_by_agent,
    task_folder,
    task_id,
    trace_of,
)

TRACEBACK = "Traceback (most recent call last):"

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


def load_jobs(path: Path) -> list[EvalResult]:
    """Read all trials of a job folder, or of a folder of jobs, as results sorted by task, config and run.

    A config is named after its job, and after its agent too if the job has several. A completed trial passes with a
    reward of PASS_SCORE.

    Raises:
        InputError: there are no trials, or one cannot be read.
    """
    found = _without_copies(trials(path))
    if not found:
        raise InputError(f"{path}: no Harbor trials there; name a job folder, such as jobs/<job name>")
    _refuse_namesakes(found)
    task_at, names = cache(task_folder), _config_names(found)
    batches = _batches(folder for folder, _ in found)
    results = [
        _result(folder, trial, task_at(trial.task_path), names[_config_key(folder, trial)], batches[folder.parent])
        for folder, trial in found
    ]
    return with_run_indices(sorted(results, key=lambda r: (r.started_at or r.timestamp, r.source)))


def _without_copies(found: Iterable[tuple[Path, Trial]]) -> list[tuple[Path, Trial]]:
    """Keep each trial once, however many copies of its folder there are; the first one stays."""
    first: dict[str, tuple[Path, Trial]] = {}
    copies: list[Path] = []
    for folder, trial in found:
        if trial.run_id in first:
            copies.append(folder)
        else:
            first[trial.run_id] = folder, trial
    if copies:
        warnings.warn(
            f"{copies[0].parent}: copies of trials that lie elsewhere as well, such as {copies[0].name}, count once: "
            f"{len(copies)} left out",
            stacklevel=2,
        )
    return list(first.values())


def _refuse_namesakes(found: Iterable[tuple[Path, Trial]]) -> None:
    """Refuse a job that ran two tasks of the same name, since their runs would be taken for runs of one task."""
    seen: dict[tuple[Path, str], tuple[Path | None, str | None]] = {}
    for folder, trial in found:
        own = trial.task_path, trial.task_checksum
        other = seen.setdefault((folder.parent, task_id(trial)), own)
        if other[0] != own[0] and other[1] != own[1]:
            raise InputError(
                f"{folder.parent}: two tasks are called {task_id(trial)}, {other[0]} and {own[0]}; rename one and run "
                "it again, or keep the trials of one"
            )


def _result(folder: Path, trial: Trial, found: TaskFolder | None, config_name: str, batch: Batch) -> EvalResult:
    """Turn a trial into a result; of a task folder that was generated again since, only the groups are used."""
    task = as_it_ran(folder, found)
    trace = trace_of(folder, trial, task)
    output = _test_output(folder)
    grade = _grade(folder, trial, output)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = lines[-1][:ERROR_CHARS] if lines else ""
    # A task's test.sh writes 0 before it starts the verifier, so a verifier that crashed leaves the reward 0.
    rewarded = grade is not None and (grade.score or grade.verifier)
    crash = last if not rewarded and TRACEBACK in output else ""
    if crash or (trace.outcome is Outcome.COMPLETED and grade is None):
        said = f"the verifier failed: {crash}" if crash else f"the verifier gave no {REWARD!r}"
        trace = trace.model_copy(
            update={
                "outcome": Outcome.INFRA_ERROR,
                "error_kind": ErrorKind.GRADING,
                "error": said + (f" ({last})" if not crash and last else ""),
                "is_error": True,
            }
        )
        grade = None
    score = grade.score if grade else 0.0
    metadata = found.toml.metadata if found else MetadataSection()
    return EvalResult(
        task_id=task_id(trial),
        config_name=config_name,
        model=_model(trial),
        run_index=0,
        timestamp=trial.finished_at or trial.started_at or datetime.fromtimestamp(0, UTC),
        started_at=trial.started_at,
        trace=trace,
        grades=[grade] if grade else [],
        overall_score=score,
        passed=trace.outcome is Outcome.COMPLETED and score >= PASS_SCORE,
        fingerprints=Fingerprints(
            task=trial.task_checksum or "",
            # Without a lock nothing says that the folder still holds what ran.
            task_content=task.content if task and (folder / "lock.json").is_file() else "",
            config=_agent_hash(trial),
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
        conditions=_conditions(trial, task, grade.verifier if grade else None),
        batch=batch,
        run_id=trial.run_id,
        source=str(folder),
    )


def _conditions(trial: Trial, task: TaskFolder | None, metrics: VerifierMetrics | None) -> Conditions:
    agent, config = trial.agent_info or AgentInfo(), trial.config
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
        agent_settings=_hash({key: value for key, value in settings.items() if value not in (None, [], {}, False)}),
        base_image=task.base_image if task else None,
        verifier_mode=trial.verifier_environment_mode or (task.toml.verifier.environment_mode if task else None),
        scoring=metrics.scoring if metrics else None,
        scoring_version=metrics.scoring_version if metrics else None,
        agent_timeout_seconds=timeout,
        cpus=config.environment.override_cpus or environment.cpus,
        memory_mb=config.environment.override_memory_mb or environment.memory_mb,
    )


def _batches(folders: Iterable[Path]) -> dict[Path, Batch]:
    """Describe the job of each trial folder, by the job's folder."""
    present = Counter(folder.parent for folder in folders)
    batches = {}
    for job, count in present.items():
        told = read_job(job)
        batches[job] = Batch(
            name=job.name,
            planned=told.n_total_trials,
            present=count,
            # Only a file that says how many trials were planned says whether they are done.
            finished=told.finished_at is not None if "finished_at" in told.model_fields_set else None,
            retries=told.n_retries,
        )
    return batches


def _grade(folder: Path, trial: Trial, output: str) -> GradeResult | None:
    reward = reward_of(folder, trial)
    if reward is None:
        return None
    metrics = _metrics(folder)
    components = metrics.components if metrics else {}
    return GradeResult(
        assertion_id=REWARD,
        assertion_type="code",
        assertion_name="verifier",
        passed=reward >= PASS_SCORE,
        score=reward,
        details=f"reward {reward:g}",
        full_output=output,
        criteria_scores=[
            CriterionScore(criterion=name, score=float(value))
            for name, value in (components or trial.rewards).items()
            if isinstance(value, int | float) and 0 <= value <= 1 and (components or name != REWARD)
        ],
        verifier=metrics,
        weight=1.0,
        duration_seconds=(trial.verifier.seconds if trial.verifier else None) or 0.0,
    )


def _test_output(folder: Path) -> str:
    output = left_by_agent(folder, TEST_OUTPUT, MOST_OUTPUT_BYTES, cut=True) or b""
    return output.decode("utf-8", errors="replace")


def _metrics(folder: Path) -> VerifierMetrics | None:
    """Read what the verifier reports besides its reward; None without the file, or if another benchmark wrote it."""
    path = "verifier/metrics.json"
    content = left_by_agent(folder, path, MOST_OUTPUT_BYTES)
    if content is None:
        return None
    told = read(folder / path, RootModel[object], content).root
    try:
        return VerifierMetrics.model_validate(told)
    except ValidationError:
        return None


def _config_names(found: Iterable[tuple[Path, Trial]]) -> dict[str, str]:
    """Name each config after its job, and after its agent too if the job has several."""
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
    """Hash the agent's configuration without its model, which a result names separately."""
    return _hash(trial.config.agent.model_dump(mode="json", exclude_unset=True, exclude={"model_name"}))


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _agent_label(trial: Trial) -> str:
    agent = trial.config.agent
    name = (trial.agent_info and trial.agent_info.name) or agent.name or "agent"
    return "+".join([name, *(server.name for server in agent.mcp_servers or [])])


def _model(trial: Trial) -> str:
    reported = trial.agent_info.model_info if trial.agent_info else None
    return (reported and reported.name) or trial.config.agent.model_name or "none"
