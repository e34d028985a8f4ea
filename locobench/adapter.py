"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from locobench.dataset.benchmark import complete
from locobench.dataset.lines import DatasetError, DatasetLines, Entry, Line
from locobench.dataset.records import RecordError, parse_object
from locobench.dataset.scenario import Scenario, folder_name
from locobench.generate.maker import Made, ProjectTasks
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT
from locobench.shared.terminal import first_few

# Task generation is imported where it is used, so that reading records does not load templates and verifier.
if TYPE_CHECKING:
    from locobench.generate.make import Options
    from locobench.generate.project import Known, Project

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Made",
    "UnknownTaskError",
]


class UnknownTaskError(InputError, KeyError):
    """The dataset does not contain these ids; `ids` lists them."""

    def __init__(self, ids: Iterable[str], dataset: Path) -> None:
        self.ids = sorted(ids)
        super().__init__(
            f"{dataset}: no task with id {', '.join(self.ids)}; --dataset_path names the dataset, {EXTRACT} writes it"
        )

    def __str__(self) -> str:
        # A KeyError shows its key's repr.
        return str(self.args[0])


class LoCoBenchTask(Scenario):
    """One scenario of the benchmark as a record, built from its raw file or its line in the JSONL."""

    @classmethod
    def from_scenario(cls, data: dict[str, Any], name: str) -> Self:
        """Build the record from a raw scenario whose file is called `<name>.json`.

        Raises:
            RecordError: a field is missing or wrong, or the id is not the file's name.
        """
        return cls.checked(complete(data, name))

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read one line of the JSONL.

        Raises:
            RecordError: a field is missing or wrong.
        """
        return cls.checked(parse_object(line))


class LoCoBenchLoader:
    """Finds tasks in the JSONL written by extract_dataset.py.

    Only an index is kept in memory (about 250 bytes per task); records are read from the file on demand.

    Raises:
        DatasetError: the file cannot be read, or a line has no id or repeats one.
    """

    def __init__(self, dataset_path: Path) -> None:
        self.dataset_path = Path(dataset_path)
        self._lines = DatasetLines(self.dataset_path)

    def __len__(self) -> int:
        return len(self._lines.entries)

    def __iter__(self) -> Iterator[LoCoBenchTask]:
        """Yield all tasks in file order, holding one in memory at a time."""
        return map(_task, self._lines)

    def all_ids(self) -> list[str]:
        """Return the ids in file order (sorted, if extract_dataset.py wrote the file)."""
        return list(self._lines.entries)

    def load(self, task_id: str) -> LoCoBenchTask:
        """Return one task.

        Raises:
            UnknownTaskError: no such id.
            DatasetError: its record does not validate.
        """
        return _task(self.line(task_id))

    def line(self, task_id: str) -> Line:
        """Return one task's record as stored in the file.

        Raises:
            UnknownTaskError: no such id.
        """
        self.entry(task_id)
        return self._lines.line(task_id)

    def entry(self, task_id: str) -> Entry:
        """Return one task's entry in the index.

        Raises:
            UnknownTaskError: no such id.
        """
        if task_id not in self._lines.entries:
            raise UnknownTaskError([task_id], self.dataset_path)
        return self._lines.entries[task_id]

    def require(self, task_ids: Iterable[str]) -> list[str]:
        """Return `task_ids` without duplicates, in order.

        Raises:
            UnknownTaskError: some are not in the dataset; the error names them all.
        """
        wanted = list(dict.fromkeys(task_ids))
        if unknown := [task_id for task_id in wanted if task_id not in self._lines.entries]:
            raise UnknownTaskError(unknown, self.dataset_path)
        return wanted

    def filter_by_task_category(self, category: str) -> list[LoCoBenchTask]:
        """Return the tasks of one category, in file order."""
        return self._filter(lambda entry: entry.task_category == category)

    def filter_by_language(self, language: str) -> list[LoCoBenchTask]:
        """Return the tasks of one language, in file order."""
        return self._filter(lambda entry: entry.language == language)

    def filter_by_difficulty(self, difficulty: str) -> list[LoCoBenchTask]:
        """Return the tasks of one achieved difficulty, in file order."""
        return self._filter(lambda entry: entry.difficulty == difficulty)

    def _filter(self, wanted: Callable[[Entry], bool]) -> list[LoCoBenchTask]:
        return [self.load(task_id) for task_id, entry in self._lines.entries.items() if wanted(entry)]


def _task(line: Line) -> LoCoBenchTask:
    """Parse a line's record; raise DatasetError if it does not validate."""
    try:
        return LoCoBenchTask.from_line(line.content)
    except RecordError as error:
        raise DatasetError(f"{line.dataset}:{line.number}: {error}") from None


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
        from locobench.generate.make import Options

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
        """Group the ids by project, so that each project is read once.

        Raises:
            UnknownTaskError: an id is not in the dataset.
        """
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
        from locobench.generate.folder import NotOurs
        from locobench.generate.project import Known, Project
        from locobench.scoring.grading import GradingError

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
        from locobench.generate.fingerprint import content_fingerprint, fingerprint
        from locobench.generate.folder import stored_fingerprint, write_task
        from locobench.generate.make import make_task
        from locobench.generate.project import Project

        line = self.loader.line(task_id)
        if project is None:
            project = Project.scan(self._get_project_dir(task_id))
        name = task_id if local_task_id is None else local_task_id
        try:
            folder = self.output_dir / folder_name(name)
        except ValueError as error:
            raise InputError(f"{name!r}: {error}") from None
        made_from = (line.content, self.loader.entry(task_id).language, project.content, self.options)
        digest = fingerprint(*made_from)
        is_current = stored_fingerprint(folder) == digest and not self.overwrite
        if is_current and known and known.tasks.get(task_id) == Project.scan(folder).state:
            return Made(task_id, "unchanged")

        task = _task(line)
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
        from locobench.generate.make import render_dockerfile

        options = self.options
        return render_dockerfile(
            language,
            options.base_image,
            languages=options.languages,
            language_image=options.language_image,
            closed_book=options.closed_book,
        )
