"""Tasks of a JSONL dataset: the record, and the loader that finds records without holding them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from locobench.dataset.benchmark import complete
from locobench.dataset.records import DatasetError, RecordError, parse_object, read_lines
from locobench.dataset.scenario import Scenario, folder_name, plain_name
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT


class UnknownTaskError(InputError):
    """The dataset does not contain these ids."""


class LoCoBenchTask(Scenario):
    """One scenario of the benchmark as a record."""

    @classmethod
    def from_scenario(cls, data: dict[str, Any], name: str) -> Self:
        """Build the record from a raw scenario whose file is called `<name>.json`.

        Raises:
            RecordError: a field is missing or wrong, or the id is not the file's name.
        """
        return cls.checked(complete(data, name))


class Entry(NamedTuple):
    """Where a record is, and what is needed before it is read."""

    offset: int
    """Bytes from the start of the file."""
    line: int
    """From 1."""
    language: str
    project_id: str
    """The project's folder under generated/."""


class LoCoBenchLoader:
    """Finds tasks in the JSONL written by extract_dataset.py.

    Only an index is kept in memory; records are read from the file on demand.

    Raises:
        DatasetError: the file cannot be read, or a line has no id or repeats one.
    """

    def __init__(self, dataset_path: Path) -> None:
        path = self.dataset_path = Path(dataset_path)
        if path.is_fifo():
            raise DatasetError(f"{path}: a pipe; records are read from it again, so name a file")
        self._entries: dict[str, Entry] = {}
        # Languages and projects repeat: keep one string object for each.
        same: dict[str, str] = {}
        for number, offset, line in read_lines(path):
            try:
                record = parse_object(line)
                values = {key: record[key] for key in ("id", *Entry._fields[2:])}
                if wrong := [key for key, value in values.items() if not isinstance(value, str)]:
                    raise RecordError(f"{wrong[0]}: not a string")
                # Both become folder names before the rest of the record is validated.
                task_id, _ = plain_name(values.pop("id")), folder_name(values["project_id"])
            except (KeyError, ValueError) as error:
                what = f"field {error} missing" if isinstance(error, KeyError) else error
                raise DatasetError(f"{path}:{number}: {what}; write it again with {EXTRACT}") from None
            if task_id in self._entries:
                first = self._entries[task_id].line
                raise DatasetError(f"{path}:{number}: id: {task_id} is already on line {first}; remove one")
            self._entries[task_id] = Entry(offset, number, *(same.setdefault(text, text) for text in values.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LoCoBenchTask]:
        """Yield all tasks in file order, holding one in memory at a time."""
        return map(self.load, self._entries)

    def all_ids(self) -> list[str]:
        """Return the ids in file order (sorted, if extract_dataset.py wrote the file)."""
        return list(self._entries)

    def load(self, task_id: str) -> LoCoBenchTask:
        """Return one task.

        Raises:
            UnknownTaskError: no such id.
            DatasetError: its record does not validate.
        """
        try:
            return LoCoBenchTask.checked(parse_object(self.line(task_id)))
        except RecordError as error:
            raise DatasetError(f"{self.dataset_path}:{self.entry(task_id).line}: {error}") from None

    def line(self, task_id: str) -> bytes:
        """Return one task's record as stored in the file; raise UnknownTaskError if there is none."""
        offset = self.entry(task_id).offset
        with self.dataset_path.open("rb") as stream:
            stream.seek(offset)
            return stream.readline()

    def entry(self, task_id: str) -> Entry:
        """Return one task's entry in the index; raise UnknownTaskError if there is none."""
        return self._entries[self.require([task_id])[0]]

    def require(self, task_ids: Iterable[str]) -> list[str]:
        """Return `task_ids` without duplicates, in order.

        Raises:
            UnknownTaskError: some are not in the dataset; the error names them all.
        """
        wanted = list(dict.fromkeys(task_ids))
        if unknown := [task_id for task_id in wanted if task_id not in self._entries]:
            raise UnknownTaskError(
                f"{self.dataset_path}: no task with id {', '.join(sorted(unknown))}; --dataset_path names the dataset,"
                f" {EXTRACT} writes it"
            )
        return wanted
