"""Which jobs of a folder are one config: those that ran it on other tasks, or ran its lost trials again."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from locobench.shared.grouping import grouped
from measure.records import Batch, EvalResult

Job = list[EvalResult]
"""The runs of one config in one job."""


def join_jobs(results: Iterable[EvalResult], folder: Path) -> list[EvalResult]:
    """Join the jobs of a folder that ran one agent with the same servers and skills, under the folder's name.

    Each task of a later job must be new, or have as many lost trials in earlier jobs as runs in the later one. The
    later run then replaces the lost one and keeps its cost. If a job repeats a measured run, the jobs are repetitions,
    or arms whose difference Harbor does not record, and keep their own names.
    """
    jobs = grouped(results, lambda result: (result.config_name, Path(result.source).parent))
    groups = [sorted(group, key=_start) for group in grouped(jobs.values(), _setup).values()]
    joined = [(group, _runs_that_count(group, folder)) for group in groups]
    several = sum(runs is not None for _, runs in joined) > 1
    name = folder.resolve().name
    found: list[EvalResult] = []
    for group, together in joined:
        if together is None:
            found += [run for job in group for run in job]
        else:
            label = "+".join([together[0].conditions.agent or "agent", *(together[0].trace.offered.servers or {})])
            found += _as_one(group, together, f"{name}/{label}" if several else name)
    return found


def _start(runs: Job) -> datetime:
    return min(run.started_at or run.timestamp for run in runs)


def _setup(runs: Job) -> tuple[str, ...]:
    """Return what the runs' agent was set up with."""
    servers, skills = (
        sorted({name for run in runs for name in getattr(run.trace.offered, kind) or ()})
        for kind in ("servers", "skills")
    )
    return (runs[0].fingerprints.config, *servers, "/", *skills)


def _runs_that_count(group: Sequence[Job], folder: Path) -> Job | None:
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


def _as_one(group: Sequence[Job], runs: Job, name: str) -> Iterable[EvalResult]:
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
