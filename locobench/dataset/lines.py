"""An index of a dataset file: where each record is, and the fields that tasks are chosen by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from locobench.dataset.records import RecordError, parse_object
from locobench.dataset.scenario import folder_name, plain_name
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT


class DatasetError(InputError):
    """A dataset cannot be used; the message names the file, the line and the field."""


class Line(NamedTuple):
    """A record as stored in the dataset."""

    dataset: Path
    number: int
    """From 1."""
    content: bytes


class Entry(NamedTuple):
    """Where a record is, and the fields it is chosen by."""

    offset: int
    """Bytes from the start of the file."""
    line: int
    """From 1."""
    task_category: str
    language: str
    difficulty: str
    project_id: str
    """The project's folder under generated/."""


class DatasetLines:
    """The lines of a JSONL file written by extract_dataset.py; keeps about 250 bytes per line in memory.

    Attributes:
        entries: index entries by record id, in file order.
    """

    def __init__(self, path: Path) -> None:
        """Read the file once.

        Raises:
            DatasetError: it cannot be read, or a line has no id or repeats one.
        """
        self.path = path
        self.entries: dict[str, Entry] = {}
        # Categories, languages, difficulties and projects repeat: keep one string object for each.
        same: dict[str, str] = {}
        for offset, line in self._read():
            try:
                record = parse_object(line.content)
                values = {key: record[key] for key in ("id", *Entry._fields[2:])}
                if wrong := [key for key, value in values.items() if not isinstance(value, str)]:
                    raise RecordError(f"{wrong[0]}: not a string")
                # Both become folder names before the rest of the record is validated.
                task_id, _ = plain_name(values.pop("id")), folder_name(values["project_id"])
            except KeyError as error:
                raise DatasetError(
                    f"{path}:{line.number}: field {error} missing; write it again with {EXTRACT}"
                ) from None
            except ValueError as error:
                raise DatasetError(f"{path}:{line.number}: {error}; write it again with {EXTRACT}") from None
            if task_id in self.entries:
                first = self.entries[task_id].line
                raise DatasetError(f"{path}:{line.number}: id: {task_id} is already on line {first}; remove one")
            self.entries[task_id] = Entry(
                offset, line.number, *(same.setdefault(text, text) for text in values.values())
            )

    def __iter__(self) -> Iterator[Line]:
        """Yield every non-blank line, holding one in memory at a time."""
        for _, line in self._read():
            yield line

    def line(self, task_id: str) -> Line:
        """Return a record's line.

        Raises:
            KeyError: no such id.
        """
        entry = self.entries[task_id]
        with self.path.open("rb") as stream:
            stream.seek(entry.offset)
            return Line(self.path, entry.line, stream.readline())

    def _read(self) -> Iterator[tuple[int, Line]]:
        """Yield (offset in bytes, line) for every non-blank line."""
        offset = 0
        try:
            # A record is longer than the default buffer, which would be refilled several times per line.
            with self.path.open("rb", buffering=1 << 16) as stream:
                if not stream.seekable():
                    raise DatasetError(f"{self.path}: a pipe; records are read from it again, so name a file")
                for number, content in enumerate(stream, 1):
                    if content.strip():
                        yield offset, Line(self.path, number, content)
                    offset += len(content)
        except OSError as error:
            raise DatasetError(
                f"{self.path}: cannot be read: {error.strerror};"
                f" run {EXTRACT} first or name the file with --dataset_path"
            ) from error
