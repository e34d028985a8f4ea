"""Hashes of all content that tasks and configs name: equal for runs of the same experiment."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from harness.models import Task
from harness.sandbox import directory

TASK_NOTES = frozenset({"description", "difficulty", "language", "solution_path"})
"""Fields of a task that neither the agent nor a grader sees."""


def of_task(task: Task) -> str:
    """Hash a task: its prompt, assertions, limits, and the content of its fixture and hidden files."""
    paths = {"fixture_path": task.fixture_path, "hidden_path": task.hidden_path}
    folders = {name: path.expanduser().resolve() for name, path in paths.items() if path is not None}
    hashes = {name: directory.digest(folder) for name, folder in folders.items() if folder.is_dir()}
    data = task.model_dump(mode="json", exclude={*TASK_NOTES, *paths})
    return of_data({**data, **dict.fromkeys(paths), **hashes})


def of_data(data: Any) -> str:
    """Hash a JSON value: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
