"""Write the files that make a folder of tasks a Harbor dataset: the manifest and a README."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import tomli_w

from locobench.dataset.catalog import language_title
from locobench.generate.folder import output_folder
from locobench.harbor.task import TaskFolder
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

MANIFEST = "dataset.toml"
# Each file, and its first line: it holds the digest of the others, so that an edited file is recognised and kept.
FILES = {MANIFEST: "# {}", "README.md": "<!-- {} -->"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_MARK = "Generated, and not overwritten once it was edited; SHA-256 of what follows: {}"

_PAGE = """# {name}

{count} tasks over {projects} code bases, chosen from {scenarios} scenarios. Each asks a question about a whole code
base; the agent writes its answer to `/app/solution.md`, and a verifier scores it between 0 and 1. By {authors}.
{origin}

| tasks | number |
|---|---|
{rows}

```bash
harbor run -p . -a oracle                      # from this folder: every trial 1.0
harbor run -p . -a claude-code -m <model>
```

After `harbor publish`, `harbor run -d {name}` runs them from the registry. Whoever publishes them needs the rights to
the organisations of the tasks: {sources}.

- `harbor run` skips a folder that is not a complete task, with no message: expect {count} trials.
- After a change to a task, write this dataset again, or run `harbor sync`, or the digests are wrong.
- The verifier is not the benchmark's own: rewards are not comparable with published scores, and no parity experiment
  was run.
"""
_LOCOBENCH = (
    "Scenarios and code bases are [LoCoBench-Agent](https://github.com/SalesforceAIResearch/LoCoBench-Agent)'s "
    "(arXiv 2511.13998, Apache-2.0)."
)
_SAMPLE = (
    "Made from the bundled sample, which was written in LoCoBench-Agent's layout: none of the benchmark's own "
    "scenarios is in this dataset."
)


def check(folder: Path, name: str) -> None:
    """Check a dataset's name, and that its files do not overwrite anything that this program did not write.

    Raises:
        InputError: Harbor's registry does not accept the name, or a file was not written here or was edited since.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise InputError(
            f"dataset_name: expected ORG/NAME of letters, digits, dots, hyphens and underscores, got {name!r}"
        )
    for file in FILES:
        path = folder / file
        try:
            whole = path.read_text(encoding="utf-8")
            is_ours = whole == _marked(file, whole.partition("\n")[2])
        except (OSError, ValueError):
            is_ours = not (path.exists() or path.is_symlink())
        if not is_ours:
            raise InputError(
                f"{path}: exists and was not written by this program, or was edited; move it away or name another"
                " --output_dir"
            )


def publish(
    folder: Path, name: str, task_ids: Iterable[str], *, scenarios: int, is_sample: bool, languages: Path | None = None
) -> None:
    """Write the dataset's files beside the generated tasks in `folder`.

    Args:
        name: the dataset's name, `ORG/NAME`.
        task_ids: its tasks.
        scenarios: number of records that they were chosen from.
        is_sample: whether they come from the bundled sample.
        languages: a file with more language tables.

    Raises:
        InputError: a file cannot be read or written, or is not ours; see `check`.
    """
    with output_folder(folder):
        check(folder, name)
        try:
            read = [TaskFolder.read(folder / task_id) for task_id in task_ids]
        except OSError as error:
            raise InputError(f"{error.filename}: {error.strerror}; generate the task again") from None
        tasks = sorted(read, key=lambda task: task.toml.task.name)
        facts = [task.toml.metadata for task in tasks]
        sources = sorted({task.toml.task.name.partition("/")[0] for task in tasks})
        authors = sorted({author.name for task in tasks for author in task.toml.task.authors})
        head = {
            "name": name,
            "version": "1.0.0",
            "description": f"{len(tasks)} questions about whole code bases, as Harbor tasks.",
            "authors": [{"name": author} for author in authors],
            "keywords": [*sources, "code-comprehension", "long-context"],
        }
        entries = [{"name": task.toml.task.name, "digest": task.digest} for task in tasks]
        groups = (
            Counter(language_title(one.language, languages) for one in facts),
            Counter(one.category for one in facts),
        )
        page = _PAGE.format(
            name=name,
            count=len(tasks),
            projects=len({one.project_id for one in facts}),
            scenarios=scenarios,
            rows="\n".join(f"| {key} | {number} |" for group in groups for key, number in sorted(group.items())),
            origin=_SAMPLE if is_sample else _LOCOBENCH if "locobench" in sources else "",
            authors=", ".join(authors),
            sources=", ".join(sources),
        )
        write_whole(folder / MANIFEST, _marked(MANIFEST, tomli_w.dumps({"dataset": head, "tasks": entries})))
        write_whole(folder / "README.md", _marked("README.md", page))


def _marked(name: str, text: str) -> str:
    """Return the text of a file below its mark."""
    mark = FILES[name].format(_MARK.format(hashlib.sha256(text.encode()).hexdigest()))
    return f"{mark}\n{text}"
