"""How results outlive a kill: a journal in which each is on disk before the next one is written."""

from __future__ import annotations

import os
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from harness.errors import InputError
from harness.models import EvalResult


class Journal:
    """Append-only JSONL of results: each is on disk before the next one starts to be written.

    A context manager that holds a lock, so that two matrices cannot share one journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[EvalResult] = []
        """What the journal held when it was opened."""
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(f"{self.path}: another matrix is writing this journal") from error
        try:
            self.results = read_journal(self.path)
            self._drop_torn_line()
            self._file = self.path.open("ab")
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def append(self, result: EvalResult) -> None:
        """Write one result and wait until the disk has it."""
        self._file.write(result.model_dump_json().encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _drop_torn_line(self) -> None:
        if self.path.exists():
            content = self.path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.truncate(self.path, whole)


def read_journal(path: Path) -> list[EvalResult]:
    """Results of a journal, in the order they were written; a last line that a kill cut off is left out.

    InputError when any other line is no result.
    """
    if not path.exists():
        return []
    results = []
    *lines, _torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            results.append(EvalResult.model_validate_json(line))
        except ValidationError as error:
            raise InputError(f"{path}:{number}: not a result; remove the line to go on without it") from error
    return results
