"""Add to the candidates what agents earned on them: in a pilot, or without the code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from locobench.selection.criteria import Candidate, Pilot
from locobench.shared.errors import InputError


def with_pilot(candidates: Iterable[Candidate], measured: Mapping[str, Pilot], job: Path) -> list[Candidate]:
    """Return the candidates with what the user's own agent earned on them; see `_with`."""
    return [replace(task, pilot=found) for task, found in _with(candidates, measured, job)]


def with_closed_rewards(candidates: Iterable[Candidate], measured: Mapping[str, Pilot], job: Path) -> list[Candidate]:
    """Return the candidates with what an agent earned on them without the code; see `_with`."""
    return [
        replace(task, closed_reward=found.mean if found else None) for task, found in _with(candidates, measured, job)
    ]


def _with(
    candidates: Iterable[Candidate], measured: Mapping[str, Pilot], job: Path
) -> list[tuple[Candidate, Pilot | None]]:
    """Return each candidate with what was measured on it.

    Args:
        measured: by name of the task; a registry writes `-` for `_`.
        job: where it was read, for the error.

    Raises:
        InputError: none of the tasks measured is a candidate.
    """
    by_name = {name.replace("_", "-"): pilot for name, pilot in measured.items()}
    found = [(task, by_name.get(task.id.replace("_", "-"))) for task in candidates]
    if not any(pilot for _, pilot in found):
        raise InputError(f"{job}: no measured run of any task of the dataset; name a job of its tasks")
    return found
