"""Add measurements to the candidates: rewards with and without the code, and audits of the ground truths."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from locobench.dataset.records import parse_object
from locobench.harbor.task import TaskToml
from locobench.harbor.trial import Trial, reward_of, trials
from locobench.selection.criteria import Candidate
from locobench.shared.errors import InputError


def with_measures(
    candidates: Iterable[Candidate],
    *,
    open_book: Path | None = None,
    closed_book: Path | None = None,
    audit: Path | None = None,
) -> list[Candidate]:
    """Return the candidates with the measurements from these files.

    Args:
        open_book: a Harbor job folder for tasks with the code.
        closed_book: a Harbor job folder for tasks generated without it.
        audit: a JSONL with `id` and `truth` (0-100) on each line; an id's last line counts.

    Raises:
        InputError: a file cannot be read, or mentions none of the candidates.
    """
    found = list(candidates)
    # Harbor uses the task's name in task.toml, which has no underscores.
    names = {task.id.replace("_", "-"): task.id for task in found} | {task.id: task.id for task in found}

    def known(path: Path, values: dict[str, float]) -> dict[str, float]:
        values = {names[name]: value for name, value in values.items() if name in names}
        if not values:
            raise InputError(f"{path}: says nothing of any task of the dataset")
        return values

    opened = known(open_book, read_rewards(open_book, closed_book=False)) if open_book else {}
    closed = known(closed_book, read_rewards(closed_book, closed_book=True)) if closed_book else {}
    truths = known(audit, read_audit(audit)) if audit else {}
    return [
        replace(task, open_reward=opened.get(task.id), closed_reward=closed.get(task.id), truth=truths.get(task.id))
        for task in found
    ]


def read_rewards(job: Path, *, closed_book: bool) -> dict[str, float]:
    """Return the mean reward of each task in a job, by the task's name without `locobench/`.

    Trials without a reward were not graded and are ignored.

    Args:
        closed_book: whether the tasks must be without the code; this is checked if their folders still exist.

    Raises:
        InputError: it is not a job folder, a trial cannot be read, or the tasks are of the other kind.
    """
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    other = "" if closed_book else "out"
    for folder, trial in trials(job):
        if _is_closed_book(trial) is (not closed_book):
            raise InputError(f"{folder}: of a task with{other} the code; swap the two jobs, or name another")
        reward = reward_of(folder, trial)
        if reward is not None:
            rewards[trial.task_name.rpartition("/")[2]].append(reward)
    if not rewards:
        raise InputError(f"{job}: holds no graded trial; name the folder of one job, jobs/<job>")
    return {name: fmean(values) for name, values in rewards.items()}


def _is_closed_book(trial: Trial) -> bool | None:
    """Return whether a trial's task is without the code; None if its folder does not say or is gone."""
    try:
        return TaskToml.read(trial.task_path).metadata.closed_book if trial.task_path else None
    except InputError:
        return None


def read_audit(path: Path) -> dict[str, float]:
    """Return how well each task's ground truth fits its code (0-100), by id.

    Raises:
        InputError: the file cannot be read, or a line is not an audit entry.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    truths: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = parse_object(line)
            truth = entry["truth"]
            if isinstance(truth, bool) or not isinstance(truth, int | float) or not 0 <= truth <= 100:
                raise ValueError(f"truth: {json.dumps(truth)[:40]} is not a number from 0 to 100")
            truths[str(entry["id"])] = float(truth)
        except (KeyError, ValueError) as error:
            what = f"{error} missing" if isinstance(error, KeyError) else error
            raise InputError(f"{path}:{number}: {what}; write an id and a truth (0 to 100)") from None
    return truths
