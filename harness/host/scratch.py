"""Temporary folders: each is gone when its user is done, and at the latest when another process needs one."""

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
"""Begins the name of one that is being removed."""
IN_USE = ".in-use"
"""A file in each of them that its process keeps locked. A folder without one was kept on purpose."""

_locks: dict[Path, int] = {}
_swept: set[Path] = set()
_turn = threading.Lock()


def new(name: str = "", base: Path | None = None) -> Path:
    """Make a folder that only this user can read; what killed processes left beside it goes first.

    Args:
        name: becomes part of its own.
        base: where it is made; default the system's folder for temporary files.
    """
    place = Path(base or tempfile.gettempdir())
    with _turn:
        if place not in _swept:
            _swept.add(place)
            _sweep(place)
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}", dir=place)).resolve()
    unlocked = root / f"{IN_USE}.new"
    lock = os.open(unlocked, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):  # a file system without locks: nobody else can take it for abandoned either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unlocked.rename(root / IN_USE)
    _locks[root] = lock
    return root


def remove(root: Path) -> None:
    """Remove a folder, whatever is in it."""
    _remove(root)
    _unlock(root)


def root_of(path: Path) -> Path:
    """The folder of `new` that a path lies in; the path itself when it lies in none."""
    return next((parent for parent in path.parents if parent.name.startswith(PREFIX)), path)


def keep(root: Path) -> None:
    """Leave a folder to the user: no process takes it for abandoned."""
    (root / IN_USE).unlink(missing_ok=True)
    _unlock(root)


@contextlib.contextmanager
def folder(name: str = "") -> Iterator[Path]:
    """A folder for the time of the block."""
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
    """Remove folders whose process was killed: their file is there, and locked by nobody."""
    for mark in place.glob(f"{PREFIX}*/{IN_USE}"):
        with contextlib.suppress(OSError):  # of another user, or gone meanwhile
            lock = os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(mark.parent)
            finally:
                os.close(lock)
    for gone in place.glob(f"{GONE}*"):
        trees.remove(gone)


def _remove(root: Path) -> None:
    gone = root.with_name(GONE + root.name.removeprefix(PREFIX))  # a kill in the middle leaves what the next one finds
    try:
        root.rename(gone)
    except OSError:
        gone = root
    trees.remove(gone)
