"""A task as a dataset refers to it: its registered name, and the digest that Harbor's registry has of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from locobench.shared import toml
from locobench.shared.errors import InputError
from locobench.shared.workers import worker_pool

# What Harbor 0.24 packs of a task (harbor.publisher.packager), and leaves out of it where no .gitignore says so.
_FILES = ("task.toml", "instruction.md", "README.md", "trajectory.json")
_FOLDERS = ("environment", "tests", "solution", "steps")
_LEFT_OUT = ("*.pyc", ".DS_Store", "*.swp", "*.swo", "*~")
_LEFT_OUT_FOLDER = "__pycache__"

# Fewer tasks are done before processes are there to help.
_WORTH_PROCESSES = 64


class TaskRef(NamedTuple):
    """A task as a dataset refers to it."""

    name: str
    """`org/task`."""
    digest: str
    """`sha256:` and 64 hexadecimal digits."""
    language: str
    category: str
    project_id: str
    authors: tuple[str, ...]

    @property
    def organisation(self) -> str:
        """What the registry has the task under, which is the benchmark that it comes from."""
        return self.name.partition("/")[0]


def content_digest(task: Path) -> str:
    """Return the SHA-256 (hex) over names and contents of a task's files, equal to Harbor's for tasks made here.

    A .gitignore at the top of the task, which would change what Harbor packs, is in none of them.

    Raises:
        OSError: a file cannot be read.
    """
    total = hashlib.sha256()
    for name in sorted(_packed(task)):
        with (task / name).open("rb") as stream:
            total.update(f"{name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def _packed(task: Path) -> Iterator[str]:
    """Yield the paths, relative to the task, of the files that Harbor packs."""
    yield from (name for name in _FILES if (task / name).exists())
    for top in _FOLDERS:
        for folder, _, names in os.walk(task / top):
            inside = os.path.relpath(folder, task)
            for name in names:
                path = f"{inside}/{name}"
                *parents, last = path.split("/")
                left_out = _LEFT_OUT_FOLDER in parents or any(
                    fnmatchcase(part, pattern) for part in (*parents, last) for pattern in _LEFT_OUT
                )
                if not left_out and os.path.isfile(f"{folder}/{name}"):  # noqa: PTH113 - hundreds of thousands of them
                    yield path


def refer(task: Path) -> TaskRef:
    """Return name and digest of a generated task.

    Raises:
        InputError: a file cannot be read, or task.toml lacks something.
    """
    try:
        config = toml.loads((task / "task.toml").read_text(encoding="utf-8"))
        facts = config["metadata"]
        return TaskRef(
            str(config["task"]["name"]),
            f"sha256:{content_digest(task)}",
            str(facts["language"]),
            str(facts["category"]),
            str(facts["project_id"]),
            tuple(str(author["name"]) for author in config["task"]["authors"]),
        )
    except OSError as error:
        raise InputError(f"{error.filename or task}: {error.strerror or error}; generate the task again") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{task}: cannot be put into a dataset ({error!r}); generate it again") from None


def refer_all(tasks: Sequence[Path]) -> list[TaskRef]:
    """Return the references of tasks in their order, on all processors where they are many.

    Raises:
        InputError: as `refer`.
    """
    jobs = os.cpu_count() or 1
    if jobs == 1 or len(tasks) < _WORTH_PROCESSES:
        return [refer(task) for task in tasks]
    with worker_pool(jobs, _nothing) as pool:
        return list(pool.map(refer, tasks, chunksize=16))


def _nothing() -> None:
    """What a worker has to prepare."""
