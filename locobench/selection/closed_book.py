"""Add to the candidates what agents earned without the code: `run_adapter.py --closed_book`, run with Harbor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from locobench.harbor.task import TaskToml
from locobench.harbor.trial import BY_NAME, Trial, trials
from locobench.selection.criteria import Candidate
from locobench.shared.errors import InputError


def with_closed_rewards(candidates: Iterable[Candidate], job: Path) -> list[Candidate]:
    """Return the candidates with their mean rewards in a Harbor job folder of tasks without the code.

    Trials without a reward were not graded and are ignored.

    Raises:
        InputError: it is not a job folder, a trial cannot be read, its task has the code (if its folder still exists),
            or none is of a candidate.
    """
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    for trial in trials(job):
        if _has_code(trial.result):
            raise InputError(f"{trial.path}: of a task with the code; name the job of the tasks without it")
        reward = BY_NAME.of(trial)
        if reward is not None:
            rewards[trial.result.task_name.rpartition("/")[2]].append(reward)
    if not rewards:
        raise InputError(f"{job}: holds no graded trial; name the folder of one job, jobs/<job>")
    means = {name: fmean(values) for name, values in rewards.items()}
    # Harbor uses the task's name in task.toml, which has no underscores.
    found = [replace(task, closed_reward=means.get(task.id.replace("_", "-"))) for task in candidates]
    if all(task.closed_reward is None for task in found):
        raise InputError(f"{job}: says nothing of any task of the dataset")
    return found


def _has_code(trial: Trial) -> bool:
    """Return whether a trial's task is known to have the code: its folder may be gone, or may not say."""
    try:
        return trial.task_path is not None and TaskToml.read(trial.task_path).metadata.closed_book is False
    except InputError:
        return False
