"""Whether two runs are the same experiment: hashes over all content that their tasks and configs name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from harness.host import directory
from harness.models import Task

TASK_NOTES = frozenset({"description", "difficulty", "tags", "language", "solution_path"})
"""Fields of a task that neither the agent nor a grader sees."""


def of_task(task: Task) -> str:
    """Over the prompt, assertions, limits, and the content of the fixture and the hidden files."""
    paths = {"fixture_path": task.fixture_path, "hidden_path": task.hidden_path}
    data = task.model_dump(mode="json", exclude={*TASK_NOTES, *paths})
    if not task.setup:  # results of before there was such a field stay those of the same task
        del data["setup"]
    return of_data({**data, **{name: of_folder(path) for name, path in paths.items()}})


def of_folder(path: Path | None) -> str | None:
    """SHA-256 over the content of a folder; None when there is none."""
    if path is None:
        return None
    path = path.expanduser().resolve()
    return directory.digest(path) if path.is_dir() else None


def of_data(data: Any) -> str:
    """Over a JSON value: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
