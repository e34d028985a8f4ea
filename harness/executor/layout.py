"""Where an agent looks for its memory, skills and settings: each agent lays out its own home."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from harness.suite.skills import Skill


class Layout(Protocol):
    """A function that lays out one agent's files."""

    def __call__(
        self,
        project: Path,
        home: Path,
        log: Path,
        *,
        claude_md: str | None,
        agents_md: str | None,
        skills: Sequence[Skill],
    ) -> dict[str, str]:
        """Write what the agent reads at its start into the project, and return the agent's own variables.

        `home` is the run's empty HOME, `log` a folder for what the agent records about its start.
        """


def copy_skills(skills: Sequence[Skill], folder: Path) -> None:
    """Copy each skill into a folder of its own, over files of the same name."""
    for skill in skills:
        shutil.copytree(skill.path, folder / skill.path.name, dirs_exist_ok=True)
