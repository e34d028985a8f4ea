"""The files that make a folder of tasks a Harbor dataset: the manifest and a page about it."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import jinja2
import tomli_w

from locobench.dataset.catalog import language_title
from locobench.generate.folder import NotOurs, stored_fingerprint
from locobench.generate.run import output_folder
from locobench.harbor.digest import TaskRef, refer_all
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

MANIFEST = "dataset.toml"
FILES = (MANIFEST, "README.md")
# Digests of the files as they were written: whoever changed one since keeps it.
STATE_FILE = ".dataset.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_SAMPLE = (
    "Made from the bundled sample, which was written in LoCoBench-Agent's layout: none of the benchmark's own "
    "scenarios is in this dataset."
)


def dataset_name(text: str) -> str:
    """Read `ORG/NAME` (for `type=` of a flag) as Harbor's registry takes it."""
    if not _NAME.fullmatch(text) or ".." in text:
        raise argparse.ArgumentTypeError(
            f"expected ORG/NAME of letters, digits, dots, hyphens and underscores, got {text!r}"
        )
    return text


@dataclass(frozen=True)
class Origin:
    """Where the tasks come from."""

    scenarios: int
    """Records in the JSONL."""
    is_sample: bool
    """Whether they are the bundled sample's."""


class Published(list[TaskRef]):
    """The tasks of the manifest that was written."""

    strangers: tuple[str, ...] = ()
    """Folders that were left out, since this program did not write them."""


def check_files(folder: Path) -> None:
    """Make sure that nothing is lost when the dataset's files are written.

    Raises:
        InputError: one is there that was not written here, or was changed since.
    """
    known = _known(folder)
    for name in FILES:
        path = folder / name
        if (path.exists() or path.is_symlink()) and _digest(path) not in known.get(name, []):
            raise InputError(
                f"{path}: is there and not as this program wrote it; move it away, or name another --output_dir"
            )


def is_outdated(folder: Path) -> bool:
    """Whether the folder has a manifest of an earlier run, which a run that writes tasks leaves as it is."""
    return (folder / MANIFEST).exists()


def publish(folder: Path, name: str, origin: Origin) -> Published:
    """Write the dataset's files beside the generated tasks in `folder`, of which all are in the manifest.

    Args:
        name: `ORG/NAME` of the dataset.

    Raises:
        InputError: a file cannot be read or written, or is not ours; see `check_files`.
    """
    with output_folder(folder):
        check_files(folder)
        ours, strangers = _tasks(folder)
        tasks = Published(sorted(refer_all(ours)))
        tasks.strangers = strangers
        contents = {
            MANIFEST: _manifest(name, tasks),
            "README.md": _page(name, tasks, origin),
        }
        known = _known(folder)
        # Old and new ones: a run that is killed in between leaves files that the next one knows.
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


def _tasks(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """Return the generated tasks, and the names of other folders that are not hidden."""
    ours, strangers = [], []
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith("."):
            continue
        try:
            stored_fingerprint(path)
            ours.append(path)
        except NotOurs:
            strangers.append(path.name)
    return ours, tuple(strangers)


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
