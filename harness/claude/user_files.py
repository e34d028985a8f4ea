"""What does a configuration folder give to the agent as its user's own: memory, skills, subagents, servers?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.suite.resolved import agent_name
from harness.suite.skills import Skill, skills_in

CONFIG_FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"


@dataclass(frozen=True)
class UserFiles:
    """What a run finds at the level of its user."""

    given: bool = False
    """Whether there is anything, so that the CLI is to look there."""
    memory: Path | None = None
    """The user's CLAUDE.md, when it says anything."""
    skills: tuple[Skill, ...] = ()
    agents: tuple[str, ...] = ()
    """Names of subagents."""
    servers: Mapping[str, Any] = field(default_factory=dict)


def user_files(variables: Mapping[str, str]) -> UserFiles:
    """What lies in the configuration folder that the variables of a run name; nothing when they name none.

    Raises:
        InputError: the folder's .claude.json cannot be read.
    """
    named = variables.get(CONFIG_FOLDER_VARIABLE)
    folder = Path(named).absolute() if named else None
    if folder is None or not folder.is_dir() or not any(folder.iterdir()):
        return UserFiles()
    memory = folder / "CLAUDE.md"
    says = memory.is_file() and memory.read_text(encoding="utf-8", errors="replace").strip()
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("agents/**/*.md"))]
    return UserFiles(
        given=True,
        memory=memory if says else None,
        skills=skills_in(folder / "skills"),
        agents=tuple(name for text in texts if (name := agent_name(text))),
        servers=_servers(folder / ".claude.json"),
    )


def _servers(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        servers = json.loads(path.read_text(encoding="utf-8")).get("mcpServers", {})
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read as a JSON object ({error})") from error
    if not isinstance(servers, dict):
        raise InputError(f"{path}: mcpServers must be an object with one entry per server")
    return servers
