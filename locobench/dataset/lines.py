"""Where in a dataset's file each record lies, and what it is chosen by: an index in place of the records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from locobench.dataset.records import RecordError, parse_object
from locobench.dataset.scenario import folder_name, plain_name
from locobench.shared.errors import InputError


class DatasetError(InputError):
    """A dataset that cannot be used; the message names file, line and field."""


class Line(NamedTuple):
    """A record as it stands in the dataset."""

    dataset: Path
    number: int
    """From 1."""
    content: bytes


class Entry(NamedTuple):
    """Where a record lies, and what it is chosen by."""

    offset: int
    """In bytes."""
    line: int
    """From 1."""
    task_category: str
    language: str
    difficulty: str
    project_id: str
    """The folder of its project under generated/."""


class DatasetLines:
    """The lines of a JSONL file that extract_dataset.py wrote; about 250 bytes of each are held in memory.

    Attributes:
        entries: by the records' ids, in the file's order.
    """

    def __init__(self, path: Path) -> None:
        """Read the file once.

        Raises:
            DatasetError: it cannot be read, or a line has no id, or an id of another line.
        """
        self.path = path
        self.entries: dict[str, Entry] = {}
        # There are few categories, languages, difficulties and projects: one object for each.
        same: dict[str, str] = {}
        for offset, line in self._read():
            try:
                record = parse_object(line.content)
                values = {key: record[key] for key in ("id", *Entry._fields[2:])}
                if wrong := [key for key, value in values.items() if not isinstance(value, str)]:
                    raise RecordError(f"{wrong[0]}: not a string")
                # Both become folders, before the rest of the record is looked at.
                task_id, _ = plain_name(values.pop("id")), folder_name(values["project_id"])
            except KeyError as error:
                raise DatasetError(
                    f"{path}:{line.number}: field {error} missing; write it again with extract_dataset.py"
                ) from None
            except ValueError as error:
                raise DatasetError(f"{path}:{line.number}: {error}; write it again with extract_dataset.py") from None
            if task_id in self.entries:
                first = self.entries[task_id].line
                raise DatasetError(f"{path}:{line.number}: id: {task_id} is already on line {first}; remove one")
            self.entries[task_id] = Entry(
                offset, line.number, *(same.setdefault(text, text) for text in values.values())
            )

    def __iter__(self) -> Iterator[Line]:
        """Yield every line that is not blank, one in memory at a time."""
        for _, line in self._read():
            yield line

    def line(self, task_id: str) -> Line:
        """Return the line of a record.

        Raises:
            KeyError: no such id.
        """
        entry = self.entries[task_id]
        with self.path.open("rb") as stream:
            stream.seek(entry.offset)
            return Line(self.path, entry.line, stream.readline())

    def _read(self) -> Iterator[tuple[int, Line]]:
        """Yield (offset in bytes, line) of every line that is not blank."""
        offset = 0
        try:
            # A record is longer than the default buffer, which would be filled again and again for one line.
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
                " run extract_dataset.py first or name the file with --dataset_path"
            ) from error
