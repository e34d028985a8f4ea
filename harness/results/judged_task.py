"""What does a judge need of a task folder and of a trial: the question, the reference, the code, the answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.graders.answer_judge import Asked
from harness.host.deadline import time_limit
from harness.models import EvalResult
from harness.results.harbor_files import Trial, read
from harness.results.harbor_trace import left_by_agent
from locobench.scoring.judge import judging
from locobench.scoring.judge.code_base import Code
from locobench.scoring.judge.evidence import evidence
from locobench.shared.markdown import as_markdown

TASK_FILE = "task.toml"
PROJECTS = ("environment/project", "tests/project")
"""Where a generated task has its code: in the agent's image, or where the verifier alone sees it."""
ANSWER = "artifacts/app/solution.md"
"""Of a trial: what the agent left, as Harbor brought it home."""
MOST_ANSWER_BYTES = 1 << 18
PACK_SECONDS = 60.0
"""For what an answer says of a code base; the longest answers on the largest projects that are read take half of it."""


@dataclass(frozen=True)
class JudgedTask:
    """A generated task on disk, or any folder of code, which then is a task without question and reference."""

    path: Path
    id: str
    instruction: str
    criteria: str
    reference: str

    @classmethod
    def load(cls, path: Path) -> JudgedTask:
        """Read a folder.

        Raises:
            InputError: there is no such folder, or a file of the task cannot be read.
        """
        if not os.path.isdir(path):  # noqa: PTH112
            raise InputError(f"{path}: no such folder; name the task's folder, or with --tasks the folder of them")
        metadata = _json(path / "tests/task_metadata.json")
        truth = _json(path / "tests/ground_truth.json").get("ground_truth")
        instruction = path / "instruction.md"
        # A task that a judge grades has these words itself; one without the code has another instruction for the agent.
        words = {
            "instruction": instruction.read_text(encoding="utf-8", errors="replace") if instruction.is_file() else "",
            "criteria": as_markdown(metadata.get("evaluation_criteria")),
            "reference": as_markdown(truth),
            **_json(path / "tests/judge.json"),
        }
        return cls(
            path=path,
            id=str(metadata.get("id") or path.resolve().name),
            instruction=str(words["instruction"]),
            criteria=str(words["criteria"]),
            reference=str(words["reference"]),
        )

    @property
    def asked(self) -> Asked:
        """What an answer to this task is an answer to."""
        return Asked(self.id, self.instruction, self.criteria, self.reference)

    @property
    def project(self) -> Path:
        """Folder of the code base."""
        return next((self.path / name for name in PROJECTS if (self.path / name).is_dir()), self.path)

    def pack(self, text: str) -> str:
        """The evidence pack of an answer or of the reference.

        Raises:
            InputError: it takes more than PACK_SECONDS.
        """
        return _pack(self.project.resolve(), judging.cut(text, judging.MOST_ANSWER))


def judged_tasks(path: Path) -> Iterator[JudgedTask]:
    """The task in a folder, or all tasks in a folder of task folders, by name.

    Raises:
        InputError: there are none.
    """
    folders = [path] if (path / TASK_FILE).is_file() else sorted(file.parent for file in path.glob(f"*/{TASK_FILE}"))
    if not folders:
        raise InputError(f"{path}: no task folders there; name the folder that run_adapter.py wrote")
    for folder in folders:
        yield JudgedTask.load(folder)


def task_of(result: EvalResult, tasks_dir: Path | None = None) -> JudgedTask:
    """The task of a Harbor trial: in `tasks_dir`, else where the trial says that it lay.

    Raises:
        InputError: it is not there.
    """
    if tasks_dir is not None:
        return JudgedTask.load(tasks_dir / result.task_id)
    file = Path(result.source) / "result.json"
    where = read(file, Trial).task_path if result.source and os.path.isfile(file) else None  # noqa: PTH113
    if where is None or not os.path.isdir(where):  # noqa: PTH112 - a name that no file can have is an answer, too
        raise InputError(f"{result.task_id}: its task folder is not at {where}; name the folder of tasks with --tasks")
    return JudgedTask.load(where)


def answer_of(result: EvalResult) -> str:
    """The answer of a Harbor trial, at most MOST_ANSWER_BYTES of it; empty when the agent left none.

    Raises:
        InputError: the trial's folder is gone.
    """
    trial = Path(result.source)
    if not os.path.isdir(trial):  # noqa: PTH112
        raise InputError(f"{trial}: the trial's folder is gone, and its answer with it; grade where the job lies")
    content = left_by_agent(trial, ANSWER, MOST_ANSWER_BYTES, cut=True) or b""
    return content.decode("utf-8", "replace")


def pack_for(result: EvalResult) -> str | None:
    """The evidence pack of a run's answer; None when it is no Harbor trial, or its task or answer is not there."""
    if not result.source:
        return None
    try:
        answer = answer_of(result)
        return task_of(result).pack(answer) if answer.strip() else None
    except (InputError, OSError):  # a report is worth more than what it may show besides
        return None


@lru_cache(maxsize=8)
def _pack(project: Path, text: str) -> str:
    # Estimate, request and record want it one after the other.
    whole = f"{project}: looking an answer up in it took more than {PACK_SECONDS:g} s; is this the project's folder?"
    with time_limit(PACK_SECONDS, InputError(whole)):
        return evidence(text, _code(project))


@lru_cache(maxsize=4)
def _code(folder: Path) -> Code:
    # Trials of one task follow each other.
    return Code.read(folder)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); generate the task again") from error
    return value if isinstance(value, dict) else {}
