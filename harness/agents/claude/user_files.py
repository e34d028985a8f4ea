"""What does an agent get from its user's configuration folder: memory, skills, subagents, servers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.suite.load import read_object
from harness.suite.resolved import agent_name
from harness.suite.skills import Skill, skills_in

CONFIG_FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"
CLAUDE_HOME_VARIABLE = "CLAUDE_HOME"
"""Another name for CLAUDE_CONFIG_DIR, which the CLI does not read."""


@dataclass(frozen=True)
class UserFiles:
    """A run's user-level files."""

    given: bool = False
    """Whether there are any, so that the CLI has to load them."""
    memory: Path | None = None
    """The user's CLAUDE.md, unless it is empty."""
    skills: tuple[Skill, ...] = ()
    agents: tuple[str, ...] = ()
    """Names of subagents; the CLI ignores those without a description."""
    servers: Mapping[str, Any] = field(default_factory=dict)
    hooks_disabled: bool = False
    """Whether the settings turn off all hooks, including the one that records loaded memory files."""


def with_config_folder(variables: Mapping[str, str]) -> dict[str, str]:
    """Add CLAUDE_CONFIG_DIR to a run's variables if they only have CLAUDE_HOME."""
    named = {CONFIG_FOLDER_VARIABLE: variables[CLAUDE_HOME_VARIABLE]} if CLAUDE_HOME_VARIABLE in variables else {}
    return {**named, **variables}


def user_files(variables: Mapping[str, str]) -> UserFiles:
    """Read the configuration folder that a run's variables name; empty if they name none.

    InputError if the folder's settings.json or .claude.json cannot be read.
    """
    named = variables.get(CONFIG_FOLDER_VARIABLE)
    folder = Path(named).absolute() if named else None
    if folder is None or not folder.is_dir() or not any(folder.iterdir()):
        return UserFiles()
    memory = folder / "CLAUDE.md"
    says = memory.is_file() and memory.read_text(encoding="utf-8", errors="replace").strip()
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("agents/**/*.md"))]
    settings = read_object(folder / "settings.json")
    changed = settings.get("skillOverrides")
    turned_off = {name for name, state in changed.items() if state == "off"} if isinstance(changed, dict) else set()
    servers = read_object(folder / ".claude.json").get("mcpServers", {})
    if not isinstance(servers, dict):
        raise InputError(f"{folder / '.claude.json'}: mcpServers must be an object with one entry per server")
    return UserFiles(
        given=True,
        memory=memory if says else None,
        skills=tuple(skill for skill in skills_in(folder / "skills") if not skill.names & turned_off),
        agents=tuple(name for text in texts if (name := agent_name(text)) and "\ndescription:" in text),
        servers=servers,
        hooks_disabled=settings.get("disableAllHooks") is True,
    )
