"""Read a task's folder as Harbor does: its task.toml, the files that belong to it, their digest, and its key."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pathspec
from pydantic import AliasPath, Field, ValidationError

from locobench.harbor.files import HarborFile, Named, read
from locobench.shared.errors import InputError
from locobench.shared.files import read_toml
from locobench.shared.installation import GENERATE
from locobench.shared.validation import Whole, first_problem

TASK_FILE = "task.toml"
PROJECT, KEY = "environment/project/", "tests/ground_truth.json"
CONTROL_GROUP = "control_group"
"""Name of the grouping: `yes` marks tasks that a single grep nearly answers, so that a search tool can hardly help."""
HISTORY = "history"
"""Tier of tasks that ask which functions a commit changed, at its parent."""

# What Harbor packs (harbor.publisher.packager), and what it leaves out if the task has no .gitignore.
_SINGLE_FILES = (TASK_FILE, "instruction.md", "README.md", "trajectory.json")
_FOLDERS = ("environment", "tests", "solution", "steps")
_LEFT_OUT = ("__pycache__/", "*.pyc", ".DS_Store", "*.swp", "*.swo", "*~")

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", re.IGNORECASE | re.MULTILINE)


class DerivedSection(HarborFile):
    """[metadata.derived]: facts about a question with an exact answer."""

    kind: str = ""
    tier: str = ""
    control_group: bool = False
    repository: str = ""

    @property
    def is_history(self) -> bool:
        """Whether later code of its repository holds its answer."""
        return self.tier == HISTORY

    @property
    def groups(self) -> dict[str, str]:
        """The groups that comparisons use for these tasks, besides category, language and difficulty."""
        found = {"kind": self.kind, "tier": self.tier, CONTROL_GROUP: "yes" if self.control_group else "no"}
        found["repository"] = self.repository
        return {name: value for name, value in found.items() if value}


class MetadataSection(HarborFile):
    """[metadata], which Harbor never reads; tasks of other benchmarks have other keys or none."""

    category: str = ""
    task_category: str = ""
    difficulty: str = ""
    language: str = ""
    project_id: str = ""
    context_length: Whole | None = None
    content_fingerprint: str = ""
    """The generator's digest of the task with its code at hand and without MCP servers."""
    oracle_reward: float | None = None
    """What the oracle must earn; None where a verifier of the user's own decides."""
    closed_book: bool | None = None
    pilot_runs: tuple[str, ...] = ()
    """Ids of the runs by which the task was selected."""
    derived: DerivedSection | None = None

    @property
    def repository(self) -> str:
        """The code base that the task is about; empty where none is named."""
        return (self.derived and self.derived.repository) or self.project_id


class TaskSection(HarborFile):
    """[task]: what a registry shows."""

    name: str = ""
    authors: tuple[Named, ...] = ()


class AgentSection(HarborFile):
    """[agent]."""

    timeout_sec: float | None = None
    """Seconds; None means no limit."""


class VerifierSection(HarborFile):
    """[verifier]."""

    timeout_sec: float = 600.0
    environment_mode: str | None = None


class EnvironmentSection(HarborFile):
    """[environment]."""

    cpus: float | None = None
    memory_mb: Whole | None = None
    storage_mb: Whole | None = None
    docker_image: str | None = None
    mcp_servers: tuple[Named, ...] = ()


class TaskToml(HarborFile):
    """task.toml of any task, with Harbor's defaults for missing fields."""

    task: TaskSection = TaskSection()
    metadata: MetadataSection = MetadataSection()
    agent: AgentSection = AgentSection()
    verifier: VerifierSection = VerifierSection()
    environment: EnvironmentSection = EnvironmentSection()

    @classmethod
    def read(cls, folder: Path, raw: dict[str, Any] | None = None) -> TaskToml:
        """Read task.toml from a task's folder, or what was read of it; raise InputError if it is missing or invalid."""
        try:
            return cls.model_validate(read_toml(folder / TASK_FILE) if raw is None else raw)
        except ValidationError as error:
            raise InputError(f"{folder / TASK_FILE}: {first_problem(error)}") from None


class _Key(HarborFile):
    """tests/ground_truth.json of a question with an exact answer."""

    items: tuple[str, ...] = Field(default=(), validation_alias=AliasPath("key", "items"))


class TaskFolder(HarborFile):
    """The current state of a task's folder."""

    toml: TaskToml
    digest: str
    """The digest in Harbor's registry and in a trial's lock, `sha256:...`."""
    content: str = Field(repr=False)
    """Hash of everything in the digest except the MCP servers and what a pilot told."""
    base_image: str | None
    """The task's prebuilt image, or the one its Dockerfile builds on."""
    key: frozenset[str] = Field(default=frozenset(), repr=False)
    """The files that its exact answer names, relative to its code base; empty if its key names none."""
    code: frozenset[str] = Field(default=frozenset(), repr=False)
    """All files of the code base of a task with such a key; empty if it has none at hand."""

    @classmethod
    def read(cls, folder: Path) -> TaskFolder:
        """Read a task's folder with all its files.

        Raises:
            InputError: its task.toml cannot be read or is invalid.
            OSError: a file cannot be read.
        """
        raw = read_toml(folder / TASK_FILE)
        described = TaskToml.read(folder, raw)
        lines = {name: f"{name}\0{digest}\n" for name, digest in file_digests(folder).items()}
        counted = {**lines, TASK_FILE: _content_of(raw)}
        try:
            key = frozenset(item.partition(": ")[0] for item in read(folder / KEY, _Key).items)
        except InputError:
            key = frozenset()
        dockerfile = folder / "environment/Dockerfile"
        built = dockerfile.is_file() and _FROM.search(dockerfile.read_text(encoding="utf-8", errors="replace"))
        return cls(
            toml=described,
            digest=f"sha256:{hashlib.sha256(''.join(lines.values()).encode()).hexdigest()}",
            # A copy of the folder without its files still has the generator's digest.
            content=hashlib.sha256("".join(counted.values()).encode()).hexdigest()
            if (folder / "environment").is_dir()
            else described.metadata.content_fingerprint,
            base_image=described.environment.docker_image or (built[1] if built else None),
            key=key,
            code=frozenset(name.removeprefix(PROJECT) for name in lines if key and name.startswith(PROJECT)),
        )


def task_folders(root: Path) -> list[Path]:
    """Return the visible folders in `root`, sorted by name, or `root` itself if it is a task.

    Folders without a task.toml are included, so that a broken task is reported and not skipped.

    Raises:
        InputError: there is no such folder, or it contains no folders.
    """
    # For an impossible file name os.path.isdir returns False, where Path.is_dir may raise.
    if not os.path.isdir(root):  # noqa: PTH112
        raise InputError(f"{root}: no such folder; generate tasks with {GENERATE} or name their folder")
    if (root / TASK_FILE).is_file():
        return [root]
    folders = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not folders:
        raise InputError(f"{root}: contains no tasks; generate tasks with {GENERATE} or name their folder")
    return folders


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 (hex) of each file that Harbor packs, sorted by path in the folder.

    Raises:
        OSError: a file cannot be read.
    """
    ignored = folder / ".gitignore"
    left_out = _spec(tuple(ignored.read_text(encoding="utf-8").splitlines()) if ignored.exists() else _LEFT_OUT)
    found = {}
    for name in sorted(_files(folder)):
        # Some of the library's engines refuse names that are not UTF-8.
        if left_out.match_file(os.fsencode(name).decode("utf-8", "replace")):
            continue
        with (folder / name).open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _files(folder: Path) -> Iterator[str]:
    yield from (name for name in _SINGLE_FILES if (folder / name).exists())
    for top in _FOLDERS:
        for parent, _, names in os.walk(folder / top):
            below = os.path.relpath(parent, folder)
            # Strings, not Path objects: there are hundreds of thousands of them.
            yield from (f"{below}/{name}" for name in names if os.path.isfile(f"{parent}/{name}"))  # noqa: PTH113


@cache
def _spec(lines: tuple[str, ...]) -> pathspec.PathSpec[Any]:
    return pathspec.PathSpec.from_lines("gitignore", lines)


def _content_of(raw: dict[str, Any]) -> str:
    """Return task.toml as text, without what leaves the task the same: MCP servers and what a pilot told."""
    environment = {key: value for key, value in raw.get("environment", {}).items() if key != "mcp_servers"}
    metadata = {key: value for key, value in raw.get("metadata", {}).items() if key not in ("pilot_runs", "difficulty")}
    return json.dumps({**raw, "metadata": metadata, "environment": environment}, sort_keys=True, default=str)
