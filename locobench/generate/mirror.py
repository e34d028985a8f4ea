"""Projects as plain git repositories, for people who index the code bases for their search tool."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from locobench.dataset.scenario import Scenario
from locobench.generate.project import Project
from locobench.shared import git
from locobench.shared.files import building_folder, check_ours, put_folder, write_whole

INDEX_FILE = "projects_to_index.json"
_ATTRIBUTES = Path(".git/info/attributes")
_EVERY_BYTE = "# written by locobench-harbor\n* -text -ident -filter -working-tree-encoding\n"
_SIGNED = {"NAME": "benchmark", "EMAIL": "benchmark@localhost", "DATE": "2000-01-01T00:00:00+00:00"}


class Mirrored(NamedTuple):
    """What a user should know of a mirror."""

    answered: dict[str, int]
    """Repository -> its questions from the history, if other commits of it lie beside: later ones hold their fixes."""
    unlisted: list[str]
    """The repositories in the folder that an earlier call wrote and the index does not name."""


def mirror_repos(projects: Mapping[Path, list[str]], load: Callable[[str], Scenario], folder: Path) -> Mirrored:
    """Write each project to `folder`/<project_id>/ as a repository with one commit, and an index beside them.

    The files are those that agents see in the tasks. The same project gives the same commit on any machine.

    Args:
        projects: the ids of each project's tasks, by its folder.
        load: returns the scenario for an id.

    Raises:
        InputError: git is missing or fails, a record is invalid, or something else has a project's name.
        OSError: a file cannot be read or written.
    """
    entries: list[dict[str, Any]] = []
    copies, history = Counter[str](), Counter[str]()
    for source, task_ids in projects.items():
        project_id = source.name
        tasks = [load(task_id) for task_id in task_ids]
        check_ours(folder / project_id, folder / project_id / _ATTRIBUTES, _EVERY_BYTE, "--mirror_repos")
        mapping = Project.scan(source).mapping(path for task in tasks for path in task.context_files)
        with building_folder(folder / project_id) as building:
            mapping.copy_to(building)
            commit = _commit(building)
            put_folder(building, folder / project_id)
        derived = [task.derived for task in tasks if task.derived]
        copies.update({one.repository for one in derived})
        history.update(one.repository for one in derived if one.tier == "history")
        entries.append(
            {
                "project_id": project_id,
                "path": project_id,
                "commit": commit,
                "language": tasks[0].language,
                "files": len(mapping.files),
                "tasks": sorted(task_ids),
            }
        )
    write_whole(folder / INDEX_FILE, json.dumps(sorted(entries, key=lambda entry: entry["path"]), indent=1) + "\n")
    listed = {entry["path"] for entry in entries}
    unlisted = sorted({path.relative_to(folder).parts[0] for path in folder.glob(f"*/{_ATTRIBUTES}")} - listed)
    return Mirrored({name: count for name, count in history.items() if copies[name] > 1}, unlisted)


def _commit(folder: Path) -> str:
    """Turn a folder into a repository with its files, and return the commit."""
    signed = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _SIGNED.items()}
    git.run(folder, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1")
    # This overrides the project's .gitattributes: every byte is committed unchanged.
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / _ATTRIBUTES).write_text(_EVERY_BYTE)
    git.run(folder, "config", "core.fileMode", "true")
    git.run(folder, "add", "--all", "--force")
    git.run(folder, "commit", "--quiet", "--allow-empty", "--message=Code base", env=signed)
    return git.run(folder, "rev-parse", "HEAD")
