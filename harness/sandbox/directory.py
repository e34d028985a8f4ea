"""Changes in a directory tree: snapshots with hashes, and diffs of bounded size."""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.sandbox.trees import walk
from locobench.shared.files import opened_below
from measure.records import FileChange

IGNORED_DIRS = frozenset(
    {".git", "__pycache__", "node_modules", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders that tools fill by themselves; their files are not the agent's work."""

MAX_TEXT_BYTES = 1_000_000
"""Larger files are compared by hash only."""

MAX_HASHED_BYTES = 256_000_000
"""A larger file counts as changed if its size or modification time differs."""


MAX_DIFF_LINES = 20_000
"""Lines of the old and new file together. Comparing more takes seconds, so a larger file gets no diff."""

MAX_DIFF_CHARS = 20_000
"""Characters kept per diff or created file."""

MAX_TOTAL_CHARS = 1_000_000
"""Characters kept per run, over all diffs and created files."""


MAX_CHANGES = 10_000
"""Changed files kept per run; each takes 4 kB of memory until the run is written."""


class Changes(list[FileChange]):
    """The first changes of a tree, sorted by path."""

    left_out = 0
    """How many files more were changed."""


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
        """The content, or a line with its size and hash."""
        return self.text if self.text is not None else f"<{self.size} bytes, sha256 {self.digest}>"


class Snapshot(dict[str, str]):
    """Maps each file's relative path to its content or hash line; `entries` also has modes and hashes."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__({path: entry.label for path, entry in entries.items()})
        self.entries = dict(entries)


def snapshot(root: Path, patterns: list[str] | None = None) -> Snapshot:
    """Take a snapshot of all files below `root`, or of those that match a glob; symlinks are stored as their target."""
    return Snapshot(dict(_entries(root, patterns)))


def digest(root: Path) -> str:
    """Return the SHA-256 over paths, modes and contents of all files below `root` except caches and .git."""
    lines = [f"{path}\0{entry.mode:o}\0{entry.digest}\n" for path, entry in _entries(root, None, whole=True)]
    return _sha256("".join(lines).encode(errors="surrogateescape"))


def diff(before: Mapping[str, str], root: Path, patterns: list[str] | None = None) -> Changes:
    """Return the changes since `before`, which is a Snapshot or any mapping of relative path to content."""
    old = before.entries if isinstance(before, Snapshot) else {p: _entry_of_text(t) for p, t in before.items()}
    gone = dict(old)

    def pairs() -> Iterator[tuple[str, Entry | None, Entry | None]]:
        for path, new in _entries(root, patterns):  # one file at a time: all of them may not fit into memory
            yield path, gone.pop(path, None), new
        yield from ((path, gone[path], None) for path in sorted(gone))

    changes = Changes()
    left = MAX_TOTAL_CHARS
    for path, before_it, new in pairs():
        if change := _change(_printable(path), before_it, new, min(left, MAX_DIFF_CHARS)):
            if len(changes) == MAX_CHANGES:
                changes.left_out += 1
                continue
            left -= len(change.diff or "") + len(change.content_after or "")
            changes.append(change)
    changes.sort(key=lambda change: change.path)
    return changes


def _entries(root: Path, patterns: list[str] | None, *, whole: bool = False) -> Iterator[tuple[str, Entry]]:
    """Yield the path and entry of each file, folder by folder; `whole` hashes files of any size."""
    wanted = None if patterns is None else [re.compile(regex(pattern)) for pattern in patterns]
    for folder, names, files, at in walk(root):
        if wanted is None:
            names[:] = [name for name in names if name not in IGNORED_DIRS]
        for name in files:
            path = f"{folder}{name}"
            if wanted is None or any(pattern.fullmatch(path) for pattern in wanted):
                with contextlib.suppress(OSError):  # it went away since the folder was read
                    yield path, _entry(at, name, whole=whole)


def regex(glob: str) -> str:
    """Return the regular expression of a glob over whole paths, in which ** matches any number of folders."""
    parts = re.split(r"(\[!?\]?[^]]*\])", glob)
    for at, text in enumerate(parts):
        if at % 2:  # [a-c], [!a]
            parts[at] = fnmatch.translate(text)[len("(?s:") : -len(r")\Z")]
        else:
            text = re.escape(text).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
            parts[at] = text.replace(r"\?", "[^/]")
    return "".join(parts)


def _entry(folder: int, name: str, *, whole: bool) -> Entry:
    """Return the entry of this name in an open folder."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(name, dir_fd=folder)
        return Entry(
            0o120000, len(target), _sha256(target.encode(errors="surrogateescape")), f"-> {_printable(target)}"
        )
    mode = 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
    if not stat.S_ISREG(status.st_mode):
        return Entry(stat.S_IFMT(status.st_mode), 0, "special", None)
    try:
        with opened_below(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as file:
            if status.st_size > MAX_HASHED_BYTES and not whole:
                return Entry(mode, status.st_size, f"changed at {status.st_mtime_ns}", None)
            if status.st_size > MAX_TEXT_BYTES:
                return Entry(mode, status.st_size, hashlib.file_digest(file, "sha256").hexdigest(), None)
            content = file.read(MAX_TEXT_BYTES)
    except OSError:
        return Entry(mode, status.st_size, "unreadable", None)
    return Entry(mode, len(content), _sha256(content), as_text(content))


def as_text(content: bytes) -> str | None:
    """Return the text of a file; None for a binary one."""
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
    mode_change = f"{old.mode:o} -> {new.mode:o}" if old and new and old.mode and old.mode != new.mode else None
    if old and new and (old.digest, old.size, mode_change) == (new.digest, new.size, None):
        return None
    common: dict[str, Any] = {
        "path": path,
        "is_binary": any(entry.text is None for entry in (old, new) if entry),
        "size_after": new.size if new else None,
    }
    if new and not old:
        content = new.text[:limit] if new.text is not None else None
        cut = content != new.text or (new.text is None and new.size > MAX_TEXT_BYTES)
        return FileChange(action="created", content_after=content, truncated=cut, **common)
    text, cut = _diff_text(path, old.text if old else "", new.text if new else "", limit)
    return FileChange(
        action="modified" if new else "deleted", diff=text or None, mode_change=mode_change, truncated=cut, **common
    )


def _diff_text(path: str, old: str | None, new: str | None, limit: int) -> tuple[str | None, bool]:
    """Return a unified diff, cut to `limit` characters, and whether anything was cut."""
    if old is None or new is None:
        return None, False
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(before) + len(after) > MAX_DIFF_LINES:
        return None, True
    lines = difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return text[:limit], len(text) > limit


def _printable(name: str) -> str:
    """Return a file name as valid text; bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
