"""Write questions as a data folder: scenarios and projects in the benchmark's own layout, whole or not at all."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from locobench.shared.errors import InputError
from locobench.shared.files import building_folder, put_folder
from locobench.shared.terminal import first_few

MARK = "derived.json"
"""This file identifies a folder as written by this program."""
SOURCE = "derived"
"""The organisation that the tasks are registered under."""


def write(path: Path, value: Any) -> None:
    """Write a value as JSON, with the folders above the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


@contextlib.contextmanager
def data_folder(output_dir: Path, repositories: Iterable[str]) -> Iterator[Path]:
    """Yield a folder to fill, which takes its place after the block if the mark is in it, and is removed otherwise.

    Args:
        repositories: names of the repositories whose questions go into the folder.

    Raises:
        InputError: the folder was not written by this program, holds questions about other repositories, or cannot be
            written.
    """
    place = output_dir.absolute()
    try:
        with building_folder(place) as building:
            check_place(output_dir, repositories)
            yield building
            if (building / MARK).exists():
                put_folder(building, place)
    except OSError as error:
        raise InputError(
            f"{error.filename or output_dir}: {error.strerror or error}; name another --output_dir"
        ) from None


def check_place(output_dir: Path, repositories: Iterable[str]) -> None:
    """Raise InputError if the folder holds anything but questions of this program about these repositories."""
    try:
        there = {repository["name"] for repository in json.loads((output_dir / MARK).read_bytes())["repositories"]}
    except (OSError, ValueError, KeyError, TypeError):
        there = set()
    if others := sorted(there - {*repositories}):
        raise InputError(
            f"{output_dir}: holds the questions about {first_few(others)}, which would be lost; name another"
            " --output_dir, or all repositories at once"
        )
    if not there and output_dir.exists() and (not output_dir.is_dir() or any(output_dir.iterdir())):
        raise InputError(
            f"{output_dir}: was not written by this program (no {MARK}); move it away or name another --output_dir"
        )


def plain_name(text: str) -> str:
    """Turn text into a name for ids: lower-case letters, digits and single `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60].strip("_") or "repository"
