"""Write files and folders whole or not at all, read untrusted ones without following links, and read TOML."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from locobench.shared.errors import InputError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for opening untrusted files: they do not follow links or wait for pipes."""


@contextlib.contextmanager
def opened_below(root: Path | int, path: str, flags: int = FILE) -> Iterator[int]:
    """Yield a descriptor for a path below a folder, opened part by part so that no link can lead elsewhere.

    Args:
        root: the folder, or a descriptor of it.
        path: relative to it, with forward slashes; "." is the folder itself.
        flags: FOLDER, or FILE for anything else.

    Raises:
        OSError: part of the path is a link, is missing, or leads upwards.
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


def read_text(path: Path) -> str:
    """Read a text file without its byte order mark; InputError if it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def read_below(root: Path | int, path: str, most: int, *, cut: bool = False) -> bytes:
    """Return the content of a regular file below a folder, without following links.

    Args:
        most: largest size in bytes.
        cut: truncate a larger file instead of raising.

    Raises:
        OSError: it is not a regular file, or it is too large.
    """
    with opened_below(root, path) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", path)
        with open(descriptor, "rb", closefd=False) as stream:
            content = stream.read(most + 1)
    if len(content) > most and not cut:
        raise OSError(errno.EFBIG, f"more than {most} bytes", path)
    return content[:most]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raise InputError with the position if it cannot be read or is not TOML."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: not TOML: nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or Python's own about a number of thousands of digits
        raise InputError(f"{path}: not TOML: {error}") from None


@contextlib.contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing. It appears at `path`, whole, only when the block ends without an error.

    If `path` is a link, the link stays and its target is replaced. Devices and pipes are written to directly.
    A replaced file keeps its permissions; a new one follows the umask.

    Args:
        durable: flush to disk before returning, for data that cannot be recreated.

    Raises:
        InputError: the folder or file cannot be written (disk full, read-only, a folder of that name).
    """
    try:
        there = path.stat() if path.exists() else None
        if there and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb") as stream:
                yield stream
            return
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name[:40]}.{os.urandom(8).hex()}.tmp")
        try:
            with part.open("xb") as stream:
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
        raise InputError(f"{path}: cannot be written: {reason}; fix that or name another path") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) to `path` as `whole_file` does; raise InputError if it cannot be written."""
    with whole_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def building_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder to fill, for `put_folder`; what is not put is removed after the block.

    It is inside a hidden folder beside `place`, so that nobody takes what a killed process left for the real thing.

    Raises:
        OSError: a folder cannot be made or removed.
    """
    work = place.with_name(f".building-{place.name}")
    if work.exists():
        shutil.rmtree(work)
    building = work / "new"
    try:
        building.mkdir(parents=True)
        yield building
    finally:
        shutil.rmtree(work)


def put_folder(building: Path, place: Path) -> None:
    """Move a folder of `building_folder` to its place, where it replaces another one; raise OSError if it cannot."""
    with contextlib.suppress(FileNotFoundError):
        place.rename(building.with_name("old"))
    building.rename(place)


def check_ours(place: Path, file: Path, sign: str, flag: str) -> None:
    """Raise InputError if something is at `place` that this program did not write: its `file` does not hold the sign.

    Args:
        flag: the option that names another place.
    """
    try:
        is_ours = sign.encode() in file.read_bytes()
    except OSError:
        is_ours = not os.path.lexists(place)
    if not is_ours:
        raise InputError(f"{place}: exists and was not written by this program; move it away or name another {flag}")


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Raise InputError if writing `output` would replace one of `inputs`."""
    if output.exists() and not output.is_file():
        return
    for path in inputs:
        if output.resolve() == path.resolve() or (output.exists() and path.exists() and output.samefile(path)):
            raise InputError(f"{output}: the same file as {path}, which it would replace; name another")


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; return False if another one holds the lock.

    On a file system without locks, it always succeeds.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
