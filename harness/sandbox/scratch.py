"""Temporary folders. Each is removed after use, or if its process is killed, by the next process that needs one.

One that is kept for a later command has a file KEPT in it. A journal may name any folder: only those made here count.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from harness.sandbox import trees

PREFIX = "eval_"
IN_USE = ".lock"
"""Ending of a file beside each folder, locked by the process that uses it. A folder without it was kept on purpose."""
KEPT = ".kept"

_locks: dict[Path, int] = {}
_swept: set[Path] = set()
_turn = threading.Lock()

other_places: set[Path] = set()
"""Where this process makes folders besides the system's folder for temporary files."""


def new(name: str = "", base: Path | None = None) -> Path:
    """Create a folder that only this user can read; the first call removes what killed processes left there.

    `name` is part of its name. `base` is where it is created; default the system's folder for temporary files.
    """
    place = Path(base or tempfile.gettempdir())
    with _turn:
        if place not in _swept:
            _swept.add(place)
            _sweep(place)
    lock, mark = tempfile.mkstemp(IN_USE, f"{PREFIX}{name}", place)
    with contextlib.suppress(OSError):  # without locks in the file system, nobody else can take it for abandoned either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    root = Path(mark.removesuffix(IN_USE)).resolve()
    root.mkdir(mode=0o700)
    _locks[root] = lock
    return root


def remove(root: Path) -> None:
    """Remove a folder, whatever is in it."""
    trees.remove(root)
    _release(root)


def keep(path: Path | None) -> None:
    """Leave the folder that contains a path, if there is one, to later commands: no process removes it as abandoned."""
    if root := find_root(path):
        (root / KEPT).touch()
        _release(root)


def discard(path: Path | None) -> None:
    """Remove the folder that contains a path, if there is one."""
    if root := find_root(path):
        remove(root)


def find_root(path: Path | None) -> Path | None:
    """Return the folder of `new` that contains a path, whichever process made it; None if there is none."""
    if path is None:
        return None
    root = path.parent
    places = {Path(tempfile.gettempdir()).resolve(), *other_places}
    made = root.parent in places and root.name.startswith(PREFIX) and root.is_dir() and not root.is_symlink()
    return root if made and ((root / KEPT).is_file() or _mark(root).is_file()) else None


def _release(root: Path) -> None:
    _mark(root).unlink(missing_ok=True)
    if (lock := _locks.pop(root, None)) is not None:
        os.close(lock)


@contextlib.contextmanager
def folder(name: str = "") -> Iterator[Path]:
    """Create a folder that is removed at the end of the block."""
    root = new(name)
    try:
        yield root
    finally:
        remove(root)


def _mark(root: Path) -> Path:
    return root.with_name(root.name + IN_USE)


def _sweep(place: Path) -> None:
    """Remove folders of killed processes: their file exists, but nobody has locked it."""
    for mark in place.glob(f"{PREFIX}*{IN_USE}"):
        with contextlib.suppress(OSError):  # it is another user's, or gone by now
            lock = os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                trees.remove(mark.with_name(mark.name.removesuffix(IN_USE)))
                mark.unlink()
            finally:
                os.close(lock)
