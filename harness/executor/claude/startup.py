"""Check that the agent started with its skills, memory files, subagents, MCP servers and tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.executor.claude.layout import ambient_memory
from harness.executor.claude.messages import Init
from harness.models.tools import canonical
from harness.suite.load import read_object, servers_in
from harness.suite.resolve import ResolvedConfig
from locobench.shared.files import read_below

MOST_LOG_BYTES = 4_000_000
"""Limit of the log of memory files. The CLI writes one line per file, but an agent can write to it too."""

CONFIG_FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"


def with_config_folder(variables: Mapping[str, str]) -> dict[str, str]:
    """Add CLAUDE_CONFIG_DIR to a run's variables if they only have CLAUDE_HOME, which the CLI does not read."""
    named = {CONFIG_FOLDER_VARIABLE: variables["CLAUDE_HOME"]} if "CLAUDE_HOME" in variables else {}
    return {**named, **variables}


class ExpectedStart:
    """What a run must start with: what its config provides, and its user's configuration of memory and servers."""

    def __init__(self, config: ResolvedConfig, variables: Mapping[str, str], project: Path) -> None:
        """Collect it for a run in `project`, whose variables may name the folder.

        InputError if the folder's settings.json or .claude.json cannot be read.
        """
        self.servers: dict[str, Any] = {}
        """MCP servers by name; the config's own override the user's."""
        self.has_user_files = False
        """Whether the CLI has to load files of the user."""
        self._skills = config.skills
        self._agent = config.subagent
        self._memory: list[Path] = []
        self._memory_is_told = True
        named = variables.get(CONFIG_FOLDER_VARIABLE)
        if named and Path(named).is_dir() and any(Path(named).iterdir()):
            self._add_user_files(Path(named).absolute())
        self.servers |= config.servers
        rules = [rule for rule in config.allowed_rules or [] if "*" not in rule.name]
        self._tools = [rule.name for rule in rules if not rule.is_mcp or rule.is_partial]
        self._memory += [project / "CLAUDE.md"] if (config.claude_md or "").strip() else []
        self._memory += [project / "AGENTS.md"] if config.agents_md is not None and config.subagent is None else []

    def _add_user_files(self, folder: Path) -> None:
        self.has_user_files = True
        memory = folder / "CLAUDE.md"
        if memory.is_file() and memory.read_text(encoding="utf-8", errors="replace").strip():
            self._memory.append(memory)
        settings = read_object(folder / "settings.json")
        self._memory_is_told = settings.get("disableAllHooks") is not True  # one of them tells it
        state = folder / ".claude.json"
        self.servers |= servers_in(state, read_object(state))

    def startup_problem(self, init: Init) -> str:
        """Say what the CLI's init line shows was not loaded; empty if nothing is missing."""
        offered = init.offered
        # A skill without a description is only listed as a command, though the model has it.
        skills = {*(offered.skills or []), *init.slash_commands}
        status = offered.servers or {}
        tools = None if offered.tools is None else {canonical(name) for name in offered.tools}
        missing = [
            *(f"skill {skill.path.name}" for skill in self._skills if skill.listed and not skills & skill.names),
            *(f"MCP server {s} ({status.get(s) or 'unknown'})" for s in self.servers if status.get(s) != "connected"),
            *([f"agent {self._agent}"] if self._agent and self._agent not in (offered.agents or []) else []),
            *(f"tool {name}" for name in self._tools if tools is not None and canonical(name) not in tools),
        ]
        return f"not loaded: {', '.join(missing)}" if missing else ""

    def memory_problem(self, log: Path) -> str:
        """Say which memory files the CLI's log lacks, or else which it names from outside the run; empty if none.

        The log is in the run's root. OSError if the agent replaced it with something unreadable.
        """
        if not self._memory_is_told:
            return ""
        try:
            loaded = read_below(log.parent, log.name, MOST_LOG_BYTES).decode(errors="replace")
        except FileNotFoundError:
            loaded = ""
        if missing := [path.name for path in self._memory if json.dumps(str(path)) not in loaded]:
            return f"not loaded: {', '.join(missing)}"
        foreign = [str(path) for path in ambient_memory(log.parent) if json.dumps(str(path)) in loaded]
        return f"memory from outside the run was loaded: {', '.join(foreign)}" if foreign else ""
