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
from harness.suite.resolve import ResolvedConfig, agent_name
from harness.suite.skills import Skill, skills_in
from locobench.shared.files import read_below

MOST_LOG_BYTES = 4_000_000
"""Limit of the log of memory files. The CLI writes one line per file, but an agent can write to it too."""

CONFIG_FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"


def with_config_folder(variables: Mapping[str, str]) -> dict[str, str]:
    """Add CLAUDE_CONFIG_DIR to a run's variables if they only have CLAUDE_HOME, which the CLI does not read."""
    named = {CONFIG_FOLDER_VARIABLE: variables["CLAUDE_HOME"]} if "CLAUDE_HOME" in variables else {}
    return {**named, **variables}


class ExpectedStart:
    """What a run must start with: what its config and its user's configuration folder provide."""

    def __init__(self, config: ResolvedConfig, variables: Mapping[str, str], project: Path) -> None:
        """Collect it for a run in `project`, whose variables may name the folder.

        InputError if the folder's settings.json or .claude.json cannot be read.
        """
        self.servers: dict[str, Any] = {}
        """MCP servers by name; the config's own override the user's."""
        self.has_user_files = False
        """Whether the CLI has to load files of the user."""
        self._skills: list[Skill] = []
        self._agents: list[str] = []
        self._memory: list[Path] = []
        self._memory_is_told = True
        named = variables.get(CONFIG_FOLDER_VARIABLE)
        if named and Path(named).is_dir() and any(Path(named).iterdir()):
            self._add_user_files(Path(named).absolute())
        self.servers |= config.servers
        self._skills += config.skills
        self._agents += [config.subagent] if config.subagent else []
        rules = [rule for rule in config.allowed_rules or [] if "*" not in rule.name]
        self._tools = [rule.name for rule in rules if not rule.is_mcp or rule.is_partial]
        self._memory += [project / "CLAUDE.md"] if (config.claude_md or "").strip() else []
        self._memory += [project / "AGENTS.md"] if config.agents_md is not None and config.subagent is None else []

    def _add_user_files(self, folder: Path) -> None:
        self.has_user_files = True
        memory = folder / "CLAUDE.md"
        if memory.is_file() and memory.read_text(encoding="utf-8", errors="replace").strip():
            self._memory.append(memory)
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("agents/**/*.md"))]
        # The CLI ignores subagents without a description.
        self._agents += [name for text in texts if (name := agent_name(text)) and "\ndescription:" in text]
        settings = read_object(folder / "settings.json")
        changed = settings.get("skillOverrides")
        turned_off = {name for name, state in changed.items() if state == "off"} if isinstance(changed, dict) else set()
        self._skills += [skill for skill in skills_in(folder / "skills") if not skill.names & turned_off]
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
            *(f"agent {name}" for name in self._agents if name not in (offered.agents or [])),
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
