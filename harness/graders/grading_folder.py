"""The throw-away folder a check runs in: the project, interpreters that it cannot steer, and their report."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.graders import isolated_python
from harness.graders.crossing import rebuild
from harness.host import scratch, trees

NAMES = ("python", "python3", "pytest", "py.test")
"""Commands whose place isolated_python takes."""

SHIM = """\
#!/bin/sh
found=":$PATH:"
case "$found" in *:{bin}:*) found="${{found%%:{bin}:*}}:${{found#*:{bin}:}}" ;; esac
found="${{found#:}}"
PATH="${{found%:}}"
GIVEN_PYTHONPATH="${{PYTHONPATH-}}"
export PATH GIVEN_PYTHONPATH
unset PYTHONPATH
exec {python} -s {program} {settings} {name} "$@"
"""

SCRIPT = """\
command_not_found_handle() {{ echo "bash: $1: command not found" >&2; echo "$1" >> {missing}; return 127; }}
PATH={bin}:"$PATH"
{command}
"""

STEADY_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TZ": "UTC", "CI": "1"}
"""What would otherwise make the same project pass on one machine and fail on another."""


@dataclass(frozen=True)
class GradedTest:
    """One test that a check ran."""

    file: str
    """Relative to the project."""
    name: str
    outcome: str
    """`passed`, `skipped` or `failed`."""

    @property
    def key(self) -> tuple[str, str]:
        """File and name without pytest's parameters, which may be made from what the project holds."""
        return self.file, self.name.partition("[")[0]


@dataclass(frozen=True)
class GradingFolder:
    """A folder for one command."""

    root: Path
    project: Path

    @property
    def variables(self) -> dict[str, str]:
        """What the command needs to be told."""
        home = str(self.root / "home")
        return {**STEADY_VARIABLES, "HOME": home, "TMPDIR": str(self.root / "tmp")}

    def script(self, command: str) -> str:
        """The command for bash, with our interpreters first on its PATH."""
        return SCRIPT.format(bin=self._bin, missing=self._told / "missing", command=command)

    def forget(self) -> None:
        """Forget what earlier commands told."""
        for name in ("report.jsonl", "missing"):
            (self._told / name).unlink(missing_ok=True)

    @property
    def tests(self) -> list[GradedTest]:
        """The tests that ran, by the account of Python's runners; those of other runners are not told."""
        file = self._told / "report.jsonl"
        lines = file.read_text().splitlines() if file.is_file() else []
        return [GradedTest(*map(str, test)) for line in lines for test in json.loads(line)["tests"]]

    @property
    def missing(self) -> str:
        """The commands or test runners that the check calls and that are not installed here; empty when all are."""
        file = self._told / "missing"
        return ", ".join(file.read_text(errors="replace").split()) if file.is_file() else ""

    @property
    def _bin(self) -> Path:
        return self.root / "bin"

    @property
    def _told(self) -> Path:
        """A folder that the graded code is not told of."""
        return next(self.root.glob("told-*"))


@contextmanager
def grading_folder(
    work: Path, fixture: Path | None, hidden: Path | None, own: tuple[Path, ...]
) -> Iterator[GradingFolder]:
    """A fresh folder with the project as it is graded, removed afterwards.

    Args:
        work: the agent's tree, which is only read.
        fixture: what the agent started from.
        hidden: files laid over the project. With them the project is rebuilt from the fixture and the agent's
            sources; without them the agent's tree as a whole is what is graded.
        own: trees of the task; modules in them may be named like one of the standard library.
    """
    with scratch.folder("grade_") as root:
        project, told = root / "project", root / f"told-{secrets.token_hex(16)}"
        for folder in ("home", "tmp", "bin", told.name):
            (root / folder).mkdir()
        created: tuple[str, ...] = ()
        if hidden is None:
            trees.copy(work, project)
            for cache in sorted(project.rglob("__pycache__")):  # what was planted there would be run unread
                trees.remove(cache)
        else:
            created = rebuild(fixture, work, project).created
            trees.lay_over(hidden, project)
        (root / "pytest.ini").touch()  # else the search for one would go on above, where others can write
        settings = {
            "bin": str(root / "bin"),
            "project": str(project),
            "told": str(told),
            "own_modules": sorted(_modules(own)),
            "created": [str(project / path) for path in created if not (hidden and (hidden / path).exists())],
        }
        (told / "settings.json").write_text(json.dumps(settings))
        program = shutil.copy(isolated_python.__file__, root / "bin/isolated_python.py")
        for name in NAMES:
            python = name if name.startswith("python") else "python3"
            shim = root / "bin" / name
            values = {"bin": root / "bin", "program": program, "settings": told / "settings.json"}
            shim.write_text(SHIM.format(**values, python=python, name=name))
            shim.chmod(0o755)
        yield GradingFolder(root, project)


def _modules(trees: tuple[Path, ...]) -> set[str]:
    """Names of Python modules and folders in the trees."""
    found = set()
    for tree in trees:
        for path in tree.expanduser().rglob("*"):
            if path.suffix == ".py" or path.is_dir():
                found.add(path.stem)
    return found
