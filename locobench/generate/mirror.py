"""Projects as plain git repositories, for people who index the code bases for their search tool."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from locobench.dataset.scenario import Scenario
from locobench.generate.folder import NotOurs, new_folder, sweep
from locobench.generate.maker import ProjectTasks
from locobench.generate.project import Project
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

INDEX_FILE = "projects_to_index.json"
_IDENTITY = "benchmark <benchmark@localhost>"
_ATTRIBUTES = Path(".git/info/attributes")
_EVERY_BYTE = "# written by locobench-harbor\n* -text -ident -filter -working-tree-encoding\n"
_DATE = "2000-01-01T00:00:00+00:00"


def mirror_repos(
    groups: Iterable[ProjectTasks], load: Callable[[str], Scenario], folder: Path, *, strip_code_fences: bool = False
) -> dict[str, str]:
    """Write each project to `folder`/<project_id>/ as a repository with one commit, and an index beside them.

    The files are those that agents see in the tasks. The same project gives the same commit on any machine.

    Args:
        load: returns the scenario for an id.
        strip_code_fences: remove the Markdown fence around files that are wrapped in one.

    Returns:
        The projects that could not be written, and why.

    Raises:
        InputError: git is missing, or the folder cannot be written.
    """
    if shutil.which("git") is None:
        raise InputError("git: not found; --mirror_repos needs it")
    failures: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; --mirror_repos must be a folder that can be written") from None
    for group in groups:
        project_id = group.folder.name
        try:
            tasks = [load(task_id) for task_id in group.task_ids]
            _check_ours(folder / project_id)
            project = Project.scan(group.folder)
            mapping = project.mapping(path for task in tasks for path in task.context_files)
            with new_folder(folder / project_id) as building:
                mapping.copy_to(building / "tree", strip_code_fences=strip_code_fences)
                commit = _commit(building)
        except (InputError, NotOurs) as error:
            failures[project_id] = str(error)
            continue
        except OSError as error:
            failures[project_id] = f"{error.filename or folder}: {error.strerror or error}"
            continue
        except subprocess.CalledProcessError as error:
            failures[project_id] = f"git: {error.stderr.decode(errors='replace').strip().splitlines()[-1:]}"
            continue
        entries.append(
            {
                "project_id": project_id,
                "path": project_id,
                "commit": commit,
                "language": tasks[0].language,
                "files": len(mapping.part.files),
                "tasks": sorted(group.task_ids),
            }
        )
    write_whole(folder / INDEX_FILE, json.dumps(sorted(entries, key=lambda entry: entry["path"]), indent=1) + "\n")
    return failures


def _check_ours(repository: Path) -> None:
    """Raise NotOurs if the path exists and is not a repository written by this module."""
    try:
        ours = (repository / _ATTRIBUTES).read_text() == _EVERY_BYTE
    except OSError:
        ours = not os.path.lexists(repository)
    if not ours:
        raise NotOurs(
            f"{repository} is there and is not a mirrored project: move it away or name another --mirror_repos"
        )


def _commit(building: Path) -> str:
    """Turn `building` into a repository with the files of `building`/tree, and return its commit."""
    tree = building / "tree"
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(building), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE, "TZ": "UTC", "LC_ALL": "C",
    }  # fmt: skip
    name, _, address = _IDENTITY.partition(" ")
    settings = {
        "user.name": name,
        "user.email": address.strip("<>"),
        "core.hooksPath": os.devnull,
        "core.fileMode": "true",
    }

    def git(*arguments: str) -> str:
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        command = ["git", "-C", str(tree), *options, *arguments]
        return subprocess.run(command, env=environment, check=True, capture_output=True).stdout.decode().strip()

    git("init", "--quiet", "--template=", "--initial-branch=main")
    # This overrides the project's .gitattributes: every byte is committed unchanged.
    (tree / ".git" / "info").mkdir(exist_ok=True)
    (tree / _ATTRIBUTES).write_text(_EVERY_BYTE)
    git("add", "--all", "--force")
    git("commit", "--quiet", "--no-gpg-sign", "--allow-empty", "--message=Code base")
    commit = git("rev-parse", "HEAD")
    for entry in list(tree.iterdir()):
        entry.rename(building / entry.name)
    tree.rmdir()
    return commit
