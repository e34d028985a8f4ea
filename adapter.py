"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

from locobench.dataset.benchmark import complete
from locobench.dataset.records import parse_object, read_dataset
from locobench.dataset.scenario import Scenario, folder_name, plain_name
from locobench.generate.folder import output_folder, write_task
from locobench.generate.make import make_task, render_dockerfile
from locobench.generate.options import Options
from locobench.generate.project import Project
from locobench.generate.workers import spread
from locobench.shared.errors import InputError
from locobench.shared.grouping import grouped
from locobench.shared.installation import EXTRACT

__all__ = [
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Options",
    "TaskOutcome",
]


class LoCoBenchTask(Scenario):
    """One scenario of the benchmark as a record."""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build the record from a line of the JSONL or from a raw scenario.

        Raises:
            InputError: a field is missing or wrong; the message names it.
        """
        return cls.from_record(data if "project_id" in data else complete(data, data.get("id", "")))


class LoCoBenchLoader:
    """Finds tasks in the JSONL written by extract_dataset.py.

    Only an index is kept in memory; records are read from the file on demand.

    Raises:
        InputError: the file cannot be read, or a line has no id or repeats one.
    """

    def __init__(self, dataset_path: Path) -> None:
        path = self.dataset_path = Path(dataset_path)
        if path.is_fifo():
            raise InputError(f"{path}: a pipe cannot be read again; name a file")
        self._lines = read_dataset(path, _read_names)

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[LoCoBenchTask]:
        """Yield all tasks in file order, holding one in memory at a time."""
        return map(self.load, self._lines)

    def all_ids(self) -> list[str]:
        """Return the ids in file order (sorted, if extract_dataset.py wrote the file)."""
        return list(self._lines)

    def load(self, task_id: str) -> LoCoBenchTask:
        """Return one task.

        Raises:
            InputError: there is no such id, or its record does not validate.
        """
        number, offset, _ = self._lines[self.require([task_id])[0]]
        with self.dataset_path.open("rb") as stream:
            stream.seek(offset)
            line = stream.readline()
        try:
            return LoCoBenchTask.from_record(parse_object(line))
        except InputError as error:
            raise InputError(f"{self.dataset_path}:{number}: {error}") from None

    def project_id(self, task_id: str) -> str:
        """Return the folder of a task's project under generated/; raise InputError if there is no such task."""
        return self._lines[self.require([task_id])[0]][2]

    def require(self, task_ids: Iterable[str]) -> list[str]:
        """Return `task_ids` without duplicates, in order.

        Raises:
            InputError: some are not in the dataset; the error names them all.
        """
        wanted = list(dict.fromkeys(task_ids))
        if unknown := [task_id for task_id in wanted if task_id not in self._lines]:
            raise InputError(
                f"{self.dataset_path}: no task with id {', '.join(sorted(unknown))}; --dataset_path names the dataset,"
                f" {EXTRACT} writes it"
            )
        return wanted


def _read_names(line: bytes) -> tuple[str, str]:
    """Return a record's id and project: both become folder names before the rest of it is validated."""
    record = parse_object(line)
    for name in ("id", "project_id"):
        if name not in record:
            raise InputError(f"field {name!r} missing")
    return plain_name(str(record["id"])), folder_name(str(record["project_id"]))


class TaskOutcome(NamedTuple):
    """The outcome of one task."""

    task_id: str
    status: Literal["written", "unchanged", "failed"]
    reason: str = ""
    """Why it failed."""
    warnings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Its context files that do not exist; they are neither shown nor scored."""


class LoCoBenchAdapter:
    """Writes tasks as Harbor task directories `output_dir`/<id>/, with projects from `data_dir`/generated/."""

    NAME: ClassVar[str] = "locobench-agent"
    """The adapter's name among Harbor's adapters."""

    def __init__(
        self, loader: LoCoBenchLoader, output_dir: Path, data_dir: Path, options: Options | None = None
    ) -> None:
        self.loader = loader
        self.output_dir = Path(output_dir)
        self.data_dir = Path(data_dir)
        self.options = options or Options()

    def generate(self, task_ids: Iterable[str], *, jobs: int | None = None) -> Iterator[TaskOutcome]:
        """Generate tasks and yield each outcome as it is known; a failed task does not stop the others.

        Args:
            jobs: number of processes; default one per processor. Tasks of one project share a process.

        Raises:
            InputError: an id is not in the dataset (raised before anything is written), the output folder cannot be
                written, or another run is writing to it.
        """
        projects = list(self.group_by_project(task_ids).items())
        with output_folder(self.output_dir):
            for (_, ids), outcomes in spread(self._generate_project, projects, jobs or os.cpu_count() or 1):
                reason = "a worker process was killed (out of memory?); run again to finish"
                yield from outcomes or (TaskOutcome(task_id, "failed", reason) for task_id in ids)

    def group_by_project(self, task_ids: Iterable[str]) -> dict[Path, list[str]]:
        """Return the ids by their project's folder; raise InputError if one is not in the dataset."""
        return grouped(self.loader.require(task_ids), self._get_project_dir)

    def _generate_project(self, tasks: tuple[Path, list[str]]) -> list[TaskOutcome]:
        """Generate the tasks of one project, which is read once, and return their outcomes."""
        folder, task_ids = tasks
        outcomes: list[TaskOutcome] = []
        project: Project | None = None
        for task_id in task_ids:
            try:
                project = project or Project.scan(folder)
                outcomes.append(self.generate_task(task_id, project=project))
            except InputError as error:
                outcomes.append(TaskOutcome(task_id, "failed", str(error)))
            except OSError as error:
                reason = f"{error.filename or self.output_dir}: {error.strerror or error}"
                outcomes.append(TaskOutcome(task_id, "failed", reason))
        return outcomes

    def generate_task(
        self,
        task_id: str,
        local_task_id: str | None = None,
        *,
        project: Project | None = None,
    ) -> TaskOutcome:
        """Write one task's directory, unless the same task is already there.

        Args:
            local_task_id: the directory's name, as in Harbor's adapters; the task's id by default.
            project: the task's project, if already scanned.

        Raises:
            InputError: the record is missing or invalid, there is no table for its language, `local_task_id` is not a
                valid folder name, answers cannot be scored against the ground truth, or a folder that was not generated
                has the task's name.
            OSError: a file cannot be read or written.
        """
        name = task_id if local_task_id is None else local_task_id
        try:
            folder = self.output_dir / folder_name(name)
        except ValueError as error:
            raise InputError(f"{name!r}: {error}") from None
        task = self.loader.load(task_id)
        mapping = (project or Project.scan(self._get_project_dir(task_id))).mapping(task.context_files)
        is_new = write_task(folder, make_task(task, mapping, self.options), mapping, self.options)
        return TaskOutcome(task_id, "written" if is_new else "unchanged", "", mapping.warnings, mapping.missing)

    def _get_project_dir(self, task_id: str) -> Path:
        """Return the task's project folder below generated/."""
        return self.data_dir / "generated" / self.loader.project_id(task_id)

    def _generate_dockerfile(self, language: str) -> str:
        """Return a language's Dockerfile: the shared base layer, the language's packages, the project."""
        return render_dockerfile(language, self.options)
