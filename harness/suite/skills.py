"""Which skills does a folder hold, and under which names may the agent have loaded them?"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from harness.errors import IsolationError

NAME = re.compile(r"^name:\s*(\S+)", re.MULTILINE)
"""The name in the front matter of a SKILL.md."""

UNLISTED = re.compile(r"\A---\n(?:(?!---).*\n)*?(?:user-invocable:\s*false\b|paths:)")
"""Front matter of a skill that the CLI does not list: it is for the model alone, or for certain files."""


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

    A folder without skills gets a warning, since nothing in it reaches the agent. IsolationError if there is no such
    folder, or a SKILL.md cannot be read.
    """
    path = skills_path.expanduser()
    if (path / "SKILL.md").is_file():
        return (_skill(path.resolve()),)
    if not path.is_dir():
        raise IsolationError(f"skills_path {path}: no such folder")
    skills = skills_in(path)
    flat = sorted(file.name for file in path.glob("*.md"))
    if not skills:
        why = f"{', '.join(flat[:3])} {'lies' if len(flat) == 1 else 'lie'} flat" if flat else "the folder has none"
        warnings.warn(f"{path}: no skill there, {why}; Claude Code reads <name>/SKILL.md alone", stacklevel=2)
    return skills


def skills_in(folder: Path) -> tuple[Skill, ...]:
    """Return the skills in a folder of skills, sorted by name; none if there is no such folder."""
    return tuple(_skill(path.parent) for path in sorted(folder.glob("*/SKILL.md")))


def _skill(folder: Path) -> Skill:
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise IsolationError(f"{folder / 'SKILL.md'}: cannot be read ({error.strerror})") from error
    match = NAME.search(text)
    names = frozenset([folder.name, *([match.group(1).strip("\"'")] if match else [])])
    return Skill(folder, names, listed=UNLISTED.match(text) is None)
