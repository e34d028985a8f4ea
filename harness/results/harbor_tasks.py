"""Which task did a Harbor trial run, and is its folder still what it was?

A folder may have been generated again since the trial. If the trial's lock has the digest of what it ran and the folder
no longer matches it, only the folder's groups are used, since these do not change.
"""

from __future__ import annotations

import os
from pathlib import Path

from locobench.harbor.files import read
from locobench.harbor.task import TASK_FILE, MetadataSection, TaskFolder
from locobench.harbor.trial import Lock, Trial


class TaskFolders:
    """Reads the task folder of each trial where the trial says it was; each folder is read once."""

    def __init__(self) -> None:
        self._read: dict[Path, TaskFolder | None] = {}

    def metadata(self, trial: Trial) -> MetadataSection:
        """Return what reports group the task by; empty without its folder."""
        task = self._folder(trial)
        return task.toml.metadata if task else MetadataSection()

    def as_it_ran(self, folder: Path, trial: Trial) -> TaskFolder | None:
        """Return the trial's task; None when its folder is missing or is no longer what the trial ran."""
        task = self._folder(trial)
        lock = folder / "lock.json"
        if task is None or not lock.is_file():
            return task
        ran = read(lock, Lock).task.digest
        return task if ran is None or ran == task.digest else None

    def _folder(self, trial: Trial) -> TaskFolder | None:
        folder = trial.task_path
        if folder is None:
            return None
        if folder not in self._read:
            # For a name that no file can have, os.path returns False where Path may raise.
            is_there = os.path.isfile(folder / TASK_FILE)  # noqa: PTH113
            self._read[folder] = TaskFolder.read(folder) if is_there else None
        return self._read[folder]


def task_id(trial: Trial) -> str:
    """Return the task's folder name if the trial records it, else its registered name."""
    return trial.task_path.name if trial.task_path else trial.task_name
