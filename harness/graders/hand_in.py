"""The files that an agent hands in: those that the task names as `sources`. All else comes from the fixture."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from fnmatch import translate
from pathlib import Path

from harness.sandbox import directory, trees

STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", ".coveragerc"),
    *("pyproject.toml", "sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo"),
    *("*.egg-link", "*.egg-info", "*.dist-info"),  # pytest loads the plugins of distributions beside the tests
)
"""Names of files and folders that steer an interpreter or a test runner.

The task's are used; an agent's are only if `sources` names the file itself.
"""
_STEERING = re.compile("|".join(map(translate, STEERING)), re.IGNORECASE)

LIBRARY = sys.stdlib_module_names
PYTHON = re.compile(r"\.(?:py|pyc|pyo|so)\Z")
TEST = re.compile(r"(?:^|[/._-])(?:tests?|spec)[._-]|Tests?\.")
"""In the path of a file of tests: test_money.py, test_money/, money_test.go, money.spec.ts, MoneyTest.java."""

PACKAGE, NEIGHBOURS = "the package of hidden tests", "tests that run with the hidden ones"


class HandIn:
    """The rules that say which files an agent hands in, and which stay the task's."""

    def __init__(
        self,
        sources: Sequence[str],
        fixture: Path | None = None,
        hidden: Path | None = None,
        solution: Path | None = None,
    ) -> None:
        """`sources` are globs; without any, the agent may hand in everything."""
        self._globs = frozenset(sources)
        self._sources = compile_globs(sources or ["**"])
        self._fixture, self._hidden = fixture, hidden
        own, hidden_files, self._solved = map(list_files, (fixture, hidden, solution))
        known = own | hidden_files | self._solved
        self._hidden_files, self._tasks = hidden_files, own | hidden_files
        self._hidden_folders = {folder for path in hidden_files for folder in _folders(path)}
        self._beside_hidden = {path.rpartition("/")[0] for path in hidden_files}
        packages = {path.rpartition("/")[0] for path in known if path.endswith("__init__.py")}
        folders = {folder for path in known for folder in _folders(path)}
        self._roots = {"", *(folder for folder in folders if packages.isdisjoint([folder, *_folders(folder)]))}
        """Folders that Python may import from."""

    def refusal(self, path: str, work: Path) -> str | None:
        """Return why a file is not taken from an agent's tree; None if it is.

        Empty if nobody needs to be told, as for what a tool put into node_modules.
        """
        *folders, name = path.split("/")
        if not directory.IGNORED_DIRS.isdisjoint(folders):
            return ""
        if not self._sources.fullmatch(path):
            return "outside of `sources`"
        if os.path.islink(work / path):  # which takes a path that is too long for no link
            return "a link"
        if any(map(_STEERING.match, (*folders, name))) and path not in self._globs:
            return "steers an interpreter or a test runner"
        shadowed = self.find_shadowed(path)
        return shadowed and f"in the place of {shadowed}"

    def find_shadowed(self, path: str) -> str | None:
        """Return what a file would be loaded in the place of, or along with: hidden tests or a library."""
        if path in self._hidden_files or path in self._solved:
            return None
        folder, _, name = path.rpartition("/")
        around = {folder, *_folders(path)}
        module, is_python = name.partition(".")[0], PYTHON.search(name)
        if module == "__init__" and is_python and folder in self._hidden_folders and path not in self._globs:
            return PACKAGE
        if any(TEST.search(path, len(beside)) for beside in around & self._beside_hidden):
            return NEIGHBOURS
        if path in self._tasks:
            return None
        if module == "__init__":
            folder, _, module = folder.rpartition("/")
        return f"the library {module}" if is_python and folder in self._roots and module in LIBRARY else None

    def assemble(self, work: Path, target: Path) -> None:
        """Build a project of the fixture and of what the agent hands in.

        A file of the fixture is left out if the agent could have handed it in, and deleted it. `target` does not exist
        yet. OSError if the tree cannot be copied; `trees.TooLarge` if it is too large.
        """
        if self._fixture is not None:
            trees.copy(self._fixture, target, lambda path: path[-1] == "/" or self.refusal(path, work) is not None)
        taken = {path for path in list_files(work, strict=True) if self.refusal(path, work) is None}
        folders = {f"{folder}/" for path in taken for folder in _folders(path)}
        trees.copy(work, target, (taken | folders).__contains__)

    def lay_hidden(self, project: Path) -> None:
        """Lay the hidden files over a project, and undo what commands in it have put in their place."""
        for path in list_files(project) - self._tasks:
            if self.find_shadowed(path) is not None:
                (project / path).unlink()
        if self._fixture is not None:
            trees.copy(self._fixture, project, lambda path: path[-1] == "/" or self.find_shadowed(path) is not None)
        if self._hidden is not None:
            trees.copy(self._hidden, project)


def compile_globs(sources: Iterable[str]) -> re.Pattern[str]:
    """Compile the globs of `sources`, for whole paths; a folder stands for all that is in it."""
    return re.compile("|".join(f"(?:{directory.regex(glob.rstrip('/'))})(?:/.*)?" for glob in sources))


def _folders(path: str) -> list[str]:
    """Return the folders that a path is in, the innermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]


def list_files(root: Path | None, *, strict: bool = False) -> frozenset[str]:
    """Return the relative paths of all files below a folder but those of tools; for `strict`, see `trees.walk`."""
    found: set[str] = set()
    for folder, names, files, _ in trees.walk(root, strict=strict) if root is not None else ():
        names[:] = [name for name in names if name not in directory.IGNORED_DIRS]
        found.update(f"{folder}{name}" for name in files)
    return frozenset(found)
