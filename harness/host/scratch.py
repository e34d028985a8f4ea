"""Temporary folders. Each is removed after use, or if its process is killed, by the next process that needs one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from harness.host import trees

PREFIX = "eval_"
GONE = "eval_gone_"
"""Prefix of a folder that is being removed."""
IN_USE = ".in-use"
"""A file in each folder, locked by the process that uses it. A folder without this file was kept on purpose."""

_locks: dict[Path, int] = {}
_swept: set[Path] = set()
_turn = threading.Lock()


def new(name: str = "", base: Path | None = None) -> Path:
    """Create a folder that only this user can read; the first call removes what killed processes left there.

    `name` is part of its name. `base` is where it is created; default the system's folder for temporary files.
    """
    place = Path(base or tempfile.gettempdir())
    with _turn:
        if place not in _swept:
            _swept.add(place)
            _sweep(place)
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}", dir=place)).resolve()
    unlocked = root / f"{IN_USE}.new"
    lock = os.open(unlocked, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):  # without locks in the file system, nobody else can take it for abandoned either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unlocked.rename(root / IN_USE)
    _locks[root] = lock
    return root


def remove(root: Path) -> None:
    """Remove a folder, whatever is in it."""
    _remove(root)
    _unlock(root)


def root_of(path: Path) -> Path:
    """Return the folder made by `new` that contains a path, or the path itself if there is none."""
    return next((parent for parent in path.parents if parent.name.startswith(PREFIX)), path)


def keep(root: Path) -> None:
    """Leave a folder to the user: no process will remove it as abandoned."""
    with contextlib.suppress(OSError):  # it was kept before, or is gone
        (root / IN_USE).unlink()
    _unlock(root)


@contextlib.contextmanager
def folder(name: str = "") -> Iterator[Path]:
    """Create a folder that is removed at the end of the block."""
    root = new(name)
    try:
        yield root
    finally:
        remove(root)


def _unlock(root: Path) -> None:
    lock = _locks.pop(root, None)
    if lock is not None:
        os.close(lock)


def _sweep(place: Path) -> None:
    """Remove folders of killed processes: their lock file exists, but nobody holds the lock."""
    for mark in place.glob(f"{PREFIX}*/{IN_USE}"):
        with contextlib.suppress(OSError):  # it is another user's, or gone by now
            lock = os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(mark.parent)
            finally:
                os.close(lock)
    for gone in place.glob(f"{GONE}*"):
        trees.remove(gone)


def _remove(root: Path) -> None:
    gone = root.with_name(GONE + root.name.removeprefix(PREFIX))  # if we are killed, the next process finds the rest
    try:
        root.rename(gone)
    except OSError:
        gone = root
    trees.remove(gone)
