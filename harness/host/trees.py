"""Directory trees of any shape: copied, laid over each other, walked and removed within limits.

Trees may be an agent's: their names are opened relative to a descriptor of the folder they are in, and no link is
followed, the root itself included.
"""

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

from locobench.shared.files import FILE, FOLDER, opened_below

MAX_COPIED_BYTES = 4_000_000_000
MAX_COPIED_FILES = 200_000
MAX_DEPTH = 200
"""Folders in each other: deeper, a path may get longer than the system takes."""

O_PATH = getattr(os, "O_PATH", 0)
"""Linux's flag to open without any rights to the content; 0 elsewhere."""

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
    target.mkdir(parents=True)
    for folder, names, files, at in walk(source, strict=True):
        if folder.count("/") >= MAX_DEPTH and names:
            raise TooLarge(f"more than {MAX_DEPTH} folders in each other")
        entries += len(names) + len(files)
        for name in names:
            os.mkdir(f"{target}/{folder}{name}")  # noqa: PTH102 - paths as strings: 20,000 files take a second less
        for name in files:
            size += copy_file(at, name, f"{target}/{folder}{name}")
            if size > MAX_COPIED_BYTES or entries > MAX_COPIED_FILES:
                raise TooLarge(f"more than {MAX_COPIED_FILES} files or {MAX_COPIED_BYTES} bytes")


def copy_file(folder: int, name: str, target: str) -> int:
    """Copy a file or a link of an open folder with mode and times; holes stay holes. Returns its bytes on disk.

    Anything else (a pipe, a socket, a device) is left out.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=folder), target)  # noqa: PTH211
    if not stat.S_ISREG(status.st_mode):
        return 0
    old = os.open(name, FILE, dir_fd=folder)
    try:
        _copy_open(old, target, None, status)
    finally:
        os.close(old)
    return status.st_blocks * 512


def _copy_open(old: int, name: str, folder: int | None, status: os.stat_result) -> None:
    """Copy an open file to a new one of this name, in an open folder."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        if status.st_size:
            _copy_content(old, descriptor, status.st_size)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(descriptor)


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
    if os.path.lexists(root):
        make_readable(root)
        subprocess.run(["rm", "-rf", "--", str(root)], check=False, capture_output=True)  # knows no depth


def restore(root: Path) -> None:
    """Make a folder of what an agent left in this place: readable, and an empty one where it is none any more.

    Raises:
        OSError: what is there cannot be replaced.
    """
    _open_up(os.fspath(root.parent), None)
    if not os.path.lexists(root) or not stat.S_ISDIR(root.lstat().st_mode):
        root.unlink(missing_ok=True)
        root.mkdir()
    make_readable(root)


def make_readable(root: Path) -> None:
    """Give the owner access to every folder: an agent that took it away keeps nobody from its files."""
    with contextlib.suppress(OSError):
        _open_up(os.fspath(root), None)
    for _, names, _, at in walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                _open_up(name, at)


def _open_up(name: str, folder: int | None) -> None:
    """Give the owner access to a folder; a link is none."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode) or mode & 0o700 == 0o700:
        return
    # Its mode may not let us open it, and Linux changes modes by name through links: O_PATH needs no rights.
    found = os.open(name, O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{found}" if O_PATH else found, stat.S_IMODE(mode) | 0o700)  # noqa: PTH101
    finally:
        os.close(found)


def walk(root: Path, *, strict: bool = False) -> Iterator[tuple[str, list[str], list[str], int]]:
    """Every folder of a tree, top down: its path with a slash (empty for the root), folders and other names in it.

    The fourth is a descriptor of the folder, which is open until the next one is asked for. Folders that are taken out
    of the list are not walked. What lies deeper than MAX_DEPTH is left out, and what cannot be opened, unless `strict`
    makes an OSError of it.
    """
    folders = [""]
    ignored = () if strict else (OSError,)
    with contextlib.suppress(*ignored), opened_below(root, ".", FOLDER) as top:
        while folders:
            folder = folders.pop()
            with contextlib.suppress(*ignored), opened_below(top, folder or ".", FOLDER) as at:
                names, files = _names(at)
                yield folder, names, files, at
                if folder.count("/") < MAX_DEPTH:
                    folders += [f"{folder}{name}/" for name in reversed(names)]


def _names(folder: int) -> tuple[list[str], list[str]]:
    """Folders in an open folder, and everything else, sorted."""
    names: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as items:
        for item in items:
            (names if item.is_dir(follow_symlinks=False) else files).append(item.name)
    return sorted(names), sorted(files)


def lay_over(source: Path, target: Path) -> None:
    """Put the files of `source`, a tree of the task's, into `target`, replacing what is in the way.

    Nothing is ever written through a symlink that `target` holds, nor where `target` itself is one.

    Raises:
        OSError: `target` is no folder any more, or the files cannot be written.
    """
    with opened_below(target, ".", FOLDER) as folder:
        _lay_over(source, folder)


def _lay_over(source: Path, folder: int) -> None:
    for item in sorted(source.iterdir()):
        _clear(item.name, folder, but_folders=item.is_dir())
        if item.is_dir():
            with contextlib.suppress(FileExistsError):
                os.mkdir(item.name, dir_fd=folder)
            with opened_below(folder, item.name, FOLDER) as below:
                _lay_over(item, below)
        else:
            with item.open("rb") as old:
                _copy_open(old.fileno(), item.name, folder, item.stat())


def _clear(name: str, folder: int, *, but_folders: bool) -> None:
    """Remove what has this name in an open folder."""
    try:
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        os.unlink(name, dir_fd=folder)
    elif not but_folders:
        shutil.rmtree(name, dir_fd=folder)


def resolved(root: Path, path: str) -> str:
    """The path of what lies at a path below a tree, with the links on the way taken out, none of which leads out.

    Raises:
        OSError: there is nothing, or a link leads out or in circles.
    """
    left, done = path.split("/")[::-1], list[str]()
    for _ in range(MAX_DEPTH):
        if not left:
            return "/".join(done) or "."
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                break
            done.pop()
            continue
        with opened_below(root, "/".join(done) or ".", FOLDER) as folder:
            if not stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                done.append(part)
                continue
            link = os.readlink(part, dir_fd=folder)
        if link.startswith("/"):
            break
        left += link.split("/")[::-1]
    raise OSError(errno.ELOOP, "leads out, or in circles", path)


def escaping_symlink(root: Path) -> str | None:
    """First symlink below `root` that leads out of it or nowhere, or is absolute; None if there is none."""
    for folder, names, files, at in walk(root):
        for name in sorted([*names, *files]):
            if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                try:
                    resolved(root, f"{folder}{name}")
                except OSError:
                    return f"{folder}{name}"
    return None
