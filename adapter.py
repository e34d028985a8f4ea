"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from common.files import write_new
from pipeline.dataset.catalog import parse_id
from pipeline.dataset.markdown import as_markdown
from pipeline.dataset.records import RecordError, parse_object
from pipeline.dataset.scenario import LoCoBenchTask
from pipeline.task.folder import NotOurs, new_folder, stored_fingerprint
from pipeline.task.grading import Grading, GradingError, Scoring, grade_as_published, grade_key
from pipeline.task.make import Options, fingerprint, render_dockerfile, render_instruction, render_task
from pipeline.task.project import Known, Mapping, Project

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Outcome",
    "UnknownTaskError",
]


class DatasetError(Exception):
    """A dataset that cannot be used; the message names file, line and field."""


class UnknownTaskError(KeyError):
    """Ids that the dataset does not hold; they are in `ids`."""

    def __init__(self, ids: Iterable[str], dataset: Path) -> None:
        self.ids = sorted(ids)
        super().__init__(f"{dataset}: no task with id {', '.join(self.ids)}")

    def __str__(self) -> str:
        return str(self.args[0])


class _Entry(NamedTuple):
    """Where a record lies in the file, and what it is filtered by."""

    offset: int
    line: int
    category: str
    language: str
    difficulty: str


class LoCoBenchLoader:
    """Finds tasks in the JSONL that extract_dataset.py wrote.

    Only an index is held in memory (about 300 bytes a task); records are read from the file when asked for.

    Raises:
        DatasetError: the file cannot be read, or a line has no id, or an id of another line.
    """

    def __init__(self, dataset_path: Path) -> None:
        self.dataset_path = Path(dataset_path)
        self._entries: dict[str, _Entry] = {}
        for number, offset, line in self._lines():
            try:
                record = parse_object(line)
                task_id = record["id"]
                entry = _Entry(offset, number, *(record[key] for key in ("task_category", "language", "difficulty")))
            except RecordError as error:
                raise DatasetError(
                    f"{self.dataset_path}:{number}: {error}; write it again with extract_dataset.py"
                ) from None
            except KeyError as error:
                raise DatasetError(
                    f"{self.dataset_path}:{number}: field {error} missing; write it again with extract_dataset.py"
                ) from None
            if not isinstance(task_id, str):
                raise DatasetError(f"{self.dataset_path}:{number}: id: not a string")
            if task_id in self._entries:
                first = self._entries[task_id].line
                raise DatasetError(
                    f"{self.dataset_path}:{number}: id: {task_id} is already on line {first}; remove one"
                )
            self._entries[task_id] = entry

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LoCoBenchTask]:
        """Yield all tasks in the file's order, one in memory at a time."""
        for number, _, line in self._lines():
            yield self._read(number, line)

    def all_ids(self) -> list[str]:
        """Return the ids in the file's order (sorted, when extract_dataset.py wrote it)."""
        return list(self._entries)

    def load(self, task_id: str) -> LoCoBenchTask:
        """Return one task.

        Raises:
            UnknownTaskError: no such id.
            DatasetError: its record does not validate.
        """
        line = self.line(task_id)
        return self._read(self._entries[task_id].line, line)

    def line(self, task_id: str) -> bytes:
        """Return one task's record as it stands in the file.

        Raises:
            UnknownTaskError: no such id.
        """
        entry = self._entries.get(task_id)
        if entry is None:
            raise UnknownTaskError([task_id], self.dataset_path)
        with self.dataset_path.open("rb") as stream:
            stream.seek(entry.offset)
            return stream.readline()

    def require(self, task_ids: Iterable[str]) -> list[str]:
        """Return `task_ids` without repetitions, in their order.

        Raises:
            UnknownTaskError: some are not in the dataset; all of them are named.
        """
        wanted = list(dict.fromkeys(task_ids))
        if unknown := [task_id for task_id in wanted if task_id not in self._entries]:
            raise UnknownTaskError(unknown, self.dataset_path)
        return wanted

    def filter_by_task_category(self, category: str) -> list[LoCoBenchTask]:
        """Return the tasks of one category, in the file's order."""
        return self._filter(lambda entry: entry.category == category)

    def filter_by_language(self, language: str) -> list[LoCoBenchTask]:
        """Return the tasks of one language, in the file's order."""
        return self._filter(lambda entry: entry.language == language)

    def filter_by_difficulty(self, difficulty: str) -> list[LoCoBenchTask]:
        """Return the tasks of one achieved difficulty, in the file's order."""
        return self._filter(lambda entry: entry.difficulty == difficulty)

    def _filter(self, wanted: Callable[[_Entry], bool]) -> list[LoCoBenchTask]:
        return [self.load(task_id) for task_id, entry in self._entries.items() if wanted(entry)]

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (line number from 1, offset in bytes, line) of every line that is not blank."""
        offset = 0
        try:
            # A record is longer than the default buffer, which would be filled again and again for one line.
            with self.dataset_path.open("rb", buffering=1 << 16) as stream:
                for number, line in enumerate(stream, 1):
                    if line.strip():
                        yield number, offset, line
                    offset += len(line)
        except OSError as error:
            raise DatasetError(
                f"{self.dataset_path}: cannot be read: {error.strerror};"
                " run extract_dataset.py first or name the file with --dataset_path"
            ) from error

    def _read(self, number: int, line: bytes) -> LoCoBenchTask:
        try:
            return LoCoBenchTask.from_line(line)
        except RecordError as error:
            raise DatasetError(f"{self.dataset_path}:{number}: {error}") from None


class Outcome(NamedTuple):
    """What became of one task."""

    task_id: str
    status: Literal["written", "unchanged", "failed"]
    reason: str = ""
    """Why it failed."""
    warnings: tuple[str, ...] = ()


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
        self.loader = loader
        self.output_dir = Path(output_dir)
        self.data_dir = Path(data_dir)
        self.options = options or Options()
        self.overwrite = overwrite

    def generate(self, task_ids: Iterable[str]) -> Iterator[Outcome]:
        """Generate tasks one after the other, those of one project together; a failed one does not stop the others.

        Raises:
            UnknownTaskError: an id is not in the dataset (before anything is written).
        """
        for group in self.group_by_project(task_ids):
            yield from self.generate_group(group)[0]

    def group_by_project(self, task_ids: Iterable[str]) -> list[list[str]]:
        """Return the ids in groups that share a project, so that each project is read once."""
        groups: dict[str, list[str]] = {}
        for task_id in self.loader.require(task_ids):
            groups.setdefault(parse_id(task_id).project_id, []).append(task_id)
        return list(groups.values())

    def generate_group(self, task_ids: Iterable[str], known: Known | None = None) -> tuple[list[Outcome], Known | None]:
        """Generate tasks that share one project.

        Args:
            known: what an earlier call returned for this project.

        Returns:
            The outcomes, and what spares the next call reading the project again.
        """
        outcomes: list[Outcome] = []
        project: Project | None = None
        copies: dict[str, Path] = {}
        for task_id in task_ids:
            try:
                if project is None:
                    project = Project.scan(self._get_project_dir(task_id), known)
                outcomes.append(self.generate_task(task_id, project, copies))
            except (DatasetError, GradingError, NotOurs) as error:
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
            GradingError: the ground truth cannot be scored against.
            NotOurs: a folder of another origin has the task's name.
            OSError: a file cannot be read or written.
        """
        record = self.loader.line(task_id)
        if project is None:
            project = Project.scan(self._get_project_dir(task_id))
        folder = self.output_dir / task_id
        digest = fingerprint(record, parse_id(task_id).language, project.content, self.options)
        if stored_fingerprint(folder) == digest and not self.overwrite:
            return Outcome(task_id, "unchanged")

        task = self.loader.load(task_id)
        mapping = project.mapping(task.context_files)
        instruction = render_instruction(task, mapping, hints=self.options.include_hints)
        files = render_task(task, mapping, instruction, self._grade(task, mapping, instruction), self.options, digest)
        with new_folder(folder) as building:
            for parent in {path.rpartition("/")[0] for path in files}:
                (building / parent).mkdir(parents=True, exist_ok=True)
            for path, content in files.items():
                write_new(f"{building}/{path}", content, 0o755 if path.endswith(".sh") else 0o644)
            mapping.copy_to(
                building / "environment" / "project",
                link_mode=self.options.link_mode,
                strip_code_fences=self.options.strip_code_fences,
                twin=copies.get(mapping.root) if copies else None,
            )
        if copies is not None:
            copies.setdefault(mapping.root, folder / "environment" / "project")
        return Outcome(task_id, "written", warnings=_warnings(task, mapping))

    def _get_project_dir(self, task_id: str) -> Path:
        """Return the folder of the task's project: the id up to the category's name, below generated/."""
        return self.data_dir / "generated" / parse_id(task_id).project_id

    def _generate_dockerfile(self, language: str) -> str:
        """Return the Dockerfile of a language: the shared base layer, the language's packages, the project."""
        return render_dockerfile(language, self.options.base_image)

    def _grade(self, task: LoCoBenchTask, mapping: Mapping, instruction: str) -> Grading:
        if not isinstance(self.options.scoring, Scoring):
            return grade_as_published(task)
        told = [task.title, task.description, as_markdown(task.task_prompt)]
        if self.options.include_hints:
            told += [as_markdown(task.expected_approach), as_markdown(task.evaluation_criteria)]
        return grade_key(
            task,
            mapping.index(),
            mapping.paths,
            told="\n".join(told),
            instruction=instruction,
            roots=[mapping.root.rstrip("/")] if mapping.root else [],
            scoring=self.options.scoring,
        )


def _warnings(task: LoCoBenchTask, mapping: Mapping) -> tuple[str, ...]:
    warnings = [f"left out {path}: {reason}" for path, reason in mapping.part.skipped]
    if mapping.missing:
        shown = ", ".join(mapping.missing[:3]) + (", …" if len(mapping.missing) > 3 else "")
        warnings.append(f"{len(mapping.missing)} context files do not exist and are not scored: {shown}")
    return tuple(warnings)
