"""Codex's home, memory file, skills and settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from harness.suite.resolve import ResolvedConfig
from harness.suite.skills import Skill, copy_skills

HOME_VARIABLE = "CODEX_HOME"
SERVER_FIELDS = ("command", "args", "env", "url", "http_headers")
"""What Codex takes of an MCP server; .mcp.json calls the last one `headers`."""


def lay_out(
    project: Path, home: Path, claude_md: str | None, agents_md: str | None, skills: Sequence[Skill]
) -> dict[str, str]:
    """Write AGENTS.md and the skills, and make the home. `claude_md` is Claude Code's; the executor refuses it."""
    if agents_md is not None:
        (project / "AGENTS.md").write_text(agents_md, encoding="utf-8")
    copy_skills(skills, project / ".agents/skills")
    folder = home / ".codex"
    folder.mkdir()
    return {HOME_VARIABLE: str(folder)}


def settings(config: ResolvedConfig, base_url: str | None) -> str:
    """Return config.toml: the model, the servers, no telemetry, and an address of the service other than OpenAI's.

    Every server is required: Codex refuses to start without it, so no run lacks a server unnoticed.
    """
    servers = {}
    for name, server in config.servers.items():
        renamed = {"http_headers" if key == "headers" else key: value for key, value in server.items()}
        servers[name] = {key: renamed[key] for key in SERVER_FIELDS if key in renamed} | {"required": True}
    content: dict[str, Any] = {
        "model": config.model,
        "analytics": {"enabled": False},
        "check_for_update_on_startup": False,
        "mcp_servers": servers,
    }
    if config.effort is not None:
        content["model_reasoning_effort"] = config.effort
    if base_url:
        provider = {"name": "service", "base_url": base_url, "wire_api": "responses", "env_key": "CODEX_API_KEY"}
        content |= {"model_provider": "service", "model_providers": {"service": provider}}
    return tomli_w.dumps(content)
