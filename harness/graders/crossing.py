"""Which of an agent's files reach the tree that its work is graded in? Its sources, on top of a fresh fixture."""

from __future__ import annotations

import configparser
import filecmp
import os
import shutil
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pathspec

from harness.host import directory, trees
from locobench.shared import toml

STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", ".coveragerc"),
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo"),
    *("*.egg-link", "*.egg-info", "*.dist-info"),  # a distribution beside the tests is asked for plugins
)
"""Names of files and folders that steer an interpreter or a test runner: the task's count, an agent's do not."""

SHARED = {"pyproject.toml": ("pytest",), "setup.cfg": ("tool:pytest", "pytest")}
"""Files that hold a runner's settings among others, and the names of those sections."""


@dataclass(frozen=True)
class Crossed:
    """What of the agent's tree was taken over."""

    created: tuple[str, ...]
    """Files that the fixture does not have, relative to the project."""
    left_out: tuple[str, ...]
    """Changed files that steer the tests, or links that lead out; the fixture's own stand in their place."""


def rebuild(fixture: Path | None, work: Path, target: Path) -> Crossed:
    """Make `target` out of the fixture and what the agent changed of its sources.

    Folders that tools fill (`directory.IGNORED_DIRS`) and what a .gitignore of the fixture names do not cross, nor do
    files that steer a test runner; the fixture's own are kept. A file that the agent deleted is missing.

    Args:
        fixture: what the agent started from; None is an empty project.
        work: the agent's tree.
        target: a folder that does not exist yet.

    Raises:
        OSError: the tree cannot be copied; `trees.TooLarge` when it is too large for that.
    """
    if fixture is None:
        target.mkdir(parents=True)
    else:
        trees.copy(fixture.expanduser(), target)
    ignored = _Ignored(fixture)
    created, left_out = [], []
    entries = size = 0
    there = set()
    for path, is_link in _files(work, ignored):
        there.add(path)
        source, destination = work / path, target / path
        if not is_link and not source.is_file():  # a pipe, a socket, a device
            continue
        if _same(source, destination, is_link):
            continue
        if _steers(path, source, destination, is_link) or (is_link and _leads_out(work, source)):
            left_out.append(path)
            continue
        if not os.path.lexists(destination):
            created.append(path)
        entries += 1
        size += source.lstat().st_blocks * 512
        if size > trees.MAX_COPIED_BYTES or entries > trees.MAX_COPIED_FILES:
            raise trees.TooLarge(f"more than {entries - 1} changed files or {size} bytes")
        _put(source, destination, target, is_link)
    for path, _ in list(_files(target, ignored)):
        if path not in there and not _is_steering(path):
            (target / path).unlink()
    return Crossed(tuple(created), tuple(left_out))


class _Ignored:
    """What the .gitignore files of the fixture name."""

    def __init__(self, fixture: Path | None) -> None:
        self._specs: list[tuple[str, pathspec.GitIgnoreSpec]] = []
        if fixture is None:
            return
        fixture = fixture.expanduser()
        for file in sorted(fixture.rglob(".gitignore")):
            if file.is_file():
                folder = file.parent.relative_to(fixture).as_posix()
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
                self._specs.append(("" if folder == "." else f"{folder}/", pathspec.GitIgnoreSpec.from_lines(lines)))

    def __contains__(self, path: str) -> bool:
        return any(
            path.startswith(folder) and spec.match_file(path.removeprefix(folder)) for folder, spec in self._specs
        )


def _files(root: Path, ignored: _Ignored) -> Iterator[tuple[str, bool]]:
    """Relative path of every file that may cross, and whether it is a symlink."""
    folders = [("", 0)]
    while folders:
        folder, depth = folders.pop()
        with os.scandir(root / folder) as items:
            for item in sorted(items, key=lambda item: item.name):
                path = f"{folder}{item.name}"
                if item.is_dir(follow_symlinks=False):
                    if item.name in directory.IGNORED_DIRS or f"{path}/" in ignored:
                        continue
                    if depth >= trees.MAX_DEPTH:
                        raise trees.TooLarge(f"more than {trees.MAX_DEPTH} folders in each other")
                    folders.append((f"{path}/", depth + 1))
                elif path not in ignored:
                    yield path, item.is_symlink()


def _same(source: Path, destination: Path, is_link: bool) -> bool:
    if is_link:
        return destination.is_symlink() and os.readlink(source) == os.readlink(destination)  # noqa: PTH115
    if destination.is_symlink() or not destination.is_file():
        return False
    if (source.stat().st_mode ^ destination.stat().st_mode) & stat.S_IXUSR:
        return False
    return bool(filecmp.cmp(source, destination, shallow=False))


def _is_steering(path: str) -> bool:
    return any(fnmatch(name, pattern) for name in path.lower().split("/") for pattern in STEERING)


def _steers(path: str, source: Path, destination: Path, is_link: bool) -> bool:
    """Whether a changed file steers the runner in another way than the fixture's."""
    sections = SHARED.get(path.rpartition("/")[2])
    if sections is None or is_link:
        return _is_steering(path) or sections is not None
    return bool(_settings(source, sections) != _settings(destination, sections))


def _settings(file: Path, sections: tuple[str, ...]) -> Any:
    """The runner's sections of a file; None when there are none, the text of one that cannot be read."""
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        if file.suffix == ".toml":
            tool = toml.loads(text).get("tool", {})
            return [tool[name] for name in sections if name in tool] or None
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError, TypeError):
        return text
    return [parser.items(name) for name in sections if parser.has_section(name)] or None


def _leads_out(root: Path, link: Path) -> bool:
    try:
        return link.readlink().is_absolute() or not link.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return True


def _put(source: Path, destination: Path, target: Path, is_link: bool) -> None:
    """Put one file of the agent in place, through no symlink of the fixture."""
    for parent in reversed(destination.relative_to(target).parents):
        folder = target / parent
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        folder.mkdir(exist_ok=True)
    if destination.is_dir() and not destination.is_symlink():
        shutil.rmtree(destination)
    destination.unlink(missing_ok=True)
    if is_link:
        destination.symlink_to(source.readlink())
    else:
        trees.copy_file(str(source), str(destination), source.stat())
