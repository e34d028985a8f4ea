"""Copies, overlays, walks and removes directory trees, within limits.

A tree may be an agent's work, so names are opened relative to a descriptor of their folder, and no link is followed,
not even the root.
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
"""Nested folders; deeper paths may be longer than the system allows."""

O_PATH = getattr(os, "O_PATH", 0)
"""Linux's flag to open a file without any rights to its content; 0 elsewhere."""

FICLONE = 0x40049409
"""Linux's ioctl that lets two files share their blocks until one is written."""


class TooLarge(OSError):
    """The tree is too large to copy."""


def copy(source: Path, target: Path) -> None:
    """Copy a tree with modes; symlinks stay symlinks; sockets, pipes and devices are left out.

    TooLarge if it has more than MAX_COPIED_BYTES on disk, MAX_COPIED_FILES entries or MAX_DEPTH nested folders.
    """
    entries, size = 0, 0
    target.mkdir(parents=True)
    for folder, names, files, at in walk(source, strict=True):
        entries += len(names) + len(files)
        for name in names:
            os.mkdir(f"{target}/{folder}{name}")  # noqa: PTH102 - paths as strings: 20,000 files take a second less
        for name in files:
            size += copy_file(at, name, f"{target}/{folder}{name}")
            if size > MAX_COPIED_BYTES or entries > MAX_COPIED_FILES:
                raise TooLarge(f"more than {MAX_COPIED_FILES} files or {MAX_COPIED_BYTES} bytes")


def copy_file(folder: int, name: str, target: str) -> int:
    """Copy a file or link from an open folder, with mode and times; holes stay holes. Return its bytes on disk.

    Anything else (a pipe, a socket, a device) is skipped.
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
    """Copy an open file to a new file of this name in an open folder."""
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
            if error.errno == errno.ENXIO:  # only a hole follows
                break
            start, end = position, size
        os.lseek(old, start, os.SEEK_SET)
        os.lseek(new, start, os.SEEK_SET)
        while start < end and (chunk := os.read(old, min(1 << 20, end - start))):
            start += os.write(new, chunk)
        position = end
    os.ftruncate(new, size)


def remove(root: Path) -> None:
    """Remove a tree of any modes and depth; what cannot be removed stays."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
    if os.path.lexists(root):
        make_readable(root)
        subprocess.run(["rm", "-rf", "--", str(root)], check=False, capture_output=True)  # has no depth limit


def restore(root: Path) -> None:
    """Make the folder that an agent worked in usable again: readable, and recreated empty if it is no longer a folder.

    OSError if something else is there and cannot be replaced.
    """
    _open_up(os.fspath(root.parent), None)
    if not os.path.lexists(root) or not stat.S_ISDIR(root.lstat().st_mode):
        root.unlink(missing_ok=True)
        root.mkdir()
    make_readable(root)


def make_readable(root: Path) -> None:
    """Give the owner access to every folder, even where an agent removed it."""
    with contextlib.suppress(OSError):
        _open_up(os.fspath(root), None)
    for _, names, _, at in walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                _open_up(name, at)


def _open_up(name: str, folder: int | None) -> None:
    """Give the owner access to a folder; links are not followed."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode) or mode & 0o700 == 0o700:
        return
    # Its mode may forbid opening it, and chmod by name would follow a link: O_PATH needs no rights.
    found = os.open(name, O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{found}" if O_PATH else found, stat.S_IMODE(mode) | 0o700)  # noqa: PTH101
    finally:
        os.close(found)


def walk(root: Path, *, strict: bool = False) -> Iterator[tuple[str, list[str], list[str], int]]:
    """Yield every folder of a tree, top down: its path, its subfolders, its other names, and a descriptor.

    The path ends with a slash, and is empty for the root. The descriptor is open until the next folder is requested.
    Remove subfolders from the list to skip them. Folders deeper than MAX_DEPTH are skipped, and so are those that
    cannot be opened, unless `strict` raises TooLarge or the OSError.
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
                elif strict and names:
                    raise TooLarge(f"more than {MAX_DEPTH} folders in each other")


def _names(folder: int) -> tuple[list[str], list[str]]:
    """Return the subfolders and all other names in an open folder, each sorted."""
    names: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as items:
        for item in items:
            (names if item.is_dir(follow_symlinks=False) else files).append(item.name)
    return sorted(names), sorted(files)


def lay_over(source: Path, target: Path) -> None:
    """Copy the files of `source`, a tree of the task's, into `target`, and replace what is in the way.

    It never writes through a symlink, whether inside `target` or `target` itself. OSError if `target` is no longer a
    folder, or the files cannot be written.
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
    """Remove the entry of this name from an open folder; `but_folders` keeps a folder."""
    try:
        is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        os.unlink(name, dir_fd=folder)
    elif not but_folders:
        shutil.rmtree(name, dir_fd=folder)


def resolved(root: Path, path: str) -> str:
    """Return a path below a tree with its links resolved, without leaving the tree.

    OSError if nothing is there, or a link leads out of the tree or in circles.
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
    """Return the first symlink below `root` that leads out, leads nowhere or is absolute; None if there is none."""
    for folder, names, files, at in walk(root):
        for name in sorted([*names, *files]):
            if stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                try:
                    resolved(root, f"{folder}{name}")
                except OSError:
                    return f"{folder}{name}"
    return None
