"""Which of an agent's files are graded? Only its sources; all else comes from the fixture."""

from __future__ import annotations

import configparser
import os
import re
import tomllib
from fnmatch import translate
from pathlib import Path
from typing import Any

import pathspec

from harness.host import directory, trees
from locobench.shared.files import read_below

STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", ".coveragerc"),
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo"),
    *("*.egg-link", "*.egg-info", "*.dist-info"),  # pytest loads the plugins of distributions beside the tests
)
"""Names of files and folders that steer an interpreter or a test runner. The task's are used, an agent's are not."""
_STEERING = re.compile("|".join(map(translate, STEERING)), re.IGNORECASE)

MAX_SETTINGS_BYTES = 1_000_000
SHARED = {"pyproject.toml": ("pytest",), "setup.cfg": ("tool:pytest", "pytest")}
"""Files with a test runner's settings among others, and the names of the runner's sections."""


def rebuild(fixture: Path | None, work: Path, target: Path) -> tuple[str, ...]:
    """Build `target` from the agent's sources and the task's other files; return the files that the agent created.

    The task's are folders that tools fill (`directory.IGNORED_DIRS`), what the fixture's .gitignore files match, and
    files that steer a test runner. Links that lead out or nowhere are left behind.

    Args:
        fixture: what the agent started from; None is an empty project.
        work: the agent's tree; its links are not followed.
        target: a folder that does not exist yet.

    Raises:
        OSError: the tree cannot be copied; `trees.TooLarge` if it is too large.
    """
    rules = _Rules(fixture, work)
    if fixture is not None:
        trees.copy(fixture, target, lambda path: path.endswith("/") or rules.is_tasks(path))
    copied = trees.copy(work, target, lambda path: not rules.is_tasks(path) and not trees.leads_out(work, path))
    return tuple(path for path in copied if fixture is None or not os.path.lexists(fixture / path))


class _Rules:
    """Tells the task's files from the agent's sources."""

    def __init__(self, fixture: Path | None, work: Path) -> None:
        self._trees = (fixture, work)
        self._ignored: list[tuple[str, pathspec.GitIgnoreSpec]] = []
        if fixture is None:
            return
        for file in filter(Path.is_file, fixture.rglob(".gitignore")):
            folder = file.parent.relative_to(fixture).as_posix()
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            self._ignored.append(("" if folder == "." else f"{folder}/", pathspec.GitIgnoreSpec.from_lines(lines)))

    def is_tasks(self, path: str) -> bool:
        """Return whether a file, or with a slash at its end a folder, is the task's."""
        *folders, name = path.split("/")
        if not directory.IGNORED_DIRS.isdisjoint(folders):
            return True
        if any(map(_STEERING.match, (*folders, name))):
            return True
        if any(path.startswith(at) and spec.match_file(path.removeprefix(at)) for at, spec in self._ignored):
            return True
        if name not in SHARED:
            return False
        theirs, ours = (_settings(tree, path, SHARED[name]) for tree in self._trees)
        return bool(theirs != ours)


def _settings(root: Path | None, path: str, sections: tuple[str, ...]) -> Any:
    """Return the runner's sections of a file; None if there are none, the whole text if it cannot be parsed."""
    try:
        text = read_below(root, path, MAX_SETTINGS_BYTES).decode("utf-8", errors="replace") if root else ""
    except FileNotFoundError:
        return None
    except OSError:  # a link, or too large
        return object()  # unlike any other settings
    try:
        if path.endswith(".toml"):
            tool = tomllib.loads(text).get("tool", {})
            return [tool[name] for name in sections if name in tool] or None
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError):
        return text
    return [parser.items(name) for name in sections if parser.has_section(name)] or None
