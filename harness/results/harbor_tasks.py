"""What do the task folders of Harbor trials tell? Groups, offered servers, limits, and whether two are the same task.

A folder may have been made anew since the trial. Where the trial's lock has the digest of what it ran, a folder that
no longer has it tells nothing but its groups, which do not change.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.errors import InputError
from harness.models.traces import Whole
from harness.results.harbor_files import HarborFile, McpServer, TaskMetadata, Trial, read
from locobench.shared import toml
from locobench.shared.validation import first_problem

SINGLE_FILES = ("README.md", "instruction.md", "task.toml", "trajectory.json")
FOLDERS = ("environment", "solution", "steps", "tests")
"""What Harbor's digest of a task goes over (harbor.publisher.packager.Packager) ..."""
IGNORED = re.compile(r"(^|/)__pycache__/|\.(pyc|swp|swo)$|(^|/)\.DS_Store$|~$")
"""... without these, unless the task has a .gitignore."""

ABOUT_ITSELF = ("tests/task_metadata.json",)
"""Files with the generator's own fingerprint, servers included, which no agent and no verifier reads."""

FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", re.IGNORECASE | re.MULTILINE)


class TaskLimits(HarborFile):
    """[agent], [verifier] and [environment] of a task.toml, as far as a comparison looks at them."""

    timeout_sec: float | None = None
    environment_mode: str | None = None
    cpus: float | None = None
    memory_mb: Whole | None = None
    docker_image: str | None = None
    mcp_servers: tuple[McpServer, ...] = ()


class TaskToml(HarborFile):
    """task.toml of a task folder."""

    metadata: TaskMetadata = TaskMetadata()
    agent: TaskLimits = TaskLimits()
    verifier: TaskLimits = TaskLimits()
    environment: TaskLimits = TaskLimits()


class TaskFolder(HarborFile):
    """A task folder as it is now."""

    toml: TaskToml
    digest: str | None = None
    """As Harbor's locks have it, `sha256:...`; None when it cannot be told."""
    content: str = ""
    """Hash of all that the digest goes over but the MCP servers and the generator's notes."""
    base_image: str | None = None


class Lock(HarborFile):
    """<trial>/lock.json."""

    class Task(HarborFile):
        """The task of the trial."""

        digest: str | None = None

    task: Task = Task()


class TaskFolders:
    """Reads the task folder of each trial, and each folder once."""

    def __init__(self, tasks_dir: Path | None) -> None:
        """`tasks_dir`: folder of the task folders; None for where the trials say they lay."""
        self._tasks_dir = tasks_dir
        self._read: dict[Path, TaskFolder | None] = {}

    def metadata(self, trial: Trial) -> TaskMetadata:
        """What reports group the task by; empty without its folder."""
        task = self._folder(trial)
        return task.toml.metadata if task else TaskMetadata()

    def as_it_ran(self, folder: Path, trial: Trial) -> TaskFolder | None:
        """The trial's task; None when its folder is not there or is no longer what the trial ran."""
        task = self._folder(trial)
        lock = folder / "lock.json"
        if task is None or not lock.is_file():
            return task
        ran = read(lock, Lock).task.digest
        return task if ran is None or ran == task.digest else None

    def _folder(self, trial: Trial) -> TaskFolder | None:
        folder = self._tasks_dir / task_id(trial) if self._tasks_dir else trial.task_path
        if folder is None:
            return None
        if folder not in self._read:
            # Unlike Path's, os.path's answer to a name that no file can have is no.
            is_there = os.path.isfile(folder / "task.toml")  # noqa: PTH113
            self._read[folder] = read_task(folder) if is_there else None
        return self._read[folder]


def task_id(trial: Trial) -> str:
    """The task's folder name where the trial tells it, else its registered name."""
    return trial.task_path.name if trial.task_path else trial.task_name


def read_task(folder: Path) -> TaskFolder:
    """A task folder.

    Raises:
        InputError: its task.toml is not one.
    """
    file = folder / "task.toml"
    try:
        raw = toml.loads(file.read_text(encoding="utf-8"))
        described = TaskToml.model_validate(raw)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not TOML ({error})") from error
    except ValidationError as error:
        raise InputError(f"{file}: {first_problem(error)}") from error
    dockerfile = folder / "environment/Dockerfile"
    found = FROM.search(dockerfile.read_text(encoding="utf-8", errors="replace")) if dockerfile.is_file() else None
    digest, content = _digests(folder, raw)
    return TaskFolder(
        toml=described,
        digest=digest,
        # A folder that was copied without its files still has the generator's fingerprint.
        content=content if (folder / "environment").is_dir() else described.metadata.content_fingerprint,
        base_image=described.environment.docker_image or (found.group(1) if found else None),
    )


def _digests(folder: Path, toml: dict[str, Any]) -> tuple[str | None, str]:
    """Harbor's digest of the task, and a hash of its content without servers and the generator's notes."""
    whole, content = hashlib.sha256(), hashlib.sha256()
    for name in sorted(_files(folder)):
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        whole.update(f"{name}\0{digest}\n".encode())
        if name == "task.toml":
            content.update(_without_servers(toml).encode())
        elif name not in ABOUT_ITSELF:
            content.update(f"{name}\0{digest}\n".encode())
    known = not (folder / ".gitignore").exists()
    return f"sha256:{whole.hexdigest()}" if known else None, content.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    """Names of the files that count, as paths below the folder with forward slashes."""
    yield from (name for name in SINGLE_FILES if (folder / name).is_file())
    for part in FOLDERS:
        for parent, _, files in os.walk(folder / part):
            below = Path(parent).relative_to(folder).as_posix()
            for file in files:
                if not IGNORED.search(name := f"{below}/{file}") and Path(parent, file).is_file():
                    yield name


def _without_servers(toml: dict[str, Any]) -> str:
    environment = {key: value for key, value in toml.get("environment", {}).items() if key != "mcp_servers"}
    return json.dumps({**toml, "environment": environment}, sort_keys=True, default=str)
