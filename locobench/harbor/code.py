"""The code base of a task, and the files of it that an exact answer names."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import AliasPath, Field

from locobench.harbor.files import HarborFile, read
from locobench.shared.errors import InputError

PROJECT, KEY = "environment/project", "tests/ground_truth.json"


class _Key(HarborFile):
    items: tuple[str, ...] = Field(default=(), validation_alias=AliasPath("key", "items"))


def files_of_key(task: Path) -> frozenset[str]:
    """Return the files that the answer to a task names, relative to its code base; none if its key names none."""
    try:
        return frozenset(item.partition(": ")[0] for item in read(task / KEY, _Key).items)
    except InputError:
        return frozenset()


def files_of_code(task: Path) -> frozenset[str]:
    """Return all files of a task's code base, relative to it; none if the task has none at hand."""
    root = task / PROJECT
    return frozenset(
        os.path.relpath(f"{parent}/{name}", root).replace(os.sep, "/")
        for parent, _, names in os.walk(root)
        for name in names
    )
