"""A benchmark project on disk: which of its files a task gets, and under which paths."""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from locobench.scoring.code_index import LARGEST_FILE, LARGEST_PROJECT, CodeIndex

METADATA_FILE = "project_metadata.json"
# Version control is not part of the code, and the history could contain a task's answer.
LEFT_OUT = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A regular file or symbolic link; `path` is relative to the project folder, separated by `/`."""

    path: str
    executable: bool
    link: str | None
    """A symbolic link's target; None for a regular file."""
    size: int
    """Bytes."""


@dataclass(frozen=True)
class Project:
    """The contents of a project's folder."""

    folder: Path
    files: tuple[ProjectFile, ...]
    """Sorted by path."""
    skipped: dict[str, str]
    """Path -> reason of what is left out: version control, and anything but files, links and folders."""

    @classmethod
    def scan(cls, folder: Path) -> Project:
        """List a project's folder.

        Raises:
            OSError: the folder or a subfolder cannot be read, or the folder is a link, which may lead anywhere.
        """
        if folder.is_symlink():
            reason = "is a symbolic link, which may lead anywhere; put the folder itself there"
            raise OSError(errno.ELOOP, reason, folder)
        files, skipped, pending = [], {}, [""]
        while pending:
            prefix = pending.pop()
            with os.scandir(folder / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name in LEFT_OUT:
                        skipped[path] = "version control"
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(f"{path}/")
                    elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        link = os.readlink(entry.path) if entry.is_symlink() else None
                        executable = bool(status.st_mode & stat.S_IXUSR) and link is None
                        files.append(ProjectFile(path, executable, link, status.st_size))
                    else:
                        skipped[path] = "neither a file nor a folder"
        return cls(folder, tuple(sorted(files, key=lambda file: file.path)), skipped)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files, relative to the folder."""
        return frozenset(file.path for file in self.files)

    @cached_property
    def content(self) -> str:
        """A digest of every file's path, mode and content; the same for every copy of a project.

        Raises:
            OSError: a file cannot be read.
        """
        total = hashlib.sha256()
        for file in self.files:
            content = f"-> {file.link}"
            if file.link is None:
                with open(f"{self.folder}/{file.path}", "rb") as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
            total.update(f"{file.path}\0{file.executable}\0{content}\n".encode("utf-8", "surrogateescape"))
        return total.hexdigest()

    def mapping(self, context_files: Iterable[str]) -> ProjectMapping:
        """Decide which files a task with these context files gets."""
        wanted = list(dict.fromkeys(context_files))
        existing = [path for path in wanted if path in self.paths]
        roots = {path.partition("/")[0] for path in existing}
        root = f"{roots.pop()}/" if len(roots) == 1 and all("/" in path for path in existing) else ""
        files, skipped = [], {path: reason for path, reason in self.skipped.items() if path.startswith(root)}
        for file in self.files:
            if not file.path.startswith(root) or file.path == METADATA_FILE:
                continue
            if file.link is not None and not self._stays_inside(file, root):
                skipped[file.path] = f"a link that leads to no file of the project ({file.link})"
                continue
            files.append(file)
        # There are also links to folders, which no answer can be about.
        kept = {file.path for file in files if file.link is None or os.path.isfile(f"{self.folder}/{file.path}")}
        return ProjectMapping(
            self,
            root,
            tuple(files),
            tuple(f"left out {path}: {skipped[path]}" for path in sorted(skipped)),
            tuple(path.removeprefix(root) for path in wanted if path in kept),
            tuple(path for path in wanted if path not in kept),
        )

    @cached_property
    def indexes(self) -> dict[str, CodeIndex]:
        """A cache of the mappings' indexes by root."""
        return {}

    @cached_property
    def _link_targets(self) -> frozenset[str]:
        """The regular files and their folders."""
        regular = {file.path for file in self.files if file.link is None}
        return frozenset(regular.union(*map(_parents, regular)))

    def _stays_inside(self, file: ProjectFile, root: str) -> bool:
        """Return whether a link leads to a file or folder below the root."""
        link = file.link or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), link))
        return not posixpath.isabs(link) and target.startswith(root) and target in self._link_targets


@dataclass(frozen=True)
class ProjectMapping:
    """The part of a project that a task gets."""

    project: Project
    root: str
    """The root folder whose contents become the task's project (`name/`), or "" for the whole folder."""
    files: tuple[ProjectFile, ...]
    warnings: tuple[str, ...]
    """One line for each file left out."""
    context_files: tuple[str, ...]
    """The context files that exist, without the root folder's name."""
    missing: tuple[str, ...]
    """The context files that do not exist."""

    @property
    def paths(self) -> list[str]:
        """The paths of all files that the task gets, without the root folder's name."""
        return [file.path.removeprefix(self.root) for file in self.files]

    def index(self) -> CodeIndex:
        """Return the index of the part's files, built once for all tasks that share the part.

        Raises:
            OSError: a file cannot be read.
        """
        if self.root not in self.project.indexes:
            self.project.indexes[self.root] = CodeIndex(self.paths, self._texts(), self.root.rstrip("/"))
        return self.project.indexes[self.root]

    def _texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield (path, content) of regular files up to LARGEST_FILE bytes, LARGEST_PROJECT bytes in all."""
        left = LARGEST_PROJECT
        for file in self.files:
            if file.link is None and file.size <= min(LARGEST_FILE, left):
                left -= file.size
                with open(f"{self.project.folder}/{file.path}", "rb") as stream:
                    yield file.path.removeprefix(self.root), stream.read(LARGEST_FILE)

    def copy_to(self, target: Path) -> None:
        """Copy the files to the folder `target`, which has none yet; OSError if one cannot be read or written."""
        target.mkdir(exist_ok=True)
        for folder in sorted({folder for path in self.paths for folder in _parents(path)}):
            os.mkdir(f"{target}/{folder}")
        for file in self.files:
            path = file.path.removeprefix(self.root)
            if file.link is not None:
                os.symlink(file.link, f"{target}/{path}")
            else:
                shutil.copyfile(f"{self.project.folder}/{file.path}", f"{target}/{path}", follow_symlinks=False)
                os.chmod(f"{target}/{path}", 0o755 if file.executable else 0o644)


def _parents(path: str) -> Iterator[str]:
    """Yield the folders above `path`, nearest first, without ""."""
    while path := path.rpartition("/")[0]:
        yield path
