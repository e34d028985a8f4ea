"""Which of an agent's files are graded? Only its sources, on top of a fresh fixture."""

from __future__ import annotations

import configparser
import os
import posixpath
import shutil
import stat
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pathspec

from harness.host import directory, trees
from locobench.shared.files import opened_below, read_below

STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", ".coveragerc"),
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo"),
    *("*.egg-link", "*.egg-info", "*.dist-info"),  # pytest loads the plugins of distributions beside the tests
)
"""Names of files and folders that steer an interpreter or a test runner. The task's are used, an agent's are not."""

MAX_SETTINGS_BYTES = 1_000_000
SHARED = {"pyproject.toml": ("pytest",), "setup.cfg": ("tool:pytest", "pytest")}
"""Files with a test runner's settings among others, and the names of the runner's sections."""


def rebuild(fixture: Path | None, work: Path, target: Path) -> tuple[str, ...]:
    """Build `target` from the fixture and the sources that the agent changed; return the files that the agent created.

    Four kinds of the agent's files are not copied: folders that tools fill (`directory.IGNORED_DIRS`), what the
    fixture's .gitignore files match, links that lead out, and files that steer a test runner. The fixture's own are
    kept. Files that the agent deleted are removed.

    Args:
        fixture: what the agent started from; None is an empty project.
        work: the agent's tree; its links are not followed.
        target: a folder that does not exist yet.

    Raises:
        OSError: the tree cannot be copied; `trees.TooLarge` if it is too large.
    """
    if fixture is None:
        target.mkdir(parents=True)
    else:
        trees.copy(fixture, target)
    ignored = _Ignored(fixture)
    created = []
    entries = size = 0
    there = set()
    for path, at in _files(work, ignored):
        there.add(path)
        name, destination = path.rpartition("/")[2], target / path
        mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
        is_link = stat.S_ISLNK(mode)
        if not is_link and not stat.S_ISREG(mode):  # a pipe, a socket, a device
            continue
        if _same(at, name, destination, is_link):
            continue
        if _steers(path, at, destination, is_link) or (is_link and _leads_out(path, os.readlink(name, dir_fd=at))):
            continue
        if not os.path.lexists(destination):
            created.append(path)
        _make_room(destination, target)
        entries += 1
        size += trees.copy_file(at, name, str(destination))
        if size > trees.MAX_COPIED_BYTES or entries > trees.MAX_COPIED_FILES:
            raise trees.TooLarge(f"more than {trees.MAX_COPIED_FILES} changed files or {trees.MAX_COPIED_BYTES} bytes")
    for path, _ in list(_files(target, ignored)):
        if path not in there and not _is_steering(path):
            (target / path).unlink()
    return tuple(created)


class _Ignored:
    """The paths that the fixture's .gitignore files match."""

    def __init__(self, fixture: Path | None) -> None:
        self._specs: list[tuple[str, pathspec.GitIgnoreSpec]] = []
        if fixture is None:
            return
        for file in sorted(fixture.rglob(".gitignore")):
            if file.is_file():
                folder = file.parent.relative_to(fixture).as_posix()
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
                self._specs.append(("" if folder == "." else f"{folder}/", pathspec.GitIgnoreSpec.from_lines(lines)))

    def __contains__(self, path: str) -> bool:
        return any(
            path.startswith(folder) and spec.match_file(path.removeprefix(folder)) for folder, spec in self._specs
        )


def _files(root: Path, ignored: _Ignored) -> Iterator[tuple[str, int]]:
    """Yield the relative path of every file that may be copied, and a descriptor of its folder."""
    for folder, names, files, at in trees.walk(root, strict=True):
        names[:] = [n for n in names if n not in directory.IGNORED_DIRS and f"{folder}{n}/" not in ignored]
        yield from ((f"{folder}{name}", at) for name in files if f"{folder}{name}" not in ignored)


def _same(folder: int, name: str, destination: Path, is_link: bool) -> bool:
    """Return whether the agent's file equals the fixture's."""
    if is_link:
        return destination.is_symlink() and os.readlink(name, dir_fd=folder) == os.readlink(destination)  # noqa: PTH115
    if destination.is_symlink() or not destination.is_file():
        return False
    with opened_below(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as mine:
        status, other = os.fstat(descriptor), destination.stat()
        if status.st_size != other.st_size or (status.st_mode ^ other.st_mode) & stat.S_IXUSR:
            return False
        with destination.open("rb") as theirs:
            while chunk := mine.read(1 << 20):
                if chunk != theirs.read(1 << 20):
                    return False
    return True


def _is_steering(path: str) -> bool:
    return any(fnmatch(name, pattern) for name in path.lower().split("/") for pattern in STEERING)


def _steers(path: str, folder: int, destination: Path, is_link: bool) -> bool:
    """Return whether a changed file steers the interpreter or the runner differently from the fixture's."""
    sections = SHARED.get(path.rpartition("/")[2])
    if sections is None or is_link:
        return _is_steering(path) or sections is not None
    try:
        mine = read_below(folder, path.rpartition("/")[2], MAX_SETTINGS_BYTES)
        theirs = destination.read_bytes() if destination.is_file() else b""
    except OSError:
        return True
    return bool(_settings(destination.suffix, mine, sections) != _settings(destination.suffix, theirs, sections))


def _settings(suffix: str, content: bytes, sections: tuple[str, ...]) -> Any:
    """Return the runner's sections of a file; None if there are none, the whole text if it cannot be parsed."""
    text = content.decode("utf-8", errors="replace")
    try:
        if suffix == ".toml":
            tool = tomllib.loads(text).get("tool", {})
            return [tool[name] for name in sections if name in tool] or None
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError):
        return text
    return [parser.items(name) for name in sections if parser.has_section(name)] or None


def _leads_out(path: str, link: str) -> bool:
    """Return whether a link's target, taken as text, leads out of the project."""
    return link.startswith("/") or posixpath.normpath(posixpath.join(posixpath.dirname(path), link)).startswith("..")


def _make_room(destination: Path, target: Path) -> None:
    """Clear the destination of one of the agent's files and create its folders, without following fixture symlinks."""
    for parent in reversed(destination.relative_to(target).parents):
        folder = target / parent
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        folder.mkdir(exist_ok=True)
    if destination.is_dir() and not destination.is_symlink():
        shutil.rmtree(destination)
    destination.unlink(missing_ok=True)
