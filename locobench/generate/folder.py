"""Writing a task's folder: built beside its place and renamed in, so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from locobench.generate.make import GENERATOR, TASK_METADATA, Options
from locobench.generate.project import Mapping
from locobench.shared.files import write_new

_NEW, _OLD = ".building-", ".replaced-"


class NotOurs(Exception):
    """A folder stands where a task belongs, and this program did not write it."""


def stored_fingerprint(folder: Path) -> str | None:
    """Return the fingerprint of the task in `folder`; None when there is nothing.

    Raises:
        NotOurs: something is there that was not generated.
    """
    try:
        metadata = json.loads((folder / TASK_METADATA).read_bytes())
        if metadata["generator"] == GENERATOR:
            return str(metadata["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        if not os.path.lexists(folder):
            return None
    raise NotOurs(f"{folder} is there and is not a generated task: move it away or name another --output_dir")


def write_task(
    folder: Path, files: dict[str, bytes], mapping: Mapping, options: Options, *, twin: Path | None = None
) -> Path | None:
    """Write a task: its small `files` by their paths, and the project's files where the options want them.

    Args:
        twin: an earlier copy of the same part of the project, for hard links.

    Returns:
        Where the project's files are; None when the task has none.

    Raises:
        OSError: a file cannot be read or written.
    """
    place = options.project_place
    with new_folder(folder) as building:
        for parent in {path.rpartition("/")[0] for path in files}:
            (building / parent).mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            write_new(f"{building}/{path}", content, 0o755 if path.endswith(".sh") else 0o644)
        if place:
            mapping.copy_to(
                building / place, link_mode=options.link_mode, strip_code_fences=options.strip_code_fences, twin=twin
            )
    return folder / place if place else None


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside `folder`; it takes that name, in place of an older task, if the block ends well."""
    building, replaced = folder.with_name(_NEW + folder.name), folder.with_name(_OLD + folder.name)
    try:
        building.mkdir()
        yield building
        with contextlib.suppress(FileNotFoundError):
            folder.rename(replaced)
        try:
            building.rename(folder)
        except OSError:
            replaced.rename(folder)
            raise
    finally:
        for left in (building, replaced):
            if left.exists():
                shutil.rmtree(left)


def sweep(output_dir: Path) -> None:
    """Clear away what a killed run left: unfinished folders go, a task that was about to be replaced comes back."""
    with os.scandir(output_dir) as entries:
        left = [entry.path for entry in entries if entry.name.startswith((_NEW, _OLD))]
    for path in map(Path, left):
        if path.name.startswith(_OLD):
            place = path.with_name(path.name.removeprefix(_OLD))
            if not place.exists():
                path.rename(place)
                continue
        shutil.rmtree(path)
