"""Write a task's folder whole or not at all: it is built beside its final place and then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from locobench.generate.make import GENERATOR, TASK_METADATA
from locobench.generate.options import Options
from locobench.generate.project import ProjectMapping
from locobench.harbor.task import TASK_FILE, file_digests
from locobench.shared.errors import InputError
from locobench.shared.files import try_lock

STATE_FILE = ".projects.json"
"""The output folder's own file: what a run knew about projects and tasks."""
_NEW, _OLD = ".building-", ".replaced-"


class NotOurs(Exception):
    """The folder for a task already exists, and this program did not write it."""


def stored_fingerprint(folder: Path) -> str | None:
    """Return the fingerprint of the task in `folder`, or None if the folder does not exist.

    Raises:
        NotOurs: the folder exists but was not generated.
    """
    try:
        metadata = json.loads((folder / TASK_METADATA).read_bytes())
        if metadata["generator"] == GENERATOR:
            return str(metadata["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        if not os.path.lexists(folder):
            return None
    raise NotOurs(f"{folder} exists and is not a generated task; move it away or name another --output_dir")


def write_task(
    folder: Path,
    files: dict[str, bytes],
    mapping: ProjectMapping,
    options: Options,
    *,
    is_current: bool = False,
) -> list[str]:
    """Write a task: its small `files` by path, and a copy of the project where the options say.

    Args:
        is_current: the existing task was made from the same input; it is replaced only if its files have changed.

    Returns:
        The changed files of a current task.

    Raises:
        OSError: a file cannot be read or written.
    """
    with _building(folder) as building:
        for parent in {path.rpartition("/")[0] for path in files}:
            (building / parent).mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            (building / path).write_bytes(content)
            (building / path).chmod(0o755 if path.endswith(".sh") else 0o644)
        if options.project_place:
            mapping.copy_to(building / options.project_place, strip_code_fences=options.strip_code_fences)
        damage = _differences(folder, building) if is_current else []
        if damage or not is_current:
            _put(building, folder)
    return damage


def _differences(folder: Path, whole: Path) -> list[str]:
    """Return which files of the task in `folder` differ from `whole`, and how."""
    here, wanted = file_digests(folder), file_digests(whole)
    return [
        f"{path} was {'deleted' if path not in here else 'edited' if path in wanted else 'added'}"
        for path in sorted({**here, **wanted})
        if here.get(path) != wanted.get(path)
    ]


def beside(folder: Path, task_ids: Iterable[str]) -> list[str]:
    """Return the sorted names of other folders that Harbor would also treat as tasks."""
    wanted = {*task_ids}
    with os.scandir(folder) as entries:
        others = (entry.name for entry in entries if entry.name not in wanted and not entry.name.startswith("."))
        return sorted(name for name in others if (folder / name / TASK_FILE).is_file())


@contextlib.contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create the folder, lock out other runs, and clean up after a killed run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not try_lock(descriptor):
                text = "another run is writing to it; wait for it or name another --output_dir"
                raise InputError(f"{folder}: {text}")
            sweep(folder)
            yield
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {error.strerror or error}; --output_dir must be a writable folder"
        ) from None


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder; if the block succeeds, it is renamed to `folder`, replacing any older one."""
    with _building(folder) as building:
        yield building
        _put(building, folder)


@contextlib.contextmanager
def _building(folder: Path) -> Iterator[Path]:
    building = folder.with_name(_NEW + folder.name)
    try:
        building.mkdir()
        yield building
    finally:
        for left in (building, folder.with_name(_OLD + folder.name)):
            if left.exists():
                shutil.rmtree(left)


def _put(building: Path, folder: Path) -> None:
    replaced = folder.with_name(_OLD + folder.name)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(replaced)
    try:
        building.rename(folder)
    except OSError:
        replaced.rename(folder)
        raise


def sweep(output_dir: Path) -> None:
    """Clean up after a killed run: remove unfinished folders and restore tasks that were about to be replaced."""
    with os.scandir(output_dir) as entries:
        left = [entry.path for entry in entries if entry.name.startswith((_NEW, _OLD))]
    for path in map(Path, left):
        if path.name.startswith(_OLD):
            place = path.with_name(path.name.removeprefix(_OLD))
            if not place.exists():
                path.rename(place)
                continue
        shutil.rmtree(path)
