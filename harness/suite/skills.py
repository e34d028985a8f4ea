"""The skills in a folder, and the names under which the agent may have loaded them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from locobench.shared.errors import InputError

FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.MULTILINE | re.DOTALL)
"""The YAML at the head of a SKILL.md."""


@dataclass(frozen=True)
class Skill:
    """A folder with a SKILL.md."""

    path: Path
    names: frozenset[str]
    """The folder's name and the name in the front matter; the CLI lists a skill by one of them."""
    listed: bool = True
    """Whether the CLI's first line names the skill if it was loaded."""


def find_skills(skills_path: Path) -> tuple[Skill, ...]:
    """Find the skills at a path: itself if it has a SKILL.md, else its subfolders that do, sorted by name.

    A folder without skills gets a warning, since nothing in it reaches the agent. InputError if there is no such
    folder, or a SKILL.md cannot be read.
    """
    path = skills_path.expanduser()
    if (path / "SKILL.md").is_file():
        return (_skill(path.resolve()),)
    if not path.is_dir():
        raise InputError(f"skills_path {path}: no such folder")
    skills = tuple(_skill(file.parent) for file in sorted(path.glob("*/SKILL.md")))
    flat = sorted(file.name for file in path.glob("*.md"))
    if not skills:
        beside = f", only {', '.join(flat[:3])}" if flat else ""
        warnings.warn(f"{path}: contains no skill{beside}; Claude Code only reads <name>/SKILL.md", stacklevel=2)
    return skills


def _skill(folder: Path) -> Skill:
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{folder / 'SKILL.md'}: cannot be read ({error.strerror})") from error
    about = _front_matter(folder / "SKILL.md", text)
    names = frozenset([folder.name, *([str(about["name"])] if about.get("name") else [])])
    # The CLI does not list a skill that is for the model alone, or for certain files.
    return Skill(folder, names, listed=about.get("user-invocable") is not False and "paths" not in about)


def _front_matter(path: Path, text: str) -> dict[str, Any]:
    """Return a skill's metadata, {} without any. Warn if it has no description, since agents never use it then."""
    found, about = FRONT_MATTER.match(text), None
    with contextlib.suppress(YAMLError, ValueError, RecursionError):
        about = YAML(typ="safe", pure=True).load(found[1] if found else "")
    if not isinstance(about, dict):
        about = {}
    if not str(about.get("description") or "").strip():
        why = "has no description in its front matter (quote a text that has a colon)"
        warnings.warn(f"{path} {why}, so Claude Code never uses the skill", stacklevel=2)
    return about


def digest(skills: Sequence[Skill]) -> str:
    """Hash all that `copy_skills` copies, which follows links."""
    found = hashlib.sha256()
    for skill in skills:
        for folder, folders, names in os.walk(skill.path, followlinks=True):
            folders.sort()
            for path in (Path(folder, name) for name in sorted(names)):
                name = os.fsencode(path.relative_to(skill.path.parent))
                content = path.read_bytes() if path.is_file() else b""
                found.update(name + b"\0" + hashlib.sha256(content).digest())
    return found.hexdigest()


def copy_skills(skills: Sequence[Skill], folder: Path) -> None:
    """Copy each skill into a folder of its own, over files of the same name."""
    for skill in skills:
        shutil.copytree(skill.path, folder / skill.path.name, dirs_exist_ok=True)
