"""Read a task directory: its language, its limits, and whether its environment gives the ground truth away."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from locobench.harbor.task import KEY, TASK_FILE, TaskToml
from locobench.shared.errors import InputError
from locobench.shared.markdown import as_markdown

# Without what is written differently in Markdown and inside a JSON string, so that one search finds both.
_PIECE = re.compile(r'[^"\\\x00-\x1f]{8,200}')
_TELLTALES = 3


class Fault(Exception):
    """A task or its image does not work. The message is one line, `tail` the output of what failed."""

    def __init__(self, message: str, tail: str = "") -> None:
        super().__init__(message)
        self.tail = tail


@dataclass(frozen=True)
class SmokeTask:
    """A complete task directory."""

    path: Path
    toml: TaskToml

    @property
    def language(self) -> str:
        """The name of its language in the table of languages."""
        return self.toml.metadata.language


def read_task_folder(path: Path) -> SmokeTask:
    """Read the task directory at `path`; raise Fault if a file or field is missing or unreadable."""
    for needed in (TASK_FILE, "instruction.md", "environment/Dockerfile", KEY, "tests/test.sh", "solution/solve.sh"):
        if not (path / needed).is_file():
            raise Fault(f"no {needed}")
    try:
        described = TaskToml.read(path)
    except InputError as error:
        raise Fault(str(error).removeprefix(f"{path}/")) from None
    if not described.metadata.language:
        raise Fault("task.toml: metadata.language: missing")
    return SmokeTask(path, described)


def telltales(task: Path) -> list[str]:
    """Return the longest pieces of a task's ground truth, the longest first; raise Fault if it cannot be read."""
    try:
        truth = json.loads((task / KEY).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Fault(f"{KEY}: {error}") from None
    # Skip the key: it contains lines of the code, which the image has too.
    shown = as_markdown(truth.get("ground_truth", truth) if isinstance(truth, dict) else truth)
    longest = sorted({*_PIECE.findall(shown)}, key=lambda piece: (-len(piece), piece))[:_TELLTALES]
    return [piece.strip() for piece in longest]


def find_leak(task: Path) -> str:
    """Return the longest telltale if environment/ holds all of them, else "": a ground truth may quote the code.

    Raises:
        Fault: a file cannot be read.
    """
    pieces = telltales(task)
    missing = {piece.encode() for piece in pieces}
    try:
        for path in (task / "environment").rglob("*"):
            if missing and path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                missing = {piece for piece in missing if piece not in content}
    except OSError as error:
        raise Fault(f"{error.filename}: {error.strerror}") from None
    return pieces[0] if pieces and not missing else ""
