"""Files: written whole or not at all, and read without following the links of whoever made them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from locobench.shared.errors import InputError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags to open what others made: no link is followed, and no pipe waited for."""


@contextlib.contextmanager
def opened_below(root: Path | int, path: str, flags: int = FILE) -> Iterator[int]:
    """A descriptor of what lies at a path below a folder, opened part by part, so that no link leads anywhere else.

    Args:
        root: the folder, or a descriptor of it.
        path: relative to it, with forward slashes; "." is the folder itself.
        flags: FOLDER, or FILE for anything else.

    Raises:
        OSError: a part of it is a link, is missing, or leads upwards.
    """
    *folders, name = [part for part in path.split("/") if part not in ("", ".")] or ["."]
    if ".." in (*folders, name):
        raise OSError(errno.EINVAL, "leads out of its folder", path)
    at = os.open(".", FOLDER, dir_fd=root) if isinstance(root, int) else os.open(root, FOLDER)
    try:
        for part in folders:
            at, above = os.open(part, FOLDER, dir_fd=at), at
            os.close(above)
        found = os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)
    try:
        yield found
    finally:
        os.close(found)


def read_below(root: Path | int, path: str, most: int, *, cut: bool = False) -> bytes:
    """Content of a regular file below a folder, at most so many bytes of it; no link is followed.

    Raises:
        OSError: it is no regular file, or has more bytes; with `cut`, the others are left out instead.
    """
    with opened_below(root, path) as descriptor:
        return read_regular(descriptor, most, path, cut=cut)


def read_regular(descriptor: int, most: int, name: str, *, cut: bool = False) -> bytes:
    """As `read_below`, of a descriptor."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "no regular file", name)
    with open(descriptor, "rb", closefd=False) as stream:
        content = stream.read(most + 1)
    if len(content) > most and not cut:
        raise OSError(errno.EFBIG, f"more than {most} bytes", name)
    return content[:most]


@contextlib.contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that is at `path`, whole, when the block ends without an error, and not before.

    Where `path` is a link, the link stays and what it leads to is replaced. A device or a pipe is written into.
    A file that is replaced passes on its permissions, a new one has what the umask leaves. Parts of it that killed
    processes left beside it are removed.

    Args:
        durable: wait until the disk has it, for what cannot be made again.

    Raises:
        InputError: the folder or file cannot be written (disk full, read-only, a folder of that name).
    """
    try:
        there = _status(path)
        if there and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as stream:
                yield stream
            return
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        begin = f".{target.name[:40]}."
        _sweep_parts(target.parent, begin)
        descriptor, part = _new_part(target.parent, begin)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                if there:
                    os.fchmod(stream.fileno(), stat.S_IMODE(there.st_mode))
                yield stream
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path}: cannot be written: {reason}; free the place or name another") from error


def write_whole(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write `content` (text as UTF-8) to `path` as `whole_file` does.

    Raises:
        InputError: it cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    with whole_file(path, durable=durable) as stream:
        stream.write(data)


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Make sure that writing `output` takes nothing away that is still to be read, or was just written.

    Raises:
        InputError: it is the same file as one of `inputs`.
    """
    if output.exists() and not output.is_file():
        return
    for path in inputs:
        if output.resolve() == path.resolve() or (output.exists() and path.exists() and output.samefile(path)):
            raise InputError(f"{output}: the same file as {path}, which it would replace; name another")


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
    """Write all of `data`, in as many calls as it takes."""
    while data:
        data = data[os.write(descriptor, data) :]


def _new_part(folder: Path, begin: str) -> tuple[int, Path]:
    """Make a file that stays locked while it is written, so that nobody takes it for one that a killed process left."""
    while True:
        part = folder / f"{begin}{os.urandom(8).hex()}.tmp"
        descriptor = create(str(part), 0o666)
        with contextlib.suppress(OSError):  # a file system without locks, where nothing is swept away either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else another process swept it away before it was locked
            return descriptor, part
        os.close(descriptor)


def _sweep_parts(folder: Path, begin: str) -> None:
    """Remove parts whose process was killed: nobody holds their lock any more."""
    for part in folder.glob(f"{glob.escape(begin)}{'[0-9a-f]' * 16}.tmp"):
        with contextlib.suppress(OSError):  # in use, of another user, or gone meanwhile
            descriptor = os.open(part, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(descriptor)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
