"""Directory trees of any shape: copied, laid over each other, walked and removed within limits."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

MAX_COPIED_BYTES = 4_000_000_000
MAX_COPIED_FILES = 200_000
MAX_DEPTH = 200
"""Folders in each other: deeper, a path may get longer than the system takes."""

FICLONE = 0x40049409
"""The request of Linux that lets two files share their blocks until one is written."""


class TooLarge(OSError):
    """A tree beyond what is copied."""


def copy(source: Path, target: Path) -> None:
    """Copy a tree with modes; symlinks stay symlinks; sockets, pipes and devices are left out.

    Raises:
        TooLarge: more than MAX_COPIED_BYTES on disk, MAX_COPIED_FILES entries or MAX_DEPTH folders in each other.
    """
    entries, size = 0, 0
    folders = [(os.fspath(source), os.fspath(target), 0)]
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    while folders:
        old, new, depth = folders.pop()
        if depth > MAX_DEPTH:
            raise TooLarge(f"more than {MAX_DEPTH} folders in each other")
        os.mkdir(new)  # noqa: PTH102 - paths as strings: twenty thousand files take a second less
        with os.scandir(old) as items:
            for item in items:
                entries += 1
                destination = f"{new}/{item.name}"
                if item.is_symlink():
                    os.symlink(os.readlink(item.path), destination)  # noqa: PTH115, PTH211
                elif item.is_dir():
                    folders.append((item.path, destination, depth + 1))
                elif item.is_file():
                    status = item.stat()
                    size += status.st_blocks * 512
                    if size > MAX_COPIED_BYTES or entries > MAX_COPIED_FILES:
                        raise TooLarge(f"more than {MAX_COPIED_FILES} files or {MAX_COPIED_BYTES} bytes")
                    copy_file(item.path, destination, status)


def copy_file(source: str, target: str, status: os.stat_result) -> None:
    """Copy a file with mode and times; holes stay holes."""
    with open(source, "rb") as old, open(target, "wb") as new:  # noqa: PTH123
        if status.st_size:
            _copy_content(old.fileno(), new.fileno(), status.st_size)
        os.fchmod(new.fileno(), stat.S_IMODE(status.st_mode))
        os.utime(new.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_content(old: int, new: int, size: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(new, FICLONE, old)  # shares the blocks, where the file system can
        return
    position = 0
    while position < size:
        try:
            start = os.lseek(old, position, os.SEEK_DATA)
            end = os.lseek(old, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole follows
                break
            start, end = position, size
        os.lseek(old, start, os.SEEK_SET)
        os.lseek(new, start, os.SEEK_SET)
        while start < end and (chunk := os.read(old, min(1 << 20, end - start))):
            start += os.write(new, chunk)
        position = end
    os.ftruncate(new, size)


def remove(root: Path) -> None:
    """Remove a tree, whatever modes and depth it has; what cannot be removed stays."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
    if root.exists():
        make_readable(root)
        subprocess.run(["rm", "-rf", "--", str(root)], check=False, capture_output=True)  # knows no depth


def make_readable(root: Path) -> None:
    """Give the owner access to every folder: an agent that took it away keeps nobody from its files."""
    for folder, names, _ in walk(root):
        for name in names:
            path = f"{folder}/{name}"
            with contextlib.suppress(OSError):
                mode = os.lstat(path).st_mode
                if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
                    os.chmod(path, stat.S_IMODE(mode) | 0o700)  # noqa: PTH101


def walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As os.walk, top down, without recursion; what lies deeper than MAX_DEPTH is left out."""
    folders = [(os.fspath(root), 0)]
    while folders:
        folder, depth = folders.pop()
        names: list[str] = []
        files: list[str] = []
        with contextlib.suppress(OSError), os.scandir(folder) as items:
            for item in items:
                (names if item.is_dir(follow_symlinks=False) else files).append(item.name)
        names.sort()
        yield folder, names, files
        if depth < MAX_DEPTH:
            folders += [(f"{folder}/{name}", depth + 1) for name in reversed(names)]


def lay_over(source: Path, target: Path) -> None:
    """Put the files of `source` into `target`, replacing files, folders and symlinks that are in the way.

    Nothing is ever written through a symlink that `target` holds.
    """
    for item in sorted(source.iterdir()):
        destination = target / item.name
        if item.is_dir():
            if destination.is_symlink() or (destination.exists() and not destination.is_dir()):
                destination.unlink()
            destination.mkdir(exist_ok=True)
            lay_over(item, destination)
        else:
            if destination.is_dir() and not destination.is_symlink():
                shutil.rmtree(destination)
            destination.unlink(missing_ok=True)
            shutil.copy2(item, destination)


def escaping_symlink(root: Path) -> str | None:
    """First symlink below `root` that leads out of it or nowhere, or is absolute; None if there is none."""
    inside = root.resolve()
    for folder, names, files in walk(root):
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            if not path.is_symlink():
                continue
            stays = path.exists() and path.resolve().is_relative_to(inside)
            if not stays or Path(os.readlink(path)).is_absolute():  # noqa: PTH115
                return path.relative_to(root).as_posix()
    return None
