"""A journal that survives a kill: each entry is on disk before the next one is written."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from locobench.shared.errors import InputError
from locobench.shared.files import try_lock
from measure.records import EvalResult
from measure.records.traces import Record

Entry = TypeVar("Entry", bound=Record)

ROOM_BYTES = 8_000_000
"""Disk reserved for what is being paid for: both rows of a run whose agent printed without end."""
FALLOC_FL_KEEP_SIZE = 1


class Journal(Generic[Entry]):
    """Append-only JSONL of records of one kind; each is on disk before the next one is written.

    As a context manager it locks the file, so two commands cannot share one journal.
    """

    def __init__(self, path: Path, kind: type[Entry]) -> None:
        """Each line holds a record of `kind`."""
        self.path = path
        self.kind = kind
        self.entries: list[Entry] = []
        """The entries that the journal held when it was opened."""
        self._descriptor = -1
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> Journal[Entry]:
        with contextlib.ExitStack() as opened:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = opened.enter_context(self.path.open("ab", buffering=0)).fileno()
                if not try_lock(self._descriptor):
                    raise InputError(f"{self.path}: another command is writing this journal")
                self.entries = read_entries(self.path, self.kind)
                # A kill may have left half a line.
                os.ftruncate(self._descriptor, self.path.read_bytes().rfind(b"\n") + 1)
            except OSError as error:
                raise self._unwritable(error) from error
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._opened, contextlib.suppress(OSError):  # gives back what `reserve` took
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size)

    def reserve(self, entries: int = 1) -> None:
        """Make sure that the disk has room for so many runs, before they are paid for; InputError if it has not.

        Does nothing where the system cannot reserve room.
        """
        try:
            call = ctypes.CDLL(None, use_errno=True).fallocate
        except AttributeError:
            return
        call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong]
        end = os.fstat(self._descriptor).st_size
        if call(self._descriptor, FALLOC_FL_KEEP_SIZE, end, entries * ROOM_BYTES) != 0:
            number = ctypes.get_errno()
            if number in (errno.ENOSPC, errno.EDQUOT):
                raise self._unwritable(OSError(number, f"no room for {entries * ROOM_BYTES:,} bytes"))

    def append(self, entry: Entry) -> None:
        """Write one entry and wait until the disk has it; InputError if that fails, and the journal is as it was."""
        end = os.fstat(self._descriptor).st_size
        try:
            with open(self._descriptor, "ab", closefd=False) as file:
                file.write(entry.model_dump_json().encode() + b"\n")
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):  # another worker would append its line to half a line
                os.ftruncate(self._descriptor, end)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(f"{self.path}: cannot be written: {error.strerror or error}; free some space, then continue")


def read_journal(path: Path) -> list[EvalResult]:
    """Read the last result of each run from a matrix's journal, which has a run once ungraded and once graded."""
    return list({result.key: result for result in read_entries(path, EvalResult)}.values())


def read_entries(path: Path, kind: type[Entry]) -> list[Entry]:
    """Read the entries of a journal in the order they were written; InputError if a line is none.

    A last line that a kill cut off is ignored.
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
            advice = "remove the line to continue without it" if entries else "name another file if it has another kind"
            raise InputError(f"{path}:{number}: not a {what}; {advice}") from error
    return entries
