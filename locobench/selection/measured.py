"""What runs and audits have shown of the candidates: rewards with and without the code, how true the truths are."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from locobench.dataset.records import RecordError, parse_object
from locobench.selection.criteria import Candidate
from locobench.shared import toml
from locobench.shared.errors import InputError


def with_measures(
    candidates: Iterable[Candidate],
    *,
    open_book: Path | None = None,
    closed_book: Path | None = None,
    audit: Path | None = None,
) -> list[Candidate]:
    """Return the candidates with what the files say of them.

    Args:
        open_book: a job folder of Harbor, of tasks with the code.
        closed_book: a job folder of Harbor, of tasks that were generated without it.
        audit: a JSONL with `id` and `truth` (0-100) on each line; the last line of an id counts.

    Raises:
        InputError: a file cannot be read, or says nothing of any candidate.
    """
    found = list(candidates)
    # Harbor knows a task by its name in task.toml, which has no underscores.
    names = {task.id.replace("_", "-"): task.id for task in found}
    opened, closed = (
        _of_candidates(job, read_rewards(job, closed_book=without), names) if job else {}
        for job, without in ((open_book, False), (closed_book, True))
    )
    truths = _of_candidates(audit, read_audit(audit), {task.id: task.id for task in found}) if audit else {}
    return [
        replace(task, open_reward=opened.get(task.id), closed_reward=closed.get(task.id), truth=truths.get(task.id))
        for task in found
    ]


def read_rewards(job: Path, *, closed_book: bool) -> dict[str, float]:
    """Return the mean reward of each task of a job, by the task's name without `locobench/`.

    A trial without a reward was not graded and counts for nothing.

    Args:
        closed_book: whether the tasks should be without the code; they are looked at where they still lie.

    Raises:
        InputError: no job folder, a trial that cannot be read, or a job of the other kind of tasks.
    """
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    other = "" if closed_book else "out"
    for path in sorted(job.glob("*/result.json")):
        trial = _read_trial(path)
        if trial.closed_book is (not closed_book):
            raise InputError(f"{path}: of a task with{other} the code; swap the two jobs, or name another")
        if trial.reward is not None:
            rewards[trial.task].append(trial.reward)
    if not rewards:
        raise InputError(f"{job}: holds no graded trial; name the folder of one job, jobs/<job>")
    return {name: fmean(values) for name, values in rewards.items()}


class _Trial(NamedTuple):
    task: str
    reward: float | None
    closed_book: bool | None
    """Whether its task is one without the code; None when the task's folder does not tell."""


def _read_trial(path: Path) -> _Trial:
    try:
        trial = parse_object(path.read_bytes())
        rewards = (trial["verifier_result"] or {}).get("rewards") or {}
        reward = _number(rewards["reward"], 0, 1) if "reward" in rewards else None
        return _Trial(str(trial["task_name"]).rpartition("/")[2], reward, _is_closed_book(trial))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: no trial of Harbor ({error!r})") from None


def _is_closed_book(trial: dict[str, Any]) -> bool | None:
    try:
        config = toml.loads((Path(trial["task_id"]["path"]) / "task.toml").read_text(encoding="utf-8"))
        return config["metadata"]["closed_book"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_audit(path: Path) -> dict[str, float]:
    """Return how true (0-100) each task's ground truth is of its code, by id.

    Raises:
        InputError: the file cannot be read, or a line is no entry of an audit.
    """
    truths: dict[str, float] = {}
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    entry = parse_object(line)
                    truths[str(entry["id"])] = _number(entry["truth"], 0, 100)
                except (RecordError, KeyError, TypeError, ValueError) as error:
                    what = f"{error} missing" if isinstance(error, KeyError) else error
                    raise InputError(
                        f"{path}:{number}: {what}; write it again with `python -m harness audit`"
                    ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return truths


def _number(value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{json.dumps(value)[:40]} is no number")
    if not least <= value <= most:
        raise ValueError(f"{value} is not from {least:g} to {most:g}")
    return float(value)


def _of_candidates(path: Path, values: Mapping[str, float], ids: Mapping[str, str]) -> dict[str, float]:
    known = {ids[name]: value for name, value in values.items() if name in ids}
    if not known:
        raise InputError(f"{path}: says nothing of any task of the dataset")
    return known
