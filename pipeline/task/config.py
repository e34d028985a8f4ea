"""task.toml as a model: what Harbor's schema 1.4 takes, as far as a task here needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from common.errors import InputError
from pipeline.dataset.records import explain

# Harbor takes these from the environment of whoever runs it; without the key no trial begins.
JUDGE_ENV = {
    "JUDGE_API": "${JUDGE_API:-anthropic}",
    "JUDGE_MODEL": "${JUDGE_MODEL:-claude-haiku-5-5}",
    "JUDGE_BASE_URL": "${JUDGE_BASE_URL:-}",
    "JUDGE_API_KEY": "${JUDGE_API_KEY}",
}
# A judge: what judge.py allows itself for looking up and asking, and some for the rest.
TIMEOUT_SEC, JUDGE_TIMEOUT_SEC = 60.0, 660.0

AUTHORS = ("Salesforce AI Research",)


class TaskInfo(BaseModel):
    """[task]: what a registry shows."""

    name: str
    description: str
    authors: tuple[dict[str, str], ...] = tuple({"name": name} for name in AUTHORS)
    keywords: tuple[str, ...]


class Metadata(BaseModel):
    """[metadata]: never read by Harbor; what people filter by."""

    id: str
    title: str
    category: str
    difficulty: str
    language: str
    project_id: str
    context_length: int
    context_length_unit: str = "characters"
    files_count: int
    context_files_found: int
    scoring: str
    """How the verifier scores: `evidence` or `published`."""
    verifier: str
    """What grades: `deterministic`, `judge`, or the name of a custom verifier's file."""
    oracle_check: bool
    """Whether the oracle must earn 1.0 and no answer 0.0 (by the deterministic part, beside a judge)."""
    closed_book: bool
    """Whether the agent has to do without the code."""


class Agent(BaseModel):
    """[agent]: limits of the agent."""

    timeout_sec: float = 1800.0


class Collect(BaseModel):
    """[[verifier.collect]]: a command that Harbor runs in the agent's container when the agent is done."""

    model_config = ConfigDict(frozen=True)

    command: str
    user: str = "root"


class Verifier(BaseModel):
    """[verifier]: where and how long the tests run."""

    model_config = ConfigDict(frozen=True)

    timeout_sec: float = TIMEOUT_SEC
    user: str = "root"
    environment_mode: Literal["separate", "shared"] = "separate"
    collect: tuple[Collect, ...] = ()
    env: dict[str, str] | None = None


class Environment(BaseModel):
    """[environment]: what the containers get."""

    build_timeout_sec: float = 900.0
    cpus: int = 2
    memory_mb: int = 4096
    storage_mb: int = 10240
    mcp_servers: tuple[McpServer, ...] = ()


class McpServer(BaseModel):
    """[[environment.mcp_servers]]: a tool server that Harbor gives to the agent."""

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
        """Read the servers of a file in the form of Claude Code's .mcp.json, sorted by name.

        Raises:
            InputError: it cannot be read, or a server has a setting that task.toml cannot carry (headers, env).
        """
        try:
            servers = json.loads(path.read_bytes())["mcpServers"]
            found = []
            for name, settings in sorted(servers.items()):
                kind = settings.pop("type", "stdio" if "command" in settings else "http")
                transport = {"http": "streamable-http"}.get(kind, kind)
                found.append(cls.model_validate({"name": name, "transport": transport, **settings}))
            return tuple(found)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}; --mcp_config wants a .mcp.json") from None
        except ValidationError as error:
            raise InputError(f"{path}: {explain(error)}; a task can carry command and args, or url") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: not a .mcp.json ({error!r})") from None


class TaskConfig(BaseModel):
    """task.toml, as Harbor's schema 1.4 has it."""

    schema_version: str = "1.4"
    artifacts: tuple[str, ...] = ("/app/solution.md",)
    task: TaskInfo
    metadata: Metadata
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    environment: Environment = Environment()
