"""How do questions become a data folder? Scenarios and projects in the benchmark's own layout, whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from locobench.derive.code.tree import Repository, Tree, write_tree
from locobench.derive.questions import Question
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

MARK = "derived.json"
SOURCE = "derived"
"""What its tasks are registered under."""
"""What tells a folder that this program wrote."""
PAGE = "derived.html"
_BUILDING, _REPLACED = ".building-", ".replaced-"
# Lines of code from which a code base counts as this large.
_COMPLEXITIES = ((200_000, "expert"), (50_000, "hard"), (10_000, "medium"), (0, "easy"))


class Folder:
    """A data folder that is built beside its place; `finish` puts it there."""

    def __init__(self, output_dir: Path) -> None:
        """Begin a folder.

        Raises:
            InputError: something that this program did not write is there.
        """
        self.output_dir = output_dir
        check_place(output_dir)
        self.building = output_dir.absolute().with_name(_BUILDING + output_dir.absolute().name)

    def __enter__(self) -> Folder:
        try:
            if self.building.exists():
                shutil.rmtree(self.building)
            (self.building / "output" / "scenarios").mkdir(parents=True)
            (self.building / "generated").mkdir()
        except OSError as error:
            raise InputError(f"{self.output_dir}: {error.strerror}; name another --output_dir") from None
        except KeyboardInterrupt:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.building, ignore_errors=True)

    def add_project(
        self, project_id: str, root: str, repository: Repository, tree: Tree, facts: dict[str, Any]
    ) -> None:
        """Write a project: the commit's files below one root folder, and project_metadata.json beside it."""
        folder = self.building / "generated" / project_id
        try:
            write_tree(repository, tree, folder / root)
            self._write(folder / "project_metadata.json", facts)
        except OSError as error:
            raise InputError(f"{error.filename or self.output_dir}: {error.strerror or error}") from None

    def add_scenario(self, scenario: dict[str, Any]) -> None:
        """Write a scenario."""
        self._write(self.building / "output" / "scenarios" / f"{scenario['id']}.json", scenario)

    def finish(self, page: bytes, summary: dict[str, Any]) -> None:
        """Write the page and the mark, and put the folder into its place."""
        write_whole(self.building / PAGE, page)
        self._write(self.building / MARK, summary)
        target = self.output_dir.absolute()
        replaced = target.with_name(_REPLACED + target.name)
        try:
            if replaced.exists():
                shutil.rmtree(replaced)
            if target.exists():
                target.rename(replaced)
            self.building.rename(target)
        except OSError as error:
            if replaced.exists() and not target.exists():
                replaced.rename(target)
            raise InputError(f"{self.output_dir}: {error.strerror}; name another --output_dir") from None
        shutil.rmtree(replaced, ignore_errors=True)

    @staticmethod
    def _write(path: Path, value: Any) -> None:
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def check_place(output_dir: Path) -> None:
    """Raise InputError where a folder would be replaced that this program did not write."""
    if not output_dir.exists() or (output_dir / MARK).is_file():
        return
    if not output_dir.is_dir() or any(output_dir.iterdir()):
        raise InputError(
            f"{output_dir}: is there and was not derived (no {MARK}); move it away or name another --output_dir"
        )


def plain_name(text: str) -> str:
    """Return a name as ids take it: lower-case letters, digits and single `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60].strip("_") or "repository"


def complexity(lines: int) -> str:
    """Return how large a code base of so many lines counts."""
    return next(name for least, name in _COMPLEXITIES if lines >= least)


def scenario(
    scenario_id: str, category: str, difficulty: str, question: Question, *, language: str, project_id: str,
    repository: str, context_files: list[str], context_length: int, truth: dict[str, Any], derived: dict[str, Any],
    commit: str,
) -> dict[str, Any]:  # fmt: skip
    """Return a scenario as the benchmark's files have it, with what is exact about it in `derived`."""
    items = len(truth["items"])
    return {
        "id": scenario_id,
        "source": SOURCE,
        "authors": [f"the authors of {repository}"],
        "language": language,
        "project_id": project_id,
        "task_category": category,
        "difficulty": difficulty,
        "title": question.title,
        "description": question.description,
        "context_files": context_files,
        "context_length": context_length,
        "task_prompt": question.prompt,
        "expected_approach": "",
        "ground_truth": {
            # Long enough to be found where it must not be: an image that holds it gives the answer away.
            "summary": f"The exact answer to {question.title!r} has {items} items; it was derived, not written.",
            **truth,
        },
        "evaluation_criteria": [],
        "metadata": {"context_length": context_length, "files_count": len(context_files), "commit": commit},
        "derived": derived,
    }
