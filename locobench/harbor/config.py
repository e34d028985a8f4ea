"""task.toml as a model: the part of Harbor's schema 1.4 that the tasks here use."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from locobench.harbor.mcp import McpServer
from locobench.shared.derived import Derived

# Harbor reads these from its user's environment; without the key it starts no trial.
JUDGE_ENV = {
    "JUDGE_API": "${JUDGE_API:-anthropic}",
    "JUDGE_MODEL": "${JUDGE_MODEL:-claude-haiku-5-5}",
    "JUDGE_BASE_URL": "${JUDGE_BASE_URL:-}",
    "JUDGE_API_KEY": "${JUDGE_API_KEY}",
}
# For a judge: the time that judge.py gives itself for lookups and questions, plus a margin.
TIMEOUT_SEC, JUDGE_TIMEOUT_SEC = 60.0, 660.0


class TaskInfo(BaseModel):
    """[task]: what a registry shows."""

    name: str
    description: str
    authors: tuple[dict[str, str], ...]
    keywords: tuple[str, ...]


class Metadata(BaseModel):
    """[metadata]: fields that people filter by; Harbor never reads them."""

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
    """How the verifier scores: `evidence`, `published` or `exact`."""
    content_fingerprint: str
    """Digest of everything the task is made from except its MCP servers: tasks that differ only in these share it."""
    verifier: str
    """What grades: `deterministic`, `exact`, `judge`, or the file name of a custom verifier."""
    oracle_check: bool
    """Whether the oracle must earn 1.0 and an empty answer 0.0 (with a judge: from the deterministic part)."""
    closed_book: bool
    """Whether the agent works without the code."""
    derived: Derived | None = None
    """Facts about a question with an exact answer; None for other tasks."""


class Agent(BaseModel):
    """[agent]: limits of the agent."""

    timeout_sec: float = 1800.0


class Collect(BaseModel):
    """[[verifier.collect]]: a command that Harbor runs in the agent's container after the agent."""

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
    """[environment]: the containers' resources and MCP servers."""

    build_timeout_sec: float = 900.0
    cpus: int = 2
    memory_mb: int = 4096
    storage_mb: int = 10240
    mcp_servers: tuple[McpServer, ...] = ()


class TaskConfig(BaseModel):
    """task.toml in Harbor's schema 1.4."""

    schema_version: str = "1.4"
    artifacts: tuple[str, ...] = ("/app/solution.md",)
    task: TaskInfo
    metadata: Metadata
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    environment: Environment = Environment()
