"""Copies, walks and removes directory trees, within limits.

A tree may be an agent's work: no link in it is followed, and neither is one in its place. Nothing changes it meanwhile,
since all processes of its run have ended. Paths are strings: 20,000 files take a second less.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from locobench.shared.files import FILE, FOLDER, opened_below

MAX_COPIED_BYTES = 4_000_000_000
MAX_COPIED_FILES = 200_000
MAX_DEPTH = 200
"""Nested folders; deeper paths may be longer than the system allows."""


class TooLarge(OSError):
    """The tree is too large to copy."""


def copy(source: Path, target: Path, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Copy a tree with modes, over what is in the way.

    Symlinks stay symlinks; sockets, pipes and devices are left out. `wanted` gets the relative path of each file and,
    with a slash at its end, of each folder. TooLarge if there are more than MAX_COPIED_BYTES, MAX_COPIED_FILES entries
    or MAX_DEPTH nested folders; OSError if it cannot be copied, or `target` is no folder.
    """
    if target.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "is a link", str(target))
    target.mkdir(parents=True, exist_ok=True)
    entries, size = 0, 0
    for folder, names, files, at in walk(source, strict=True):
        names[:] = [name for name in names if wanted(f"{folder}{name}/")]
        entries += len(names) + len(files)
        if entries > MAX_COPIED_FILES:
            raise TooLarge(f"more than {MAX_COPIED_FILES} files")
        for there in (f"{target}/{folder}{name}" for name in names):
            if os.path.islink(there) or not os.path.isdir(there):
                _clear(there)
                os.mkdir(there)
        for path in filter(wanted, [f"{folder}{name}" for name in files]):
            size += _copy_file(at, path.rpartition("/")[2], f"{target}/{path}", MAX_COPIED_BYTES - size)


def _clear(path: str) -> None:
    """Remove what is at a path."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _copy_file(folder: int, name: str, target: str, most: int) -> int:
    """Copy a file or link from an open folder, with mode and times; anything else (a pipe, a device) is skipped.

    Return its bytes; TooLarge, before anything is written, if it has more than `most`.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    _clear(target)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=folder), target)
    if not stat.S_ISREG(status.st_mode):
        return 0
    if status.st_size > most:
        raise TooLarge(f"more than {MAX_COPIED_BYTES} bytes")
    with open(os.open(name, FILE, dir_fd=folder), "rb") as old, open(target, "xb") as new:
        shutil.copyfileobj(old, new)
        os.fchmod(new.fileno(), stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return status.st_size


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
    make_readable(root.parent)
    if not os.path.lexists(root) or not stat.S_ISDIR(root.lstat().st_mode):
        root.unlink(missing_ok=True)
        root.mkdir()


def make_readable(root: Path) -> None:
    """Give the owner access to every folder, even where an agent removed it."""
    closed = ["-type", "d", "!", "-perm", "-700"]
    command = ["find", str(root), *closed, "-exec", "chmod", "u+rwx", "{}", ";"]
    subprocess.run(command, check=False, capture_output=True)


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
                    raise TooLarge(f"more than {MAX_DEPTH} nested folders")


def _names(folder: int) -> tuple[list[str], list[str]]:
    """Return the subfolders and all other names in an open folder, each sorted."""
    names: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as items:
        for item in items:
            (names if item.is_dir(follow_symlinks=False) else files).append(item.name)
    return sorted(names), sorted(files)


def resolve(root: Path, path: str) -> str:
    """Return a path below a tree with its links resolved, without leaving the tree.

    OSError if nothing is there, or a link leads out of the tree or in circles.
    """
    top = os.path.realpath(root, strict=True)
    found = os.path.realpath(f"{top}/{path}", strict=True)
    if root.is_symlink() or not Path(found).is_relative_to(top):
        raise OSError(errno.ELOOP, "leads out", path)
    return os.path.relpath(found, top)


def escaping_symlink(root: Path) -> str | None:
    """Return the first symlink below `root` that leads out, leads nowhere or is absolute; None if there is none."""
    paths = (f"{folder}{name}" for folder, _, files, _ in walk(root) for name in files)
    for path in (path for path in paths if os.path.islink(root / path)):
        try:
            resolve(root, path)
        except OSError:
            return path
        if os.readlink(root / path).startswith("/"):
            return path
    return None
