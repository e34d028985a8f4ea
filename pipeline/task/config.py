"""task.toml as a model: what Harbor's schema 1.4 takes, as far as a task here needs it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from common.mcp import McpServer

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
    content_fingerprint: str
    """Digest of all that the task is made from but its MCP servers: equal in tasks that differ in these alone."""


class Agent(BaseModel):
    timeout_sec: float = 1800.0


class Collect(BaseModel):
    """[[verifier.collect]]: a command that Harbor runs in the agent's container when the agent is done."""

    model_config = ConfigDict(frozen=True)

    command: str
    user: str = "root"


class Verifier(BaseModel):
    model_config = ConfigDict(frozen=True)

    timeout_sec: float = 60.0
    user: str = "root"
    environment_mode: Literal["separate", "shared"] = "separate"
    collect: tuple[Collect, ...] = ()


class Environment(BaseModel):
    build_timeout_sec: float = 900.0
    cpus: int = 2
    memory_mb: int = 4096
    storage_mb: int = 10240
    mcp_servers: tuple[McpServer, ...] = ()


class TaskConfig(BaseModel):
    """task.toml, as Harbor's schema 1.4 has it."""

    schema_version: str = "1.4"
    artifacts: tuple[str, ...] = ("/app/solution.md",)
    task: TaskInfo
    metadata: Metadata
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    environment: Environment = Environment()
