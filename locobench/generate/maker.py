"""The interface between a generation run and the adapter that makes the tasks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from locobench.generate.project import Known


class Made(NamedTuple):
    """The outcome of one task."""

    task_id: str
    status: Literal["written", "unchanged", "repaired", "failed"]
    reason: str = ""
    """Why it failed, or which of its files had changed since it was written."""
    warnings: tuple[str, ...] = ()


class ProjectTasks(NamedTuple):
    """Tasks that share a project."""

    folder: Path
    """The project's folder."""
    task_ids: list[str]


class TaskMaker(Protocol):
    """Makes the tasks of a dataset."""

    output_dir: Path

    def group_by_project(self, task_ids: Iterable[str]) -> list[ProjectTasks]:
        """Group the tasks by project; raise InputError if an id is not in the dataset."""

    def generate_group(self, group: ProjectTasks, known: Known | None = None) -> tuple[list[Made], Known | None]:
        """Make the tasks of one project; return their outcomes and what is now known about the project."""
