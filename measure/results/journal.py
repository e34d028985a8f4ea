"""How does paid work survive a kill? In a journal where each entry is on disk before the next one is written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from locobench.shared.errors import InputError
from locobench.shared.files import write_all
from measure.records import EvalResult
from measure.records.traces import Record

Entry = TypeVar("Entry", bound=Record)


class Journal(Generic[Entry]):
    """Append-only JSONL of records of one kind; each is on disk before the next one is written.

    As a context manager it holds a lock, so two commands cannot share one journal.
    """

    def __init__(self, path: Path, kind: type[Entry]) -> None:
        """Each line holds a record of `kind`."""
        self.path = path
        self.kind = kind
        self.entries: list[Entry] = []
        """The entries that the journal held when it was opened."""
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))

    def __enter__(self) -> Journal[Entry]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            self.entries = read_entries(self.path, self.kind)
            self._file = self.path.open("ab", buffering=0)
            # A kill may have left half a line.
            os.truncate(self.path, self.path.read_bytes().rfind(b"\n") + 1)
        except Timeout as error:
            raise InputError(f"{self.path}: another command is writing this journal") from error
        except InputError:
            self._lock.release()
            raise
        except OSError as error:
            self._lock.release()
            raise self._unwritable(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def append(self, entry: Entry) -> None:
        """Write one entry and wait until the disk has it.

        Raises:
            InputError: the entry cannot be written, for example on a full disk; the journal is then as it was before.
        """
        descriptor = self._file.fileno()
        end = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, entry.model_dump_json().encode() + b"\n")
            os.fsync(descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):  # another worker would append its line to half a line
                os.ftruncate(descriptor, end)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(f"{self.path}: cannot be written: {error.strerror or error}; free the place, then go on")


def read_journal(path: Path) -> list[EvalResult]:
    """Read the last result of each run from a matrix's journal, which has a run once ungraded and once graded.

    Raises:
        InputError: as for `read_entries`.
    """
    return list({result.key: result for result in read_entries(path, EvalResult)}.values())


def read_entries(path: Path, kind: type[Entry]) -> list[Entry]:
    """Read the entries of a journal in the order they were written; a last line that a kill cut off is ignored.

    Raises:
        InputError: any other line is not an entry.
    """
    if not path.exists():
        return []
    entries = []
    *lines, _cut_off = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(kind.model_validate_json(line))
        except ValidationError as error:
            what = "result" if kind is EvalResult else kind.__name__.lower()
            raise InputError(f"{path}:{number}: not a {what}; remove the line to go on without it") from error
    return entries
