"""Did the agent really start with what it was given: skills, memory files, subagents, MCP servers, tools?"""

from __future__ import annotations

import json
from pathlib import Path

from harness.agents.claude.layout import AGENTS_MD_RULE, ambient_memory
from harness.agents.claude.messages import Init
from harness.agents.claude.user_files import UserFiles
from harness.models.tools import canonical
from harness.suite.resolved import ResolvedConfig
from locobench.shared.files import read_below

MOST_LOG_BYTES = 4_000_000
"""Limit of the log of memory files. The CLI writes one line per file, but an agent can write to it too."""

AGENTS_MD_PLUGIN = "cc-plugin-agents-md"
"""The CLI's built-in plugin that reads AGENTS.md if there is no CLAUDE.md."""


class Expected:
    """What a run must start with."""

    def __init__(self, config: ResolvedConfig, user: UserFiles, project: Path) -> None:
        """Take together what the config and the user's files provide to a run in `project`."""
        self.servers = {**user.servers, **config.servers}
        self._skills = [*user.skills, *config.skills]
        self._agents = [*user.agents, *([config.subagent] if config.subagent else [])]
        rules = [rule for rule in config.allowed_rules or [] if "*" not in rule.name]
        self._tools = [rule.name for rule in rules if not rule.is_mcp or rule.is_partial]
        has_agents_md = config.agents_md is not None and config.subagent is None
        by_rule = has_agents_md and (project / AGENTS_MD_RULE).is_file()
        self._by_plugin = has_agents_md and not by_rule and not config.claude_md
        self._memory = [
            *([user.memory] if user.memory else []),
            *([project / "CLAUDE.md"] if (config.claude_md or "").strip() else []),
            *([project / "AGENTS.md"] if by_rule else []),
        ]
        self._memory_is_told = not user.hooks_disabled

    def missing_in(self, init: Init) -> list[str]:
        """Return what is missing from the CLI's init line, one phrase each."""
        offered = init.offered
        # A skill without a description is only listed as a command, though the model has it.
        skills = {*(offered.skills or []), *init.slash_commands}
        status = offered.servers or {}
        tools = None if offered.tools is None else {canonical(name) for name in offered.tools}
        plugins = [plugin.get("name") for plugin in init.plugins]
        return [
            *(f"skill {skill.path.name}" for skill in self._skills if skill.listed and not skills & skill.names),
            *(f"MCP server {s} ({status.get(s) or 'unknown'})" for s in self.servers if status.get(s) != "connected"),
            *(f"agent {name}" for name in self._agents if name not in (offered.agents or [])),
            *(f"tool {name}" for name in self._tools if tools is not None and canonical(name) not in tools),
            *(["AGENTS.md"] if self._by_plugin and AGENTS_MD_PLUGIN not in plugins else []),
        ]

    def missing_memory(self, log: Path) -> list[str]:
        """Compare the CLI's log of loaded memory files: return expected files it lacks, and files from outside the run.

        The log lies in the run's root. OSError if the agent replaced it with something unreadable.
        """
        if not self._memory_is_told:
            return []
        try:
            loaded = read_below(log.parent, log.name, MOST_LOG_BYTES).decode(errors="replace")
        except FileNotFoundError:
            loaded = ""
        missing = [path.name for path in self._memory if json.dumps(str(path)) not in loaded]
        foreign = [path for path in ambient_memory(log.parent) if json.dumps(str(path)) in loaded]
        return [*missing, *(f"nothing but its own memory ({path} was)" for path in foreign)]
