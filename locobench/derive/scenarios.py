"""Write questions as a data folder: scenarios and projects in the benchmark's own layout, whole or not at all."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from locobench.derive.code.tree import Repository, Tree, write_tree
from locobench.shared.errors import InputError
from locobench.shared.files import building_folder, put_folder
from locobench.shared.terminal import first_few

MARK = "derived.json"
"""This file identifies a folder as written by this program."""
SOURCE = "derived"
"""The organisation that the tasks are registered under."""


class Folder:
    """A data folder that is built beside its place; `finish` puts it there."""

    def __init__(self, building: Path, place: Path) -> None:
        self.building, self.place = building, place
        (building / "output" / "scenarios").mkdir(parents=True)
        (building / "generated").mkdir()

    def add_project(
        self, project_id: str, root: str, repository: Repository, tree: Tree, facts: dict[str, Any]
    ) -> None:
        """Write a project: the commit's files below one root folder, and project_metadata.json beside it."""
        folder = self.building / "generated" / project_id
        write_tree(repository, tree, folder / root)
        self._write(folder / "project_metadata.json", facts)

    def add_scenario(self, scenario: dict[str, Any]) -> None:
        """Write a scenario."""
        self._write(self.building / "output" / "scenarios" / f"{scenario['id']}.json", scenario)

    def finish(self, repositories: Iterable[tuple[str, str]]) -> None:
        """Write the mark, with name and commit of each repository, and move the folder to its place."""
        facts = [{"name": name, "commit": commit} for name, commit in repositories]
        self._write(self.building / MARK, {"generator": "locobench-harbor", "repositories": facts})
        put_folder(self.building, self.place)

    @staticmethod
    def _write(path: Path, value: Any) -> None:
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")


@contextlib.contextmanager
def data_folder(output_dir: Path, repositories: Iterable[str]) -> Iterator[Folder]:
    """Yield a folder to fill, which is removed after the block unless it was finished.

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
            yield Folder(building, place)
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
