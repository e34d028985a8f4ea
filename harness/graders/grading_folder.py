"""The temporary folder that a check runs in: the project, our witness of its tests, and its report."""

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
"""Commands that may run tests."""

SHIM = """\
#!/bin/sh
found=":$PATH:" bin={bin}
case "$found" in *:"$bin":*) found="${{found%%:"$bin":*}}:${{found#*:"$bin":}}" ;; esac
found="${{found#:}}"
program=$(PATH="${{found%:}}"; command -v {name}) || {{ echo "{name}: command not found" >&2; exit 127; }}
case "{name} $1 $2" in
  python*" -m unittest" | python*" -m pytest") exec "$program" -s "$bin/witness.py" "$@" ;;
  python*) exec "$program" "$@" ;;
esac
python=$(sed -n '1s/^#! *//p' "$program")
case "$python" in *python*) ;; *) python=python3 ;; esac
exec $python -s "$bin/witness.py" pytest "$@"
"""
"""Runs the command of that name; tests under the witness, with the interpreter that the script of pytest names."""

STEADY_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TZ": "UTC", "CI": "1", "LC_ALL": "C.UTF-8"}
"""Variables that, left unset, could make a project pass on one machine and fail on another."""

WRITABLE = ("project", "home", "tmp", "reports")
READ_ONLY = ("bin", "pytest.ini")

MOST_REPORT_BYTES = 8_000_000
"""Limit of a report by the witness; enough for a hundred thousand tests."""


@dataclass(frozen=True)
class WitnessReport:
    """What the witness reports about the runs of unittest and pytest that a command made."""

    passed: frozenset[tuple[str, str]] = frozenset()
    """File, relative to the project, and name of each test that passed.

    Without pytest's parameters: those may come from the project.
    """
    runs: int = 0
    """How many runs came to their end."""


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
        """Return the bash script of a command, with our programs first on its PATH."""
        return f'PATH={shlex.quote(str(self.root / "bin"))}:"$PATH"\n{command}'

    def forget(self) -> None:
        """Delete the reports of earlier commands."""
        trees.remove(self.root / "reports")
        (self.root / "reports").mkdir()

    @property
    def report(self) -> WitnessReport:
        """The report of the command's tests; ValueError or OSError if the graded code corrupted it."""
        try:
            content = read_below(self.root, "reports/report.jsonl", MOST_REPORT_BYTES)
        except FileNotFoundError:
            return WitnessReport()
        runs = [json.loads(line) for line in content.splitlines()]
        try:
            passed = frozenset((str(file), str(name).partition("[")[0]) for run in runs for file, name in run)
        except TypeError as error:
            raise ValueError(f"not a report of the witness ({error})") from error
        return WitnessReport(passed, len(runs))


@contextmanager
def grading_folder(work: Path, hand_in: HandIn | None) -> Iterator[GradingFolder]:
    """Yield a new folder with the project as it is graded, and remove it afterwards.

    `work` is the agent's tree, which is only read; `hand_in` says which of its files are graded, None all of them.
    """
    with scratch.folder("grade_") as root:
        project = root / "project"
        for name in (*WRITABLE[1:], "bin"):
            (root / name).mkdir()
        if hand_in is None:
            # Bytecode planted there would run without its source.
            trees.copy(work, project, lambda path: not path.endswith("__pycache__/"))
        else:
            hand_in.assemble(work, project)
            hand_in.lay_hidden(project)
        (root / "pytest.ini").touch()  # else pytest would look for one further up, where others can write
        shutil.copy(witness.__file__, root / "bin/witness.py")
        for name in NAMES:
            shim = root / "bin" / name
            shim.write_text(SHIM.format(bin=shlex.quote(str(root / "bin")), name=name), encoding="utf-8")
            shim.chmod(0o755)
        yield GradingFolder(root, project)
