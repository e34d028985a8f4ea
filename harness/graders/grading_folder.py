"""The temporary folder that a check runs in: the project, our witness in place of Python, and its report."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.graders import witness
from harness.graders.hand_in import HandIn
from harness.sandbox import scratch, trees
from locobench.shared.files import read_below

NAMES = ("python", "python3", "pytest", "py.test")
"""Commands that the witness replaces."""

SHIM = """\
#!/bin/sh
found=":$PATH:" bin={bin}
case "$found" in *:"$bin":*) found="${{found%%:"$bin":*}}:${{found#*:"$bin":}}" ;; esac
found="${{found#:}}"
PATH="${{found%:}}"
GIVEN_PYTHONPATH="${{PYTHONPATH-}}"
export PATH GIVEN_PYTHONPATH
unset PYTHONPATH
command -v {python} > /dev/null || {{ echo "{name}: {python} not found" >&2; echo {python} >> {missing}; exit 127; }}
exec {python} -s "$bin/witness.py" {name} "$@"
"""

SCRIPT = """\
command_not_found_handle() {{ echo "bash: $1: command not found" >&2; echo "$1" >> {missing}; return 127; }}
PATH={bin}:"$PATH"
{command}
"""

STEADY_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TZ": "UTC", "CI": "1", "LC_ALL": "C.UTF-8"}
"""Variables that, left unset, could make a project pass on one machine and fail on another."""

WRITABLE = ("project", "home", "tmp", "reports")
READ_ONLY = ("bin", "pytest.ini")

MOST_REPORT_BYTES = 8_000_000
"""Limit of a report by the witness or a shell; enough for a hundred thousand tests."""


@dataclass(frozen=True)
class PythonReport:
    """What the witness reports about the Python programs that a command ran."""

    passed: frozenset[tuple[str, str]] = frozenset()
    """File, relative to the project, and name of each test that passed.

    Without pytest's parameters: those may come from the project.
    """
    left: float = 0
    """How many programs were ended with exit code 0 by project code other than the program itself."""
    programs: int = 0


@dataclass(frozen=True)
class GradingFolder:
    """The folder that commands of checks run in. They may have written to any of its parts."""

    root: Path
    project: Path

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the command."""
        home = str(self.root / "home")
        return {**STEADY_VARIABLES, "HOME": home, "TMPDIR": str(self.root / "tmp")}

    @property
    def parts(self) -> tuple[list[Path], list[Path]]:
        """The folders that a command may write to, and the paths that it may only read."""
        return [self.root / name for name in WRITABLE], [self.root / name for name in READ_ONLY]

    def script(self, command: str) -> str:
        """Return the bash script of a command, with our interpreters first on its PATH."""
        return SCRIPT.format(**_places(self.root), command=command)

    def forget(self) -> None:
        """Delete the reports of earlier commands."""
        trees.remove(self.root / "reports")
        (self.root / "reports").mkdir()

    @property
    def report(self) -> PythonReport:
        """What the command's Python programs reported; ValueError or OSError if the graded code corrupted it."""
        try:
            content = read_below(self.root, "reports/report.jsonl", MOST_REPORT_BYTES)
        except FileNotFoundError:
            return PythonReport()
        lines = [json.loads(line) for line in content.splitlines()]
        try:
            tests = [map(str, test) for line in lines for test in line["tests"]]
            passed = frozenset((file, name.partition("[")[0]) for file, name, outcome in tests if outcome == "passed")
            return PythonReport(passed, sum(bool(line["left"]) for line in lines), len(lines))
        except (TypeError, KeyError) as error:
            raise ValueError(f"not a report of the witness ({error})") from error

    @property
    def missing(self) -> str:
        """The programs that a trusted command called but that are not installed; empty if all are."""
        try:
            names = read_below(self.root, "reports/missing", MOST_REPORT_BYTES)
        except FileNotFoundError:
            return ""
        return ", ".join(names.decode(errors="replace").split())


@contextmanager
def grading_folder(work: Path, hand_in: HandIn | None) -> Iterator[GradingFolder]:
    """Yield a new folder with the project as it is graded, and remove it afterwards.

    `work` is the agent's tree, which is only read; `hand_in` says which of its files are graded, None all of them.
    """
    with scratch.folder("grade_") as root:
        project = root / "project"
        for name in (*WRITABLE[1:], "bin"):
            (root / name).mkdir()
        created: tuple[str, ...] = ()
        if hand_in is None:
            # Bytecode planted there would run without its source.
            trees.copy(work, project, lambda path: not path.endswith("__pycache__/"))
        else:
            created = hand_in.assemble(work, project)
            hand_in.lay_hidden(project)
        (root / "pytest.ini").touch()  # else pytest would look for one further up, where others can write
        (root / "bin/created.json").write_text(json.dumps(created))
        shutil.copy(witness.__file__, root / "bin/witness.py")
        for name in NAMES:
            python = name if name.startswith("python") else "python3"
            shim = root / "bin" / name
            shim.write_text(SHIM.format(**_places(root), python=python, name=name), encoding="utf-8")
            shim.chmod(0o755)
        yield GradingFolder(root, project)


def _places(root: Path) -> dict[str, str]:
    """Return the places that our scripts name, quoted for a shell."""
    return {"bin": shlex.quote(str(root / "bin")), "missing": shlex.quote(str(root / "reports/missing"))}
