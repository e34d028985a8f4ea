"""What does a config really give to the agent? Everything that it names on this host, looked up once."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from harness.errors import InputError, IsolationError
from harness.models import Config
from harness.suite import fingerprint
from harness.suite.skills import Skill, find_skills

HOST_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}\Z")
"""A value of `env` that is taken from this host."""

FRONT_MATTER_NAME = re.compile(r"\A---\n(?:.*\n)*?name:[ \t]*([A-Za-z0-9_-]+)[ \t]*\n(?:.*\n)*?---(?:\n|\Z)")


class ResolvedConfig(Config):
    """A config whose files are read and whose variables are looked up; made by `resolve`.

    `mcp_config` is content and no path, `env` has no ${NAME} left.
    """

    skills: tuple[Skill, ...]
    skills_digest: str | None
    """Hash over all files below `skills_path`."""
    env_as_written: dict[str, str]
    """`env` as the file has it: two hosts with other tokens run the same experiment."""

    @property
    def servers(self) -> dict[str, Any]:
        """MCP servers by name."""
        return dict(self.mcp_config["mcpServers"]) if isinstance(self.mcp_config, dict) else {}

    @property
    def subagent(self) -> str | None:
        """Name of the subagent that `agents_md` defines; None without one, or when it is an AGENTS.md."""
        return agent_name(self.agents_md) if self.agents_md is not None else None

    @property
    def fingerprint(self) -> str:
        """Hash over everything the agent is given, the model included."""
        given = self.model_dump(mode="json", include=GIVEN)
        return fingerprint.of_data(
            {**given, "env": self.env_as_written, "skills_path": self.skills_digest, "mcp_servers": self.servers}
        )


GIVEN = set(Config.model_fields) - {"description", "skills_path", "mcp_config", "env"}
"""Fields of a config that reach the agent as they are written."""


def resolve(config: Config) -> ResolvedConfig:
    """The config with all it names on this host looked up; a resolved one comes back as it is.

    Resolve a config once before its runs, and everything in them sees the same servers, skills and variables.
    Of a resolved config only the model may be replaced.

    Raises:
        InputError: skills without SKILL.md, an MCP file that is none, a variable of `env` that is not set.
    """
    if isinstance(config, ResolvedConfig):
        return config
    skills_path = config.skills_path.expanduser() if config.skills_path is not None else None
    try:
        skills = find_skills(skills_path) if skills_path is not None else ()
    except IsolationError as error:
        raise InputError(f"config {config.name}: {error}") from error
    fields = {name: getattr(config, name) for name in Config.model_fields}
    looked_up = {
        "env": _env(config),
        "mcp_config": _mcp_config(config),
        "skills": skills,
        "skills_digest": fingerprint.of_folder(skills_path),
        "env_as_written": config.env,
    }
    return ResolvedConfig(**{**fields, **looked_up})


def agent_name(agents_md: str) -> str | None:
    """Name of the subagent that agents_md defines by its front matter; None when it is an AGENTS.md."""
    match = FRONT_MATTER_NAME.match(agents_md)
    return match.group(1) if match else None


def _env(config: Config) -> dict[str, str]:
    values = {}
    for name, value in config.env.items():
        reference = HOST_VARIABLE.match(value)
        if reference and reference.group(1) not in os.environ:
            raise InputError(f"config {config.name}: env.{name}: {value} is not set on this host; export it")
        values[name] = os.environ[reference.group(1)] if reference else value
    return values


def _mcp_config(config: Config) -> dict[str, Any] | None:
    source = config.mcp_config
    if source is None:
        return None
    where = str(source) if isinstance(source, Path) else f"config {config.name}"
    if isinstance(source, Path):
        try:
            source = json.loads(source.expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{where}: mcp_config cannot be read as JSON ({error})") from error
    if not isinstance(source, dict) or not isinstance(source.get("mcpServers"), dict):
        raise InputError(f'{where}: mcp_config needs the key "mcpServers" with one object per server')
    return source
