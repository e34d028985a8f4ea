"""Resolved configs: everything that a config names on this host, looked up once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.models import ClaudeConfigSnapshot, Config
from harness.models.tools import mcp_name
from harness.suite import fingerprint
from harness.suite.skills import Skill, digest, find_skills
from locobench.shared.errors import InputError
from locobench.shared.terminal import did_you_mean
from locobench.shared.validation import first_problem
from measure.secrets.redaction import REDACTED

HOST_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}\Z")
"""A value of `env` that is taken from this host."""

FRONT_MATTER_NAME = re.compile(r"\A---\n(?:.*\n)*?name:[ \t]*([A-Za-z0-9_-]+)[ \t]*\n(?:.*\n)*?---(?:\n|\Z)")


class ResolvedConfig(Config):
    """A config whose files are read and whose variables are looked up; made by `resolve`.

    `mcp_config` is content rather than a path, and `env` has no ${NAME} left.
    """

    skills: tuple[Skill, ...]
    skills_digest: str
    """Hash over all files of the skills."""
    env_as_written: dict[str, str]
    """`env` as the file has it, so that two hosts with different tokens run the same experiment."""
    user_configuration: ClaudeConfigSnapshot | None
    """The content of `snapshot`."""
    shared_servers: dict[str, Any] = Field(default={})
    """MCP servers of every run, whatever its config."""

    @property
    def servers(self) -> dict[str, Any]:
        """MCP servers by name, except those of the snapshot; the config's own override the shared ones."""
        own = self.mcp_config["mcpServers"] if isinstance(self.mcp_config, dict) else {}
        return {**self.shared_servers, **own}

    @property
    def subagent(self) -> str | None:
        """Name of the subagent that `agents_md` defines; None if it is missing or defines none."""
        return agent_name(self.agents_md) if self.agents_md is not None else None

    @property
    def fingerprint(self) -> str:
        """Hash over everything the agent is given, the model included."""
        given = self.model_dump(mode="json", include=AGENT_FIELDS)
        looked_up = {"env": self.env_as_written, "skills_path": self.skills_digest, "mcp_servers": self.servers}
        snapshot = self.user_configuration
        content = None if snapshot is None else snapshot.model_dump(mode="json", exclude=SNAPSHOT_NOTES)
        return fingerprint.of_data({**given, **looked_up, "snapshot": content})

    def refuse_unknown_servers(self, servers: Mapping[str, Any] | None = None) -> None:
        """Raise InputError if a list of tools names a server that the agent will not have.

        `servers` are those that it will; by default, the config's own, the shared and the snapshot's.
        """
        snapshot = self.user_configuration
        known = self.servers | (snapshot.mcp_servers if snapshot else {}) if servers is None else servers
        hint = "there is none: name it in mcp_config or by --mcp-config"
        for field, rules in (("allowed_tools", self.allowed_rules), ("disallowed_tools", self.disallowed_rules)):
            for rule in rules or []:
                if rule.is_mcp and not rule.is_for_one_of(known):
                    what = did_you_mean(rule.name, map(mcp_name, known)) if known else hint
                    raise InputError(f"config {self.name}: {field}: {rule.text} matches no MCP server; {what}")


OTHER_FIELDS = {"description", "skills_path", "mcp_config", "env", "snapshot", "token_prices"}
AGENT_FIELDS = set(Config.model_fields) - OTHER_FIELDS
"""Fields of a config that reach the agent as they are written."""

SNAPSHOT_NOTES = {"schema_version", "claude_version", "snapshot_timestamp", "source_machine", "redacted", "left_out"}
"""Fields of a snapshot that do not reach the agent."""


def resolve(config: Config) -> ResolvedConfig:
    """Look up everything that a config names on this host; a resolved config is returned as it is.

    Resolve a config once before its runs, so that all of them see the same servers, skills and variables. Only the
    model of a resolved config may be replaced. InputError if the folder of skills is missing, the MCP file or snapshot
    is invalid, or a variable of `env` is not set.
    """
    if isinstance(config, ResolvedConfig):
        return config
    try:
        skills = find_skills(config.skills_path) if config.skills_path is not None else ()
    except InputError as error:
        raise InputError(f"config {config.name}: {error}") from error
    source = config.mcp_config
    servers = None
    if source is not None:
        servers = read_servers(source) if isinstance(source, Path) else _servers_of(source, f"config {config.name}")
    looked_up = {
        "env": _env(config),
        "env_as_written": config.env,
        "mcp_config": None if servers is None else {"mcpServers": servers},
        "user_configuration": _snapshot(config),
        "skills": skills,
        "skills_digest": digest(skills),
    }
    return ResolvedConfig(**{**dict(config), **looked_up})


def agent_name(agents_md: str) -> str | None:
    """Return the name of the subagent that the front matter of `agents_md` defines; None if it defines none."""
    match = FRONT_MATTER_NAME.match(agents_md)
    return match.group(1) if match else None


def _env(config: Config) -> dict[str, str]:
    values = dict(config.env)
    for name, value in config.env.items():
        if reference := HOST_VARIABLE.match(value):
            if reference[1] not in os.environ:
                raise InputError(f"config {config.name}: env.{name}: {value} is not set on this host; export it")
            values[name] = os.environ[reference[1]]
    return values


def read_servers(path: Path) -> dict[str, Any]:
    """Read the MCP servers of a file, by name; InputError if the file cannot be read or does not have that form."""
    try:
        source = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: mcp_config cannot be read as JSON ({error})") from error
    return _servers_of(source, str(path))


def _servers_of(source: object, where: str) -> dict[str, Any]:
    servers = source.get("mcpServers") if isinstance(source, dict) else None
    if not isinstance(servers, dict) or not all(isinstance(name, str) and name for name in servers):
        raise InputError(f'{where}: mcp_config needs the key "mcpServers" with one named object per server')
    return dict(servers)


def _snapshot(config: Config) -> ClaudeConfigSnapshot | None:
    if config.snapshot is None:
        return None
    snapshot = load_snapshot(config.snapshot)
    for name, server in snapshot.mcp_servers.items():
        if REDACTED in json.dumps(server, ensure_ascii=False):
            raise InputError(
                f"{config.snapshot}: MCP server {name} lacks a secret that the export removed; put ${{NAME}} in its "
                "place, and set NAME in the env of a config file that names this snapshot"
            )
    return snapshot


def load_snapshot(path: Path) -> ClaudeConfigSnapshot:
    """Load a snapshot from its JSON file; InputError if the file is unreadable, no snapshot, or of a newer version."""
    try:
        return ClaudeConfigSnapshot.model_validate_json(path.expanduser().read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        what = first_problem(error, "file")
        raise InputError(f"{path}: {what}; is this a file of export-config?") from error
