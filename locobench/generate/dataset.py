"""Write the files that make a folder of tasks a Harbor dataset: the manifest and a README."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jinja2
import tomli_w

from locobench.dataset.catalog import language_title
from locobench.generate.run import output_folder
from locobench.harbor.task import TaskToml, digest_of
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole
from locobench.shared.workers import worker_pool

MANIFEST = "dataset.toml"
FILES = (MANIFEST, "README.md")
# Digests of the files as written here: a file that was edited since is not overwritten.
STATE_FILE = ".dataset.json"

# Fewer tasks finish before worker processes have started.
_WORTH_PROCESSES = 64

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_SAMPLE = (
    "Made from the bundled sample, which was written in LoCoBench-Agent's layout: none of the benchmark's own "
    "scenarios is in this dataset."
)


def dataset_name(text: str) -> str:
    """Parse `ORG/NAME` (for a flag's `type=`), a name that Harbor's registry accepts."""
    if not _NAME.fullmatch(text) or ".." in text:
        raise argparse.ArgumentTypeError(
            f"expected ORG/NAME of letters, digits, dots, hyphens and underscores, got {text!r}"
        )
    return text


class TaskRef(NamedTuple):
    """A reference to a task in a dataset."""

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
        """The task's organisation in the registry: the benchmark it comes from."""
        return self.name.partition("/")[0]


def refer(folder: Path) -> TaskRef:
    """Return the reference of a generated task.

    Raises:
        InputError: a file cannot be read, or task.toml lacks a field.
    """
    described = TaskToml.read(folder)
    facts = described.metadata
    authors = tuple(author.name for author in described.task.authors)
    try:
        found = TaskRef(
            described.task.name, digest_of(folder), facts.language, facts.category, facts.project_id, authors
        )
    except OSError as error:
        raise InputError(f"{error.filename or folder}: {error.strerror or error}; generate the task again") from None
    if not all(found):
        raise InputError(f"{folder}: cannot be put into a dataset (no {_missing(found)}); generate it again")
    return found


def _missing(found: TaskRef) -> str:
    return ", ".join(name for name, value in found._asdict().items() if not value)


def refer_all(tasks: Sequence[Path]) -> list[TaskRef]:
    """Return the references of tasks in order; many tasks are read on all processors.

    Raises:
        InputError: as `refer`.
    """
    jobs = os.cpu_count() or 1
    if jobs == 1 or len(tasks) < _WORTH_PROCESSES:
        return [refer(task) for task in tasks]
    with worker_pool(jobs, _nothing) as pool:
        return list(pool.map(refer, tasks, chunksize=16))


def _nothing() -> None:
    """Prepare a worker, which needs nothing."""


@dataclass(frozen=True)
class Origin:
    """Where the tasks come from."""

    scenarios: int
    """Number of records in the JSONL."""
    is_sample: bool
    """Whether they come from the bundled sample."""


def check_files(folder: Path) -> None:
    """Check that writing the dataset's files overwrites nobody else's work.

    Raises:
        InputError: one exists that was not written here, or was edited since.
    """
    known = _known(folder)
    for name in FILES:
        path = folder / name
        if (path.exists() or path.is_symlink()) and _digest(path) not in known.get(name, []):
            raise InputError(
                f"{path}: is there and not as this program wrote it; move it away, or name another --output_dir"
            )


def is_outdated(folder: Path) -> bool:
    """Return whether the folder has a manifest from an earlier run, which newly written tasks make outdated."""
    return (folder / MANIFEST).exists()


def publish(folder: Path, name: str, task_ids: Iterable[str], origin: Origin) -> list[TaskRef]:
    """Write the dataset's files beside the generated tasks in `folder`, and return the tasks in the manifest.

    Args:
        name: the dataset's name, `ORG/NAME`.
        task_ids: its tasks.

    Raises:
        InputError: a file cannot be read or written, or is not ours; see `check_files`.
    """
    with output_folder(folder):
        check_files(folder)
        tasks = sorted(refer_all([folder / task_id for task_id in task_ids]))
        contents = {
            MANIFEST: _manifest(name, tasks),
            "README.md": _page(name, tasks, origin),
        }
        known = _known(folder)
        # Keep old and new digests: if a run is killed in between, the next one still recognises the files.
        state = {
            file: sorted({hashlib.sha256(text.encode()).hexdigest(), *_still_there(folder / file, known.get(file, []))})
            for file, text in contents.items()
        }
        write_whole(folder / STATE_FILE, json.dumps(state, indent=1, sort_keys=True) + "\n")
        for file, text in contents.items():
            write_whole(folder / file, text)
    return tasks


def _known(folder: Path) -> dict[str, list[str]]:
    try:
        state = json.loads((folder / STATE_FILE).read_bytes())
        return {str(name): list(map(str, digests)) for name, digests in state.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _still_there(path: Path, digests: list[str]) -> list[str]:
    return [digest for digest in digests if digest == _digest(path)]


def _manifest(name: str, tasks: list[TaskRef]) -> str:
    head = {
        "name": name,
        "version": "1.0.0",
        "description": f"{len(tasks)} questions about whole code bases, as Harbor tasks.",
        "authors": [{"name": author} for author in _authors(tasks)],
        "keywords": [*_sources(tasks), "code-comprehension", "long-context"],
    }
    return tomli_w.dumps({"dataset": head, "tasks": [{"name": task.name, "digest": task.digest} for task in tasks]})


def _authors(tasks: list[TaskRef]) -> list[str]:
    return sorted({author for task in tasks for author in task.authors})


def _sources(tasks: list[TaskRef]) -> list[str]:
    return sorted({task.organisation for task in tasks})


def _page(name: str, tasks: list[TaskRef], origin: Origin) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    languages = Counter(language_title(task.language) for task in tasks)
    return environment.get_template("dataset_page.md.j2").render(
        name=name,
        tasks=len(tasks),
        projects=len({task.project_id for task in tasks}),
        languages=sorted(languages.items()),
        categories=sorted(Counter(task.category for task in tasks).items()),
        scenarios=origin.scenarios,
        sample=_SAMPLE if origin.is_sample else "",
        sources=_sources(tasks),
        authors=_authors(tasks),
    )
