"""What changed in a directory tree: copies, snapshots by hash, and bounded diffs of everything in it."""

from __future__ import annotations

import contextlib
import difflib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.models import FileChange

IGNORED_DIRS = frozenset(
    {
        ".git",
        "__pycache__",
        "node_modules",
        ".venv",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
    }
)
"""Folders that tools fill by themselves; their files are no work of the agent."""

MAX_TEXT_BYTES = 1_000_000
"""Larger files are compared by hash only."""

MAX_HASHED_BYTES = 256_000_000
"""A larger file counts as changed when its size or its time of change is another one."""

MAX_COPIED_BYTES = 4_000_000_000
MAX_COPIED_FILES = 200_000
MAX_DEPTH = 200
"""Folders in each other: deeper, a path may get longer than the system takes."""

FICLONE = 0x40049409
"""The request of Linux that lets two files share their blocks until one is written."""

MAX_DIFF_LINES = 20_000
"""Of old and new file together; comparing more takes seconds, so such a file gets no diff."""

MAX_DIFF_CHARS = 20_000
"""Characters kept of one diff or one created file."""

MAX_TOTAL_CHARS = 1_000_000
"""Characters kept of all diffs and created files of one run."""


@dataclass(frozen=True)
class Entry:
    """One file of a tree."""

    mode: int
    """Git's modes: 100644, 100755 or 120000 (octal)."""
    size: int
    digest: str
    text: str | None
    """Content; None for binary, large and unreadable files."""

    @property
    def label(self) -> str:
        """The content, or a line that stands for it."""
        return self.text if self.text is not None else f"<{self.size} bytes, sha256 {self.digest}>"


class Snapshot(dict[str, str]):
    """Relative path to content (or hash line) of every file, with modes and hashes beside it."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__({path: entry.label for path, entry in entries.items()})
        self.entries = dict(entries)


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
    for folder, names, _ in _walk(root):
        for name in names:
            path = f"{folder}/{name}"
            with contextlib.suppress(OSError):
                mode = os.lstat(path).st_mode
                if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
                    os.chmod(path, stat.S_IMODE(mode) | 0o700)  # noqa: PTH101


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
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
    for folder, names, files in _walk(root):
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            if not path.is_symlink():
                continue
            stays = path.exists() and path.resolve().is_relative_to(inside)
            if not stays or Path(os.readlink(path)).is_absolute():  # noqa: PTH115
                return path.relative_to(root).as_posix()
    return None


def snapshot(root: Path, patterns: list[str] | None = None) -> Snapshot:
    """Every file below `root` (or those that match a glob of `patterns`), symlinks as their target."""
    entries = {}
    for path in _files(root, patterns):
        with contextlib.suppress(OSError):  # it went away since the folder was read
            entries[path] = _entry(root / path, whole=False)
    return Snapshot(entries)


def digest(root: Path) -> str:
    """SHA-256 over paths, modes and contents of all files below `root`, caches and .git aside."""
    lines = []
    for path in _files(root, None):
        entry = _entry(root / path)
        lines.append(f"{path}\0{entry.mode:o}\0{entry.digest}\n")
    return _sha256("".join(lines).encode(errors="surrogateescape"))


def diff(before: Mapping[str, str], root: Path, patterns: list[str] | None = None) -> list[FileChange]:
    """Changes since `before`: a Snapshot, or any mapping of relative path to content."""
    old = before.entries if isinstance(before, Snapshot) else {p: _entry_of_text(t) for p, t in before.items()}
    there = set(_files(root, patterns))
    changes = []
    left = MAX_TOTAL_CHARS
    for path in sorted(old.keys() | there):
        new = None  # one file at a time: all of them together may be larger than the memory
        if path in there:
            with contextlib.suppress(OSError):  # it went away since the folder was read
                new = _entry(root / path, whole=False)
        if new is None and path not in old:
            continue
        change = _change(_printable(path), old.get(path), new, min(left, MAX_DIFF_CHARS))
        if change is not None:
            left -= len(change.diff or "") + len(change.content_after or "")
            changes.append(change)
    return changes


def _files(root: Path, patterns: list[str] | None) -> Iterator[str]:
    if patterns is not None:
        found = {p for pattern in patterns for p in root.glob(pattern) if p.is_file() or p.is_symlink()}
        yield from sorted(p.relative_to(root).as_posix() for p in found)
        return
    start = len(os.fspath(root)) + 1
    for folder, names, files in _walk(root):
        names[:] = [name for name in names if name not in IGNORED_DIRS]
        for name in sorted(files):
            yield f"{folder}/{name}"[start:]


def _entry(path: Path, *, whole: bool = True) -> Entry:
    """What is at a path; `whole` hashes a file of any size."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(path)  # noqa: PTH115 - the bytes of the link, not a normalised path
        return Entry(
            0o120000,
            len(target),
            _sha256(target.encode(errors="surrogateescape")),
            f"-> {_printable(target)}",
        )
    mode = 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
    if not stat.S_ISREG(status.st_mode):
        return Entry(stat.S_IFMT(status.st_mode), 0, "special", None)
    try:
        with path.open("rb") as file:
            if status.st_size > MAX_HASHED_BYTES and not whole:
                return Entry(mode, status.st_size, f"changed at {status.st_mtime_ns}", None)
            if status.st_size > MAX_TEXT_BYTES:
                return Entry(mode, status.st_size, hashlib.file_digest(file, "sha256").hexdigest(), None)
            content = file.read()
    except OSError:
        return Entry(mode, status.st_size, "unreadable", None)
    return Entry(mode, len(content), _sha256(content), _as_text(content))


def _as_text(content: bytes) -> str | None:
    if b"\0" in content[:8192]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _entry_of_text(text: str) -> Entry:
    content = text.encode()
    return Entry(0, len(content), _sha256(content), text)


def _change(path: str, old: Entry | None, new: Entry | None, limit: int) -> FileChange | None:
    if new is None:
        assert old is not None
        text, cut = _diff_text(path, old.text, "", limit)
        return FileChange(path=path, action="deleted", diff=text, is_binary=old.text is None, truncated=cut)
    if old is None:
        content = new.text[:limit] if new.text is not None else None
        cut = content != new.text or (new.text is None and new.size > MAX_TEXT_BYTES)
        return FileChange(
            path=path,
            action="created",
            content_after=content,
            is_binary=new.text is None,
            size_after=new.size,
            truncated=cut,
        )
    mode_change = f"{old.mode:o} -> {new.mode:o}" if old.mode and old.mode != new.mode else None
    if old.digest == new.digest and old.size == new.size and mode_change is None:
        return None
    text, cut = _diff_text(path, old.text, new.text, limit)
    return FileChange(
        path=path,
        action="modified",
        diff=text or None,
        is_binary=new.text is None or old.text is None,
        size_after=new.size,
        mode_change=mode_change,
        truncated=cut,
    )


def _diff_text(path: str, old: str | None, new: str | None, limit: int) -> tuple[str | None, bool]:
    """Unified diff cut to `limit` characters, and whether anything of it is missing."""
    if old is None or new is None:
        return None, False
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(before) + len(after) > MAX_DIFF_LINES:
        return None, True
    lines = difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return text[:limit], len(text) > limit


def _printable(name: str) -> str:
    """A file name as text that can be written; bytes that are no UTF-8 become escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
