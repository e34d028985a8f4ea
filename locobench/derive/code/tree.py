"""Read the files of a commit from a git repository's objects, whatever is in the working tree."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import subprocess
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from locobench.shared import git
from locobench.shared.errors import InputError

LFS_MARK = b"version https://git-lfs.github.com/spec/"
LARGEST_SOURCE = 600_000
"""Bytes; a larger source file is left out. The largest hand-written ones in big projects have half a million."""

_MEMBER = re.compile(r"(.+?)@([0-9a-f]{40,64})(?: |$)")
"""A repository of several, and its commit."""
LINK, _SUBMODULE, _PROGRAM = "120000", "160000", "100755"


class Blob(NamedTuple):
    """A file in a commit."""

    path: str
    object_id: str
    size: int
    """Bytes."""
    mode: str


class Tree(NamedTuple):
    """All files of a commit."""

    commit: str
    blobs: tuple[Blob, ...]
    """Regular files and links, sorted by path."""


class Repository:
    """A git repository."""

    def __init__(self, folder: Path) -> None:
        """Open the repository in `folder`: a checkout, a folder in one, or a bare repository.

        Raises:
            InputError: git is missing, or the folder does not exist or is not a repository.
        """
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; name a git repository")
        self.folder = folder.resolve()
        try:
            inside = self.git("rev-parse", "--is-inside-work-tree") == "true"
        except InputError as error:
            raise InputError(f"{error}; name a clone, or run `git init` and commit first") from None
        self.folder = Path(self.git("rev-parse", "--show-toplevel" if inside else "--absolute-git-dir"))
        named = self.folder.parent if self.folder.name == ".git" else self.folder
        self.name = named.name.removesuffix(".git") or "repository"

    def commit(self, revision: str = "HEAD") -> str:
        """Return the id of a commit.

        Raises:
            InputError: there is no such commit.
        """
        try:
            return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except InputError:
            missing = "no commit in it" if revision == "HEAD" else f"no commit {revision!r}"
            raise InputError(f"{self.folder}: {missing}; commit first, or name another --revision") from None

    @property
    def is_shallow(self) -> bool:
        """Whether a part of the history was never fetched."""
        return self.git("rev-parse", "--is-shallow-repository") == "true"

    def tree(self, commit: str) -> Tree:
        """List the files of a commit.

        Raises:
            InputError: the content of one is missing.
        """
        blobs = []
        try:
            listed = self.git("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        except InputError as error:
            raise self._incomplete(str(error)) from None
        for line in listed.split("\0"):
            if not line:
                continue
            facts, _, path = line.partition("\t")
            mode, _, object_id, size = facts.split()
            if size.isdigit():
                blobs.append(Blob(path, object_id, int(size), mode))
            elif mode != _SUBMODULE:
                raise self._incomplete(path)
        return Tree(commit, tuple(sorted(blobs)))

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Yield the blobs with their contents, one in memory at a time.

        Raises:
            InputError: one is missing, as in a partial clone.
        """
        ask, said = self._objects.stdin, self._objects.stdout
        assert ask
        assert said
        for blob in blobs:
            ask.write(f"{blob.object_id}\n".encode())
            ask.flush()
            head = said.readline().split()
            if len(head) != 3:
                raise self._incomplete(blob.path)
            content = said.read(int(head[2]))
            said.read(1)
            yield blob, content

    @cached_property
    def _objects(self) -> subprocess.Popen[bytes]:
        """The process that reads objects: git takes longer to start than to answer."""
        process = git.start(self.folder, "cat-file", "--batch")
        weakref.finalize(self, _stop, process)
        return process

    def _incomplete(self, what: str) -> InputError:
        return InputError(
            f"{self.folder}: {what}: its content is missing, the clone is partial or damaged; run"
            f" `git -C {self.folder} fetch --refetch --no-filter`, or clone it again"
        )

    def git(self, *arguments: str) -> str:
        """Run git and return its output.

        Raises:
            InputError: git failed; the message ends with its last line.
        """
        return git.run(self.folder, *arguments)


class Family(Repository):
    """Repositories side by side, each in a folder of its name; a commit of it is one commit of each."""

    def __init__(self, members: Sequence[Repository]) -> None:
        """Lay repositories side by side.

        Raises:
            InputError: there are fewer than two, or two have one name.
        """
        self.members = {member.name: member for member in sorted(members, key=lambda member: member.name)}
        if len(members) < 2:
            raise InputError("--together: asks across repositories; name two or more")
        if len(self.members) < len(members):
            raise InputError("--together: two repositories have one name; rename a folder")
        self.folder = Path(" ".join(str(member.folder) for member in self.members.values()))
        self.name = "-".join(self.members)

    def commit(self, revision: str = "HEAD") -> str:
        """Return the commits, each with its repository's name before it."""
        return " ".join(f"{name}@{member.commit(revision)}" for name, member in self.members.items())

    def tree(self, commit: str) -> Tree:
        """List the files of all commits."""
        blobs: list[Blob] = []
        for name, own in _MEMBER.findall(commit):
            blobs += [blob._replace(path=f"{name}/{blob.path}") for blob in self.members[name].tree(own).blobs]
        return Tree(commit, tuple(blobs))

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Yield the blobs with their contents, one in memory at a time."""
        for name, own in groupby(blobs, key=lambda blob: blob.path.partition("/")[0]):
            yield from self.members[name].contents(own)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def write_tree(repository: Repository, tree: Tree, folder: Path) -> None:
    """Write a commit's files below `folder`, which must not exist: no .git, no submodules, links as links.

    Raises:
        OSError: a file cannot be written.
        InputError: a file's content is not in the repository.
    """
    folder.mkdir(parents=True)
    for parent in {posixpath.dirname(blob.path) for blob in tree.blobs}:
        (folder / parent).mkdir(parents=True, exist_ok=True)
    for blob, content in repository.contents(tree.blobs):
        path = folder / blob.path
        if blob.mode == LINK:
            with contextlib.suppress(OSError, ValueError):  # a target that the file system rejects
                path.symlink_to(os.fsdecode(content))
        else:
            path.write_bytes(content)
            if blob.mode == _PROGRAM:
                path.chmod(0o755)
