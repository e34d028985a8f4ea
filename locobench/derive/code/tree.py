"""What does a commit hold? Files of a git repository, read from its objects, whatever lies in the working folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from locobench.shared.errors import InputError

LFS_MARK = b"version https://git-lfs.github.com/spec/"
LARGEST_SOURCE = 1_000_000
"""Bytes; a longer source file is taken for generated. The longest hand-written ones of large projects have half."""

_LINK, _SUBMODULE, _PROGRAM = "120000", "160000", "100755"
# Nothing that a user has set up may change what is read, ask something, or fetch what is missing.
_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit."""

    path: str
    object_id: str
    size: int
    """Bytes."""
    mode: str


@dataclass(frozen=True)
class Tree:
    """All files of a commit, and what it names without holding it."""

    commit: str
    blobs: tuple[Blob, ...]
    """Regular files and links, sorted by path."""
    submodules: tuple[str, ...]


class Repository:
    """A git repository."""

    def __init__(self, folder: Path) -> None:
        """Open the repository in `folder`: a checkout, a folder in one, or a bare repository.

        Raises:
            InputError: there is no git, no folder, or no repository.
        """
        if shutil.which("git") is None:
            raise InputError("git: not found; install it")
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; name a git repository")
        self.folder = folder
        try:
            top = self.git("rev-parse", "--show-toplevel")
        except InputError:
            try:
                top = self.git("rev-parse", "--absolute-git-dir")
            except InputError as error:
                reason = str(error) if "dubious ownership" in str(error) else f"{folder}: not a git repository"
                raise InputError(f"{reason}; name a clone, or run `git init` and commit first") from None
        self.folder = Path(top)

    @property
    def name(self) -> str:
        """The name of its folder."""
        name = self.folder.resolve().name
        return (self.folder.resolve().parent.name if name == ".git" else name).removesuffix(".git") or "repository"

    def commit(self, revision: str = "HEAD") -> str:
        """Return the id of a commit.

        Raises:
            InputError: there is none of that name.
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
        """List the files of a commit."""
        blobs, submodules = [], []
        for line in self.git("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split("\0"):
            if not line:
                continue
            facts, _, path = line.partition("\t")
            mode, _, object_id, size = facts.split()
            if mode == _SUBMODULE:
                submodules.append(path)
            else:
                blobs.append(Blob(path, object_id, int(size), mode))
        return Tree(commit, tuple(sorted(blobs, key=lambda blob: blob.path)), tuple(submodules))

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Yield the blobs with their contents, one in memory at a time.

        Raises:
            InputError: one is missing, as in a partial clone.
        """
        command = ["git", "-C", str(self.folder), "cat-file", "--batch", "--buffer"]
        wanted = list(blobs)
        # A file, not a pipe: the list is written at once, and git answers while it reads.
        with tempfile.TemporaryFile() as ids:
            ids.write("".join(f"{blob.object_id}\n" for blob in wanted).encode())
            ids.seek(0)
            process = subprocess.Popen(
                command, stdin=ids, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | _QUIET
            )
            assert process.stdout
            try:
                for blob in wanted:
                    head = process.stdout.readline().split()
                    if len(head) != 3:
                        raise InputError(
                            f"{self.folder}: {blob.path}: its content is not in the repository (a partial clone?);"
                            " fetch it whole"
                        )
                    content = process.stdout.read(int(head[2]))
                    process.stdout.read(1)
                    yield blob, content
            finally:
                process.kill()
                process.stdout.close()
                process.wait()

    def stream(self, *arguments: str) -> Iterator[list[str]]:
        r"""Run git, whose output begins each entry with \x01 and ends its head with \x02; yield the entries' parts.

        The parts of a head stand between NULs; what follows it is the last part.
        """
        process = subprocess.Popen(
            ["git", "-C", str(self.folder), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | _QUIET,
        )  # fmt: skip
        assert process.stdout
        held = b""
        try:
            while chunk := process.stdout.read(1 << 16):
                *whole, held = (held + chunk).split(b"\x01")
                yield from map(_entry, filter(None, whole))
            if held:
                yield _entry(held)
        finally:
            process.kill()
            process.stdout.close()
            process.wait()

    def git(self, *arguments: str) -> str:
        """Run git and return what it prints.

        Raises:
            InputError: git failed; the message is its last line.
        """
        done = subprocess.run(
            ["git", "-C", str(self.folder), "-c", "core.quotePath=false", *arguments],
            capture_output=True,
            env=os.environ | _QUIET,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise InputError(f"{self.folder}: git {arguments[0]}: {said[-1] if said else 'failed'}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def _entry(data: bytes) -> list[str]:
    head, _, rest = data.decode("utf-8", "surrogateescape").partition("\x02")
    return [*head.split("\0")[:3], rest.strip("\0\n")]


def is_link(blob: Blob) -> bool:
    """Whether it is a symbolic link."""
    return blob.mode == _LINK


def write_tree(repository: Repository, tree: Tree, folder: Path) -> None:
    """Write a commit's files below `folder`, which must not exist: no .git, no submodules, links as links.

    Raises:
        OSError: a file cannot be written.
        InputError: a file's content is not in the repository.
    """
    folder.mkdir(parents=True)
    made = {folder}
    for blob, content in repository.contents(tree.blobs):
        path = folder / blob.path
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        if is_link(blob):
            with contextlib.suppress(OSError, ValueError):  # a target that no file system takes
                path.symlink_to(os.fsdecode(content))
        else:
            path.write_bytes(content)
            if blob.mode == _PROGRAM:
                path.chmod(0o755)
