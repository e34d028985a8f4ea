"""What generation needs of whoever makes the tasks, and what it is told of each task."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from locobench.generate.project import Known


class Outcome(NamedTuple):
    """What became of one task."""

    task_id: str
    status: Literal["written", "unchanged", "failed"]
    reason: str = ""
    """Why it failed."""
    warnings: tuple[str, ...] = ()


class ProjectTasks(NamedTuple):
    """Tasks that share a project."""

    folder: Path
    """Where the project lies."""
    task_ids: list[str]


class TaskMaker(Protocol):
    """Makes the tasks of a dataset."""

    output_dir: Path

    def group_by_project(self, task_ids: Iterable[str]) -> list[ProjectTasks]:
        """Return the tasks by their projects; InputError when an id is not in the dataset."""

    def generate_group(self, group: ProjectTasks, known: Known | None = None) -> tuple[list[Outcome], Known | None]:
        """Make the tasks of one project; return their outcomes and what is now known of the project."""
