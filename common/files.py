"""Writing files: whole or not at all where they are found, many and fast where a whole folder is built."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pipeline.cli import InputError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` for writing; it takes the name `path` when the block ends without an error.

    Raises:
        InputError: the folder or file cannot be written (disk full, read-only, a folder of that name).
    """
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        # No fsync: a machine that loses power may lose the file, but the same command writes it again.
        # mkstemp makes files private; results are for whoever the umask lets read.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror or error}; free the place or name another"
        ) from error
    finally:
        if name:
            Path(name).unlink(missing_ok=True)


def write_new(path: str, data: bytes, mode: int) -> None:
    """Write a file where there is none, with exactly these permissions.

    Raises:
        OSError: it cannot be written, or something is there.
    """
    descriptor = create(path, mode)
    try:
        os.fchmod(descriptor, mode)
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def create(path: str, mode: int) -> int:
    """Make a file where there is none, with what the umask leaves of `mode`; return its descriptor, for writing."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
