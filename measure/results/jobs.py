"""Which runs of Harbor's jobs are one config: those of an agent in a job, and of jobs that continue each other.

A config is named after its job, and after its agent too if the job has several. Jobs of a folder that ran one agent on
other tasks, or ran its lost trials again, are one config, named after the folder.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from locobench.harbor.files import read_or_warn
from locobench.harbor.trial import Job
from locobench.shared.errors import InputError
from locobench.shared.grouping import grouped
from measure.records import Batch, EvalResult

Runs = list[EvalResult]


def as_configs(results: Sequence[EvalResult], folder: Path) -> Iterator[EvalResult]:
    """Yield the trials in a folder under the names of their configs, each with its batch.

    Each task of a later job must be new, or have as many lost trials in earlier jobs as runs in the later one. The
    later run then replaces the lost one and keeps its cost. If a job repeats a measured run, the jobs are repetitions,
    or arms whose difference Harbor does not record, and keep their own names.

    Raises:
        InputError: a job ran two tasks of one name, whose runs would be taken for runs of one task.
    """
    jobs = grouped(results, lambda run: Path(run.source).parent)
    arms = [arm for job, runs in jobs.items() for arm in _arms(job, runs)]
    groups = [sorted(group, key=_start) for group in grouped(arms, _setup).values()]
    together = [_runs_that_count(group, folder) for group in groups]
    several = sum(runs is not None for runs in together) > 1
    for group, runs in zip(groups, together, strict=True):
        if runs is None:
            yield from (run for arm in group for run in arm)
        else:
            name = folder.resolve().name
            yield from _as_one(group, runs, f"{name}/{_label(runs)}" if several else name)


def _arms(job: Path, runs: Runs) -> list[Runs]:
    """Return the runs of a job by its agents' configurations, with their names and the job as their batch."""
    tasks = grouped(runs, lambda run: run.task_id)
    for task, of_task in tasks.items():
        if len({run.fingerprints.task for run in of_task} - {""}) > 1:
            raise InputError(
                f"{job}: ran two tasks that are called {task}, or two versions of it; rename one and run it again, or "
                "keep the trials of one"
            )
    file, name = job / "result.json", job.resolve().name
    told = (read_or_warn(file, Job) if file.is_file() else None) or Job()
    # Only a file that says how many trials were planned says whether they are done.
    finished = told.finished_at is not None if "finished_at" in told.model_fields_set else None
    batch = Batch(name=name, planned=told.n_total_trials, present=len(runs), finished=finished)
    agents = sorted(grouped(runs, lambda run: run.fingerprints.config).values(), key=_label)
    labels = list(map(_label, agents))
    found = []
    for number, of_agent in enumerate(agents):
        before = labels[:number].count(labels[number])
        own = f"{name}/{labels[number]}{f'#{before + 1}' if before else ''}" if len(agents) > 1 else name
        found.append([run.model_copy(update={"config_name": own, "batch": batch}) for run in of_agent])
    return found


def _label(runs: Runs) -> str:
    """Return the agent of runs and its servers."""
    return "+".join([runs[0].conditions.agent or "agent", *(runs[0].trace.offered.servers or {})])


def _start(runs: Runs) -> datetime:
    return min(run.started_at or run.timestamp for run in runs)


def _setup(runs: Runs) -> tuple[str, ...]:
    """Return what the runs' agent was set up with."""
    servers, skills = (
        sorted({name for run in runs for name in getattr(run.trace.offered, kind) or ()})
        for kind in ("servers", "skills")
    )
    return (runs[0].fingerprints.config, *servers, "/", *skills)


def _runs_that_count(group: Sequence[Runs], folder: Path) -> Runs | None:
    """Return the runs that count if the jobs are one config; None if they are not, or there is only one."""
    if len(group) < 2:
        return None
    kept, replaced = list(group[0]), 0
    for runs in group[1:]:
        lost = grouped((run for run in kept if not run.measured), _slot)
        known, again = {_slot(run) for run in kept}, Counter(map(_slot, runs))
        if any(key in known and count > len(lost.get(key, ())) for key, count in again.items()):
            return None
        for run in runs:
            old = lost[_slot(run)].pop() if _slot(run) in known else None
            if old:
                kept = [other for other in kept if other is not old]
                replaced += 1
            kept.append(_with_cost_of(old, run) if old else run)
    if replaced:
        warnings.warn(
            f"{folder}: lost trials that a later job ran again count as the later run: {replaced}", stacklevel=3
        )
    return kept


def _slot(run: EvalResult) -> tuple[str, str]:
    return run.task_id, run.model


def _with_cost_of(old: EvalResult, new: EvalResult) -> EvalResult:
    """Return the later run with the cost of the lost one."""
    cost = new.retry_cost_usd + old.retry_cost_usd + (old.cost_usd or 0.0)
    return new.model_copy(update={"attempts": old.attempts + 1, "retry_cost_usd": cost})


def _as_one(group: Sequence[Runs], runs: Runs, name: str) -> Iterator[EvalResult]:
    """Give all runs one config and one batch. Runs that a job never started are not missing if a later job has them."""
    batches = [job[0].batch for job in group if job[0].batch]
    started = sum(max(0, (batch.planned or 0) - (batch.present or 0)) for batch in batches)
    added = len({_slot(run) for run in runs}) - len({_slot(run) for run in group[0]})
    missing = max(0, started - added)
    batch = Batch(
        name=name,
        planned=len(runs) + missing if any(batch.planned is not None for batch in batches) else None,
        present=len(runs),
        finished=None if all(batch.finished is None for batch in batches) else not missing,
    )
    return (run.model_copy(update={"config_name": name, "batch": batch}) for run in runs)
