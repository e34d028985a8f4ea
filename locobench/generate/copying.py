"""Copy one project file: by the kernel where possible, never through a link, optionally without its code fence."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from locobench.dataset.records import BYTE_ORDER_MARK


def open_source(path: str | Path) -> int:
    """Open a regular file for reading without following a link or waiting for a pipe; return its descriptor."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor


def copy_file(source: str, target: str, executable: bool, strip_code_fence: bool = False) -> None:
    """Copy one file; the kernel shares blocks where the file system supports it (copy_file_range)."""
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(open_source(source), "rb", buffering=0) as read:
        stripped = _without_fence(read.fileno(), source) if strip_code_fence else None
        with os.fdopen(os.open(target, new, 0o755 if executable else 0o644), "wb") as write:
            if stripped is not None:
                write.write(stripped)
            else:
                _copy_bytes(read, write)


def _copy_bytes(read: BinaryIO, write: BinaryIO) -> None:
    if hasattr(os, "copy_file_range"):
        try:
            while os.copy_file_range(read.fileno(), write.fileno(), 1 << 30):
                pass
            return
        except OSError as error:
            # Across file systems, or unsupported on this one; nothing has been written yet.
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
    shutil.copyfileobj(read, write)


def _without_fence(read: int, path: str) -> bytes | None:
    """Return the file's content without the Markdown fence around it, or None if there is none.

    A Markdown file may begin and end with fences of its own, so only a `markdown` fence is removed from it.
    """
    if not os.pread(read, 16, 0).removeprefix(BYTE_ORDER_MARK).startswith(b"```"):
        return None
    size = os.fstat(read).st_size
    first, _, rest = os.pread(read, size, 0).removeprefix(BYTE_ORDER_MARK).partition(b"\n")
    body, _, last = rest.rstrip().rpartition(b"\n")
    language = first.strip().strip(b"`").strip().lower()
    if last.strip() != b"```" or b" " in language:
        return None
    if path.lower().endswith((".md", ".markdown")) and language not in (b"md", b"markdown"):
        return None
    return body + b"\n"
