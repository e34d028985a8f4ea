"""Copy one project file: by the kernel where possible, and never through a link."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path


def open_source(path: str | Path) -> int:
    """Open a regular file for reading without following a link or waiting for a pipe; return its descriptor."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor


def copy_file(source: str, target: str, executable: bool) -> None:
    """Copy one file; the kernel shares blocks where the file system supports it (copy_file_range)."""
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with (
        os.fdopen(open_source(source), "rb", buffering=0) as read,
        os.fdopen(os.open(target, new, 0o755 if executable else 0o644), "wb") as write,
    ):
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
