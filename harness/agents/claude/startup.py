"""Did the agent really start with what it was given: skills, memory files, subagents, MCP servers, tools?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.agents.claude.layout import AGENTS_MD_RULE, ambient_memory
from harness.agents.claude.messages import Init
from harness.agents.claude.user_files import UserFiles
from harness.models.tools import ToolRule, canonical
from harness.suite.resolved import ResolvedConfig
from harness.suite.skills import Skill
from locobench.shared.files import read_below

INSTRUCTIONS_HOOK_SINCE = (2, 1, 69)
"""First CLI version that reports which memory files it loads."""

MOST_LOG_BYTES = 4_000_000
"""Limit of the log of memory files. The CLI writes one line per file, but an agent can write to it too."""

AGENTS_MD_PLUGIN = "cc-plugin-agents-md"
"""The CLI's built-in plugin that reads AGENTS.md if there is no CLAUDE.md."""


@dataclass(frozen=True)
class Expected:
    """What a run must start with."""

    servers: Mapping[str, Any]
    skills: Sequence[Skill]
    agents: Sequence[str]
    tools: Sequence[ToolRule]
    """Tools that the config allows by name, without wildcards."""
    memory: Sequence[Path]
    """Memory files that must be loaded."""
    plugin: str | None
    """A plugin that a memory file needs to have an effect."""
    memory_is_told: bool = True
    """Whether the hook can report which memory files are loaded."""

    @classmethod
    def of(cls, config: ResolvedConfig, user: UserFiles, project: Path) -> Expected:
        """Return what the config and the user's files provide to a run in `project`."""
        is_memory = config.agents_md is not None and config.subagent is None
        by_rule = is_memory and (project / AGENTS_MD_RULE).is_file()
        memory = [
            *([user.memory] if user.memory else []),
            *([project / "CLAUDE.md"] if (config.claude_md or "").strip() else []),
            *([project / "AGENTS.md"] if by_rule else []),
        ]
        return cls(
            servers={**user.servers, **config.servers},
            skills=[*user.skills, *config.skills],
            agents=[*user.agents, *([config.subagent] if config.subagent else [])],
            tools=[rule for rule in config.allowed_rules or [] if "*" not in rule.name],
            memory=memory,
            plugin=AGENTS_MD_PLUGIN if is_memory and not by_rule and not config.claude_md else None,
            memory_is_told=not user.hooks_disabled,
        )

    def missing_in(self, init: Init) -> list[str]:
        """Return what is missing from the CLI's init line, one phrase each."""
        offered = init.offered
        # A skill without a description is only listed as a command, though the model has it.
        skills = {*(offered.skills or []), *init.slash_commands}
        agents, status = set(offered.agents or []), offered.servers or {}
        missing = [f"skill {skill.path.name}" for skill in self.skills if skill.listed and not skills & skill.names]
        missing += [
            f"MCP server {server} ({status.get(server) or 'unknown'})"
            for server in self.servers
            if status.get(server) != "connected"
        ]
        missing += [f"agent {name}" for name in self.agents if name not in agents]
        missing += [f"tool {rule.name}" for rule in self._absent_tools(offered.tools)]
        if self.plugin is not None and self.plugin not in init.plugin_names:
            missing.append("AGENTS.md")
        return missing

    def _absent_tools(self, offered: list[str] | None) -> list[ToolRule]:
        if offered is None:
            return []
        there = {canonical(name) for name in offered}
        single = [rule for rule in self.tools if not rule.is_mcp or rule.is_partial]
        return [rule for rule in single if canonical(rule.name) not in there]

    def missing_memory(self, init: Init, log: Path, root: Path) -> list[str]:
        """Compare the CLI's log of loaded memory files: return expected files it lacks, and files from outside `root`.

        OSError if the agent replaced the log with something unreadable.
        """
        version = tuple(int(n) for n in re.findall(r"\d+", init.claude_code_version)[:3])
        if version < INSTRUCTIONS_HOOK_SINCE or not self.memory_is_told:
            return []
        try:
            loaded = read_below(log.parent, log.name, MOST_LOG_BYTES).decode(errors="replace")
        except FileNotFoundError:
            loaded = ""
        missing = [path.name for path in self.memory if json.dumps(str(path)) not in loaded]
        foreign = [path for path in ambient_memory(root) if json.dumps(str(path)) in loaded]
        return [*missing, *(f"nothing but its own memory ({path} was)" for path in foreign)]
