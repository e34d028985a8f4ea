"""Whether the agent really started with what its config gives: skills, CLAUDE.md, subagents, MCP servers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.claude.environment import resolve_env
from harness.errors import InputError, IsolationError
from harness.isolator import agent_name, find_skills
from harness.models import Config

INSTRUCTIONS_HOOK_SINCE = (2, 1, 69)
"""First CLI version that tells which memory files it loads."""

AGENTS_MD_PLUGIN = "cc-plugin-agents-md"
"""The CLI's built-in plugin that reads AGENTS.md."""


def mcp_servers(config: Config) -> dict[str, Any]:
    """MCP servers of a config by name; InputError when the file is no MCP configuration."""
    source = config.mcp_config
    if source is None:
        return {}
    where = str(source) if isinstance(source, Path) else f"config {config.name}"
    if isinstance(source, Path):
        try:
            source = json.loads(source.expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{where}: mcp_config cannot be read as JSON ({error})") from error
    servers = source.get("mcpServers") if isinstance(source, dict) else None
    if not isinstance(servers, dict):
        raise InputError(f'{where}: mcp_config needs the key "mcpServers" with one object per server')
    return servers


def check(config: Config) -> None:
    """Raise InputError when the config asks for something that this host does not have.

    Skills without SKILL.md, an MCP file that is none, a variable of `env` that is not set.
    """
    resolve_env(config)
    mcp_servers(config)
    if config.skills_path is not None:
        try:
            find_skills(config.skills_path)
        except IsolationError as error:
            raise InputError(f"config {config.name}: {error}") from error


def missing_at_start(config: Config, init: Mapping[str, Any]) -> list[str]:
    """What the config gives and the CLI's init line does not show, one phrase each."""
    missing = []
    if config.skills_path is not None:
        loaded = set(map(str, init.get("skills") or []))
        for skill in find_skills(config.skills_path):
            if not loaded & {skill.name, _front_matter_name(skill / "SKILL.md")}:
                missing.append(f"skill {skill.name}")
    status = {str(s.get("name")): str(s.get("status")) for s in init.get("mcp_servers") or []}
    for server in mcp_servers(config):
        if status.get(server) != "connected":
            missing.append(f"MCP server {server} ({status.get(server, 'unknown')})")
    if config.agents_md is not None:
        name = agent_name(config.agents_md)
        if name is not None and name not in (init.get("agents") or []):
            missing.append(f"agent {name}")
        plugins = {str(plugin.get("name")) for plugin in init.get("plugins") or []}
        if name is None and not config.claude_md and AGENTS_MD_PLUGIN not in plugins:
            missing.append("AGENTS.md")
    return missing


def missing_claude_md(config: Config, init: Mapping[str, Any], log: Path, project: Path) -> list[str]:
    """["CLAUDE.md"] when the config gives one and the CLI's log of loaded memory files lacks it, else []."""
    if not (config.claude_md or "").strip():
        return []
    version = tuple(int(n) for n in re.findall(r"\d+", str(init.get("claude_code_version")))[:3])
    if version < INSTRUCTIONS_HOOK_SINCE:
        return []
    loaded = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return [] if json.dumps(str(project / "CLAUDE.md")) in loaded else ["CLAUDE.md"]


def _front_matter_name(skill_file: Path) -> str:
    match = re.search(r"^name:\s*(\S+)", skill_file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return match.group(1).strip("\"'") if match else ""
