"""Which skills does a folder hold, and under which names can the agent have loaded them?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import IsolationError

NAME = re.compile(r"^name:\s*(\S+)", re.MULTILINE)
"""The name in the front matter of a SKILL.md."""


@dataclass(frozen=True)
class Skill:
    """A folder with a SKILL.md."""

    path: Path
    names: frozenset[str]
    """The folder's name and the one in the front matter; the CLI lists a skill by one of them."""


def find_skills(skills_path: Path) -> tuple[Skill, ...]:
    """Skills of a path: itself when it holds SKILL.md, else its children that do; sorted by name.

    Raises:
        IsolationError: there is none, or a SKILL.md cannot be read.
    """
    path = skills_path.expanduser()
    if (path / "SKILL.md").is_file():
        return (_skill(path.resolve()),)
    folders = sorted(p.parent for p in path.glob("*/SKILL.md")) if path.is_dir() else []
    if not folders:
        raise IsolationError(f"skills_path {path}: no skill there (a skill is a folder with SKILL.md)")
    return tuple(map(_skill, folders))


def _skill(folder: Path) -> Skill:
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise IsolationError(f"{folder / 'SKILL.md'}: cannot be read ({error.strerror})") from error
    match = NAME.search(text)
    return Skill(folder, frozenset([folder.name, *([match.group(1).strip("\"'")] if match else [])]))
