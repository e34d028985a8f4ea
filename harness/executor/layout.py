"""Where an agent looks for its memory, skills and settings: each agent lays out its own home."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from harness.suite.skills import Skill


class Layout(ABC):
    """The files and variables that an agent reads at its start."""

    @abstractmethod
    def variables(self, home: Path, log: Path) -> dict[str, str]:
        """Return the agent's own variables; folders that they name are created.

        Args:
            home: the run's empty HOME.
            log: a folder for what the agent records about its start.
        """

    @abstractmethod
    def write(self, project: Path, claude_md: str | None, agents_md: str | None, skills: Sequence[Skill]) -> None:
        """Write the memory files and skills into the project."""


def copy_skills(skills: Sequence[Skill], folder: Path) -> None:
    """Copy each skill into a folder of its own, over files of the same name."""
    for skill in skills:
        shutil.copytree(skill.path, folder / skill.path.name, dirs_exist_ok=True)
