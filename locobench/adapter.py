"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from locobench.dataset.loader import LoCoBenchLoader, LoCoBenchTask, UnknownTaskError
from locobench.dataset.records import DatasetError
from locobench.dataset.scenario import folder_name
from locobench.generate.fingerprint import content_fingerprint, fingerprint
from locobench.generate.folder import NotOurs, stored_fingerprint, write_task
from locobench.generate.make import Options, make_task, render_dockerfile
from locobench.generate.maker import Made, ProjectTasks
from locobench.generate.project import Known, Project
from locobench.scoring.grading import GradingError
from locobench.shared.errors import InputError
from locobench.shared.terminal import first_few

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Made",
    "UnknownTaskError",
]


class LoCoBenchAdapter:
    """Writes tasks as Harbor task directories `output_dir`/<id>/, with projects from `data_dir`/generated/."""

    def __init__(
        self,
        loader: LoCoBenchLoader,
        output_dir: Path,
        data_dir: Path,
        options: Options | None = None,
        *,
        overwrite: bool = False,
    ) -> None:
        self.loader = loader
        self.output_dir = Path(output_dir)
        self.data_dir = Path(data_dir)
        self.options = options or Options()
        self.overwrite = overwrite

    def generate(self, task_ids: Iterable[str]) -> Iterator[Made]:
        """Generate tasks one after the other, grouped by project; a failed task does not stop the others.

        Raises:
            UnknownTaskError: an id is not in the dataset (raised before anything is written).
            OSError: the output folder cannot be created.
        """
        groups = self.group_by_project(task_ids)
        self.output_dir.mkdir(parents=True, exist_ok=True)
        for group in groups:
            yield from self.generate_group(group)[0]

    def group_by_project(self, task_ids: Iterable[str]) -> list[ProjectTasks]:
        """Group the ids by project, so that each is read once; raise UnknownTaskError if one is not in the dataset."""
        groups: dict[Path, ProjectTasks] = {}
        for task_id in self.loader.require(task_ids):
            folder = self._get_project_dir(task_id)
            groups.setdefault(folder, ProjectTasks(folder, [])).task_ids.append(task_id)
        return list(groups.values())

    def generate_group(self, group: ProjectTasks, known: Known | None = None) -> tuple[list[Made], Known | None]:
        """Generate tasks that share one project.

        Args:
            known: what an earlier call returned for this project.

        Returns:
            The outcomes, and what spares the next call reading the project again.
        """
        outcomes: list[Made] = []
        project: Project | None = None
        copies: dict[str, Path] = {}
        for task_id in group.task_ids:
            try:
                if project is None:
                    project = Project.scan(group.folder, known)
                outcomes.append(self.generate_task(task_id, project=project, copies=copies, known=known))
            except (InputError, GradingError, NotOurs) as error:
                outcomes.append(Made(task_id, "failed", str(error)))
            except OSError as error:
                reason = f"{error.filename or self.output_dir}: {error.strerror or error}"
                outcomes.append(Made(task_id, "failed", reason))
        # Scan last: a hard link made for a later task changes the state of an earlier task's files.
        whole = [outcome.task_id for outcome in outcomes if outcome.status != "failed"]
        states = {task_id: Project.scan(self.output_dir / task_id).state for task_id in whole}
        seen = {**(known.tasks if known else {}), **states}
        return outcomes, Known(project.state, project.content, seen) if project and whole else None

    def generate_task(
        self,
        task_id: str,
        local_task_id: str | None = None,
        *,
        project: Project | None = None,
        copies: dict[str, Path] | None = None,
        known: Known | None = None,
    ) -> Made:
        """Write one task's directory, unless it already exists, is intact and was made from the same input.

        Args:
            local_task_id: the directory's name, as in Harbor's adapters; the task's id by default.
            project: the task's project, if already scanned.
            copies: copies of the project made in this run, by root folder, to hard-link to.
            known: what an earlier `generate_group` returned; untouched tasks are then not read again.

        Raises:
            UnknownTaskError, DatasetError: the record is missing or invalid.
            InputError: there is no table for its language, or `local_task_id` is not a valid folder name.
            GradingError: answers cannot be scored against the ground truth.
            NotOurs: a folder that was not generated has the task's name.
            OSError: a file cannot be read or written.
        """
        line = self.loader.line(task_id)
        if project is None:
            project = Project.scan(self._get_project_dir(task_id))
        name = task_id if local_task_id is None else local_task_id
        try:
            folder = self.output_dir / folder_name(name)
        except ValueError as error:
            raise InputError(f"{name!r}: {error}") from None
        made_from = (line, self.loader.entry(task_id).language, project.content, self.options)
        digest = fingerprint(*made_from)
        is_current = stored_fingerprint(folder) == digest and not self.overwrite
        if is_current and known and known.tasks.get(task_id) == Project.scan(folder).state:
            return Made(task_id, "unchanged")

        task = self.loader.load(task_id)
        mapping = project.mapping(task.context_files)
        files = make_task(task, mapping, self.options, digest, content_fingerprint(*made_from))
        self.output_dir.mkdir(parents=True, exist_ok=True)
        twin = (copies or {}).get(mapping.root)
        copy, damage = write_task(folder, files, mapping, self.options, twin=twin, is_current=is_current)
        if copies is not None and copy is not None:
            copies.setdefault(mapping.root, copy)
        if damage:
            return Made(task_id, "repaired", first_few(damage))
        return Made(task_id, "unchanged") if is_current else Made(task_id, "written", warnings=mapping.warnings)

    def _get_project_dir(self, task_id: str) -> Path:
        """Return the task's project folder below generated/."""
        return self.data_dir / "generated" / self.loader.entry(task_id).project_id

    def _generate_dockerfile(self, language: str) -> str:
        """Return a language's Dockerfile: the shared base layer, the language's packages, the project."""
        return render_dockerfile(language, self.options)
