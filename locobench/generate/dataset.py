"""Write dataset.toml, which makes a folder of tasks a Harbor dataset."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import tomli_w

from locobench.generate.folder import output_folder
from locobench.harbor.task import TaskFolder
from locobench.shared.errors import InputError
from locobench.shared.files import check_ours, write_whole

MANIFEST = "dataset.toml"
_MARK = "# Written by --dataset_name, which replaces it; without this line it is kept.\n"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")


def check(folder: Path, name: str) -> None:
    """Raise InputError if Harbor's registry does not accept the name, or the manifest was not written here."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise InputError(
            f"dataset_name: expected ORG/NAME of letters, digits, dots, hyphens and underscores, got {name!r}"
        )
    check_ours(folder / MANIFEST, folder / MANIFEST, _MARK, "--output_dir")


def publish(folder: Path, name: str, task_ids: Iterable[str]) -> None:
    """Write the manifest beside the generated tasks in `folder`.

    Args:
        name: the dataset's name, `ORG/NAME`.
        task_ids: its tasks.

    Raises:
        InputError: the manifest cannot be written, or is not ours; see `check`.
        OSError: a file of a task cannot be read.
    """
    with output_folder(folder):
        check(folder, name)
        read = [TaskFolder.read(folder / task_id) for task_id in task_ids]
        authors = sorted({author.name for task in read for author in task.toml.task.authors})
        manifest = {
            "dataset": {
                "name": name,
                "version": "1.0.0",
                "description": f"{len(read)} questions about whole code bases, as Harbor tasks.",
                "authors": [{"name": author} for author in authors],
                "keywords": ["code-comprehension", "long-context"],
            },
            "tasks": sorted(
                ({"name": task.toml.task.name, "digest": task.digest} for task in read), key=lambda task: task["name"]
            ),
        }
        write_whole(folder / MANIFEST, _MARK + tomli_w.dumps(manifest))
