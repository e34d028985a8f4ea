"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from locobench.dataset.benchmark import complete
from locobench.dataset.lines import DatasetError, DatasetLines, Entry, Line
from locobench.dataset.records import RecordError, parse_object
from locobench.dataset.scenario import Scenario
from locobench.generate.maker import Outcome, ProjectTasks
from locobench.shared.errors import InputError

# What makes tasks is imported where it is used: who only reads records does without templates and verifier.
if TYPE_CHECKING:
    from locobench.generate.make import Options
    from locobench.generate.project import Known, Project

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Outcome",
    "UnknownTaskError",
]


class UnknownTaskError(InputError, KeyError):
    """Ids that the dataset does not hold; they are in `ids`."""

    def __init__(self, ids: Iterable[str], dataset: Path) -> None:
        self.ids = sorted(ids)
        super().__init__(
            f"{dataset}: no task with id {', '.join(self.ids)};"
            " --dataset_path names the dataset, extract_dataset.py writes it"
        )

    def __str__(self) -> str:
        # A KeyError shows its key's repr.
        return str(self.args[0])


class LoCoBenchTask(Scenario):
    """One scenario of the benchmark as a record, made from its raw file or from its line of the JSONL."""

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
    """Finds tasks in the JSONL that extract_dataset.py wrote.

    Only an index is held in memory (about 250 bytes a task); records are read from the file when asked for.

    Raises:
        DatasetError: the file cannot be read, or a line has no id, or an id of another line.
    """

    def __init__(self, dataset_path: Path) -> None:
        self.dataset_path = Path(dataset_path)
        self._lines = DatasetLines(self.dataset_path)

    def __len__(self) -> int:
        return len(self._lines.entries)

    def __iter__(self) -> Iterator[LoCoBenchTask]:
        """Yield all tasks in the file's order, one in memory at a time."""
        return map(_task, self._lines)

    def all_ids(self) -> list[str]:
        """Return the ids in the file's order (sorted, when extract_dataset.py wrote it)."""
        return list(self._lines.entries)

    def load(self, task_id: str) -> LoCoBenchTask:
        """Return one task.

        Raises:
            UnknownTaskError: no such id.
            DatasetError: its record does not validate.
        """
        return _task(self.line(task_id))

    def line(self, task_id: str) -> Line:
        """Return one task's record as it stands in the file.

        Raises:
            UnknownTaskError: no such id.
        """
        self.entry(task_id)
        return self._lines.line(task_id)

    def entry(self, task_id: str) -> Entry:
        """Return what the index holds of one task.

        Raises:
            UnknownTaskError: no such id.
        """
        if task_id not in self._lines.entries:
            raise UnknownTaskError([task_id], self.dataset_path)
        return self._lines.entries[task_id]

    def require(self, task_ids: Iterable[str]) -> list[str]:
        """Return `task_ids` without repetitions, in their order.

        Raises:
            UnknownTaskError: some are not in the dataset; all of them are named.
        """
        wanted = list(dict.fromkeys(task_ids))
        if unknown := [task_id for task_id in wanted if task_id not in self._lines.entries]:
            raise UnknownTaskError(unknown, self.dataset_path)
        return wanted

    def filter_by_task_category(self, category: str) -> list[LoCoBenchTask]:
        """Return the tasks of one category, in the file's order."""
        return self._filter(lambda entry: entry.task_category == category)

    def filter_by_language(self, language: str) -> list[LoCoBenchTask]:
        """Return the tasks of one language, in the file's order."""
        return self._filter(lambda entry: entry.language == language)

    def filter_by_difficulty(self, difficulty: str) -> list[LoCoBenchTask]:
        """Return the tasks of one achieved difficulty, in the file's order."""
        return self._filter(lambda entry: entry.difficulty == difficulty)

    def _filter(self, wanted: Callable[[Entry], bool]) -> list[LoCoBenchTask]:
        return [self.load(task_id) for task_id, entry in self._lines.entries.items() if wanted(entry)]


def _task(line: Line) -> LoCoBenchTask:
    """Read the record in a line; DatasetError when it does not validate."""
    try:
        return LoCoBenchTask.from_line(line.content)
    except RecordError as error:
        raise DatasetError(f"{line.dataset}:{line.number}: {error}") from None


class LoCoBenchAdapter:
    """Writes a dataset's tasks as Harbor task directories: `output_dir`/<id>/, projects from `data_dir`/generated/."""

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

    def generate(self, task_ids: Iterable[str]) -> Iterator[Outcome]:
        """Generate tasks one after the other, those of one project together; a failed one does not stop the others.

        Raises:
            UnknownTaskError: an id is not in the dataset (before anything is written).
            OSError: the output folder cannot be made.
        """
        groups = self.group_by_project(task_ids)
        self.output_dir.mkdir(parents=True, exist_ok=True)
        for group in groups:
            yield from self.generate_group(group)[0]

    def group_by_project(self, task_ids: Iterable[str]) -> list[ProjectTasks]:
        """Return the ids by the project that they share, so that each project is read once.

        Raises:
            UnknownTaskError: an id is not in the dataset.
        """
        groups: dict[Path, ProjectTasks] = {}
        for task_id in self.loader.require(task_ids):
            folder = self._get_project_dir(task_id)
            groups.setdefault(folder, ProjectTasks(folder, [])).task_ids.append(task_id)
        return list(groups.values())

    def generate_group(self, group: ProjectTasks, known: Known | None = None) -> tuple[list[Outcome], Known | None]:
        """Generate tasks that share one project.

        Args:
            known: what an earlier call returned for this project.

        Returns:
            The outcomes, and what spares the next call reading the project again.
        """
        from locobench.generate.folder import NotOurs
        from locobench.generate.project import Known, Project
        from locobench.scoring.grading import GradingError

        outcomes: list[Outcome] = []
        project: Project | None = None
        copies: dict[str, Path] = {}
        for task_id in group.task_ids:
            try:
                if project is None:
                    project = Project.scan(group.folder, known)
                outcomes.append(self.generate_task(task_id, project, copies))
            except (InputError, GradingError, NotOurs) as error:
                outcomes.append(Outcome(task_id, "failed", str(error)))
            except OSError as error:
                reason = f"{error.filename or self.output_dir}: {error.strerror or error}"
                outcomes.append(Outcome(task_id, "failed", reason))
        written = any(outcome.status != "failed" for outcome in outcomes)
        return outcomes, Known(project.state, project.content) if project and written else None

    def generate_task(
        self, task_id: str, project: Project | None = None, copies: dict[str, Path] | None = None
    ) -> Outcome:
        """Write one task's directory, unless it is there and made from the same input.

        Args:
            project: the task's project, when it was scanned before.
            copies: copies of the project that this run has made, by root folder; hard links are made to them.

        Raises:
            UnknownTaskError, DatasetError: the record is not there or not valid.
            InputError: there is no table for its language.
            GradingError: the ground truth cannot be scored against.
            NotOurs: a folder of another origin has the task's name.
            OSError: a file cannot be read or written.
        """
        from locobench.generate.fingerprint import content_fingerprint, fingerprint
        from locobench.generate.folder import stored_fingerprint, write_task
        from locobench.generate.make import make_task
        from locobench.generate.project import Project

        line = self.loader.line(task_id)
        if project is None:
            project = Project.scan(self._get_project_dir(task_id))
        folder = self.output_dir / task_id
        made_from = (line.content, self.loader.entry(task_id).language, project.content, self.options)
        digest = fingerprint(*made_from)
        if stored_fingerprint(folder) == digest and not self.overwrite:
            return Outcome(task_id, "unchanged")

        task = _task(line)
        mapping = project.mapping(task.context_files)
        files = make_task(task, mapping, self.options, digest, content_fingerprint(*made_from))
        copy = write_task(folder, files, mapping, self.options, twin=(copies or {}).get(mapping.root))
        if copies is not None and copy is not None:
            copies.setdefault(mapping.root, copy)
        return Outcome(task_id, "written", warnings=mapping.warnings)

    def _get_project_dir(self, task_id: str) -> Path:
        """Return the folder of the task's project, below generated/."""
        return self.data_dir / "generated" / self.loader.entry(task_id).project_id

    def _generate_dockerfile(self, language: str) -> str:
        """Return the Dockerfile of a language: the shared base layer, the language's packages, the project."""
        from locobench.generate.make import render_dockerfile

        options = self.options
        return render_dockerfile(
            language,
            options.base_image,
            languages=options.languages,
            language_image=options.language_image,
            closed_book=options.closed_book,
        )
