"""Add to the candidates what the user's own agent earned on them in a pilot: a job with one arm and one run each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from locobench.selection.criteria import Candidate, Pilot
from locobench.shared.errors import InputError


def with_pilot(candidates: Iterable[Candidate], measured: Mapping[str, Pilot], job: Path) -> list[Candidate]:
    """Return the candidates with what was measured on them.

    Args:
        candidates: all tasks of the dataset.
        measured: by name of the task; a registry writes `-` for `_`.
        job: where it was read, for the error.

    Raises:
        InputError: none of the tasks measured is a candidate.
    """
    by_name = {name.replace("_", "-"): pilot for name, pilot in measured.items()}
    found = [replace(task, pilot=by_name.get(task.id.replace("_", "-"))) for task in candidates]
    if not any(task.pilot for task in found):
        raise InputError(f"{job}: no measured run of any task of the dataset; name a job of its tasks")
    return found
