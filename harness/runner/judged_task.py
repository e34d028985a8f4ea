"""A task as judges need it: the question, the reference, the code, and a trial's answer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness.models import EvalResult
from harness.suite.load import read_object
from locobench.harbor.files import read
from locobench.harbor.trial import Trial
from locobench.scoring.judge import judging
from locobench.scoring.judge.code_base import Code
from locobench.scoring.judge.evidence import evidence
from locobench.shared.errors import InputError
from locobench.shared.markdown import as_markdown

PROJECTS = ("environment/project", "tests/project")
"""Where a generated task keeps its code: in the agent's image, or where only the verifier sees it."""


@dataclass(frozen=True)
class JudgedTask:
    """A generated task on disk."""

    path: Path
    name: str
    instruction: str
    criteria: str
    reference: str
    """May be wrong, and judges are told so."""

    @classmethod
    def load(cls, path: Path) -> JudgedTask:
        """Read a task folder; InputError if a file of the task cannot be read."""
        metadata = read_object(path / "tests/task_metadata.json")
        file = path / "instruction.md"
        instruction = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        criteria = as_markdown(metadata.get("evaluation_criteria"))
        reference = as_markdown(read_object(path / "tests/ground_truth.json").get("ground_truth"))
        return cls(path, str(metadata.get("id") or path.resolve().name), instruction, criteria, reference)

    def pack(self, text: str) -> str:
        """Return the evidence pack of an answer."""
        project = next((self.path / name for name in PROJECTS if (self.path / name).is_dir()), self.path)
        return _pack(project.resolve(), judging.cut(text, judging.MOST_ANSWER))


def find_task(result: EvalResult, tasks_dir: Path | None = None) -> JudgedTask:
    """Read the task of a Harbor trial from `tasks_dir`, else from where the trial says; InputError if it is missing."""
    file = Path(result.source) / "result.json"
    where = tasks_dir / result.task_id if tasks_dir else read(file, Trial).task_path
    if where is None or not os.path.isdir(where):  # noqa: PTH112 - takes a name that no file can have
        raise InputError(f"{result.task_id}: its task folder is not at {where}; name the folder of tasks with --tasks")
    return JudgedTask.load(where)


_code = lru_cache(maxsize=4)(Code.read)  # trials of one task come one after the other


@lru_cache(maxsize=8)
def _pack(project: Path, text: str) -> str:
    # The estimate, the request and the record each need it.
    return evidence(text, _code(project))
