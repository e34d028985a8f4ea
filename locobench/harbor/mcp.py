"""MCP servers in Harbor's form, read from a file in the format of Claude Code's .mcp.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from locobench.shared.errors import InputError
from locobench.shared.validation import explain, first_problem


class McpServer(BaseModel):
    """A tool server that Harbor gives to the agent, with the keys of task.toml and of a job's YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    transport: Literal["stdio", "sse", "streamable-http"] = "stdio"
    command: str | None = None
    args: tuple[str, ...] = ()
    url: str | None = None

    @model_validator(mode="after")
    def _can_be_reached(self) -> McpServer:
        needed = "command" if self.transport == "stdio" else "url"
        if getattr(self, needed) is None:
            raise ValueError(f"{self.name}: a {self.transport} server needs a {needed}")
        return self

    @classmethod
    def load(cls, path: Path) -> tuple[McpServer, ...]:
        """Read the servers from a file in the format of Claude Code's .mcp.json, sorted by name.

        Raises:
            InputError: it cannot be read, or a server has a setting that Harbor does not pass on (headers, env).
        """
        try:
            servers = _McpFile.model_validate_json(path.read_bytes()).mcpServers
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}; name a .mcp.json") from None
        except ValidationError as error:
            raise InputError(f"{path}: not a .mcp.json ({first_problem(error)})") from None
        found = []
        for name, settings in sorted(servers.items()):
            kind = settings.pop("type", "stdio" if "command" in settings else "http")
            transport = "streamable-http" if kind == "http" else kind
            try:
                found.append(cls.model_validate({"name": name, "transport": transport, **settings}))
            except ValidationError as error:
                raise InputError(f"{path}: {explain(error)}; Harbor passes on command and args, or url") from None
        return tuple(found)


class _McpFile(BaseModel):
    mcpServers: dict[str, dict[str, Any]]
