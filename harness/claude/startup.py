"""Whether the agent really started with what its config gives: skills, CLAUDE.md, subagents, MCP servers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from harness.claude.messages import Init
from harness.suite.resolved import ResolvedConfig

INSTRUCTIONS_HOOK_SINCE = (2, 1, 69)
"""First CLI version that tells which memory files it loads."""

AGENTS_MD_PLUGIN = "cc-plugin-agents-md"
"""The CLI's built-in plugin that reads AGENTS.md."""


def missing_at_start(config: ResolvedConfig, init: Init) -> list[str]:
    """What the config gives and the CLI's init line does not show, one phrase each."""
    loaded = set(init.offered.skills or [])
    missing = [f"skill {skill.path.name}" for skill in config.skills if not loaded & skill.names]
    status = init.offered.servers or {}
    for server in config.servers:
        if status.get(server) != "connected":
            missing.append(f"MCP server {server} ({status.get(server) or 'unknown'})")
    name = config.subagent
    if name is not None and name not in (init.offered.agents or []):
        missing.append(f"agent {name}")
    is_memory = config.agents_md is not None and name is None and not config.claude_md
    if is_memory and AGENTS_MD_PLUGIN not in init.plugin_names:
        missing.append("AGENTS.md")
    return missing


def missing_claude_md(config: ResolvedConfig, init: Init, log: Path, project: Path) -> list[str]:
    """["CLAUDE.md"] when the config gives one and the CLI's log of loaded memory files lacks it, else []."""
    if not (config.claude_md or "").strip():
        return []
    version = tuple(int(n) for n in re.findall(r"\d+", init.claude_code_version)[:3])
    if version < INSTRUCTIONS_HOOK_SINCE:
        return []
    loaded = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return [] if json.dumps(str(project / "CLAUDE.md")) in loaded else ["CLAUDE.md"]
