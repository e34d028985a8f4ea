"""MCP servers in Harbor's form, read from a file in the format of Claude Code's .mcp.json."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from locobench.shared.errors import InputError
from locobench.shared.validation import first_problem

CREDENTIAL = re.compile("auth|cookie|credential|key|passw|secret|token", re.IGNORECASE)
"""Name of a header that holds a credential."""
FROM_VARIABLE = re.compile(r"\s*(?:[A-Za-z]+\s+)?\$\{\w+\}(?:[\s:-]*\$\{\w+\})*\s*")
"""The values that Harbor accepts for such a header: a scheme and variables."""
HTTP = dict.fromkeys(("http", "streamableHttp", "streamable_http"), "streamable-http")
"""Other names of the transport; `http` is Claude Code's."""


class McpServer(BaseModel):
    """A tool server that Harbor gives to the agent, with the keys of task.toml and of a job's YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    transport: Literal["stdio", "sse", "streamable-http"] = "stdio"
    command: str | None = None
    args: tuple[str, ...] = ()
    url: str | None = None
    headers: dict[str, str] | None = None
    """HTTP headers, from Harbor 0.26 on. A credential is written as ${VAR}, which Harbor fills in when it runs."""

    @model_validator(mode="after")
    def _can_be_reached(self) -> McpServer:
        if self.headers and self.transport == "stdio":
            raise ValueError(f"{self.name}: a stdio server has no headers")
        for name, value in (self.headers or {}).items():
            if CREDENTIAL.search(name) and not FROM_VARIABLE.fullmatch(value):
                raise ValueError(
                    f"{self.name}: the header {name} holds a credential, which Harbor takes from a variable alone, "
                    "as in 'Bearer ${TOKEN}'"
                )
        needed = "command" if self.transport == "stdio" else "url"
        if getattr(self, needed) is None:
            raise ValueError(f"{self.name}: a {self.transport} server needs a {needed}")
        return self

    @classmethod
    def load(cls, path: Path) -> tuple[McpServer, ...]:
        """Read the servers from a file in the format of Claude Code's .mcp.json, sorted by name.

        Raises:
            InputError: it cannot be read, or a server has a setting that Harbor does not pass on, such as env.
        """
        try:
            servers = _McpFile.model_validate_json(path.read_bytes()).mcpServers
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}; name a .mcp.json") from None
        except ValidationError as error:
            raise InputError(f"{path}: not a .mcp.json ({first_problem(error)})") from None
        found = []
        for name, settings in sorted(servers.items()):
            default = "stdio" if "command" in settings else "http"
            kinds = [kind for key in ("type", "transport") if (kind := settings.pop(key, None)) is not None]
            kind = kinds[0] if kinds else default
            try:
                found.append(cls.model_validate({"name": name, "transport": HTTP.get(str(kind), kind), **settings}))
            except ValidationError as error:
                known = "Harbor passes on command and args, or url and headers"
                raise InputError(f"{path}: {first_problem(error)}; {known}") from None
        return tuple(found)


class _McpFile(BaseModel):
    mcpServers: dict[str, dict[str, Any]]
