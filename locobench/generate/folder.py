"""Write a task's folder whole or not at all: it is built beside its final place and then renamed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from locobench.generate.make import GENERATOR, TASK_METADATA
from locobench.generate.options import Options
from locobench.generate.project import ProjectMapping
from locobench.harbor.task import TASK_FILE, file_digests
from locobench.shared.errors import InputError
from locobench.shared.files import building_folder, check_ours, put_folder, try_lock


def write_task(folder: Path, files: dict[str, bytes], mapping: ProjectMapping, options: Options) -> bool:
    """Write a task: its small `files` by path, and a copy of the project where the options say.

    Returns:
        False if the same task was there already; it is left as it is.

    Raises:
        InputError: something else has the folder's name.
        OSError: a file cannot be read or written.
    """
    check_ours(folder, folder / TASK_METADATA, f'"generator": "{GENERATOR}"', "--output_dir")
    with building_folder(folder) as building:
        for parent in {path.rpartition("/")[0] for path in files}:
            (building / parent).mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            (building / path).write_bytes(content)
            (building / path).chmod(0o755 if path.endswith(".sh") else 0o644)
        if options.project_place:
            mapping.copy_to(building / options.project_place)
        # Modes and links are in the digest of the project in task.toml.
        is_new = not folder.exists() or file_digests(folder) != file_digests(building)
        if is_new:
            put_folder(building, folder)
    return is_new


def other_tasks(folder: Path, task_ids: Iterable[str]) -> list[str]:
    """Return the sorted names of other folders that Harbor would also treat as tasks."""
    return sorted({path.parent.name for path in folder.glob(f"[!.]*/{TASK_FILE}")} - {*task_ids})


@contextlib.contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create the folder, and lock out other runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not try_lock(descriptor):
                text = "another run is writing to it; wait for it or name another --output_dir"
                raise InputError(f"{folder}: {text}")
            yield
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {error.strerror or error}; --output_dir must be a writable folder"
        ) from None
