"""task.toml as a model: what Harbor's schema 1.4 takes, as far as a task here needs it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from locobench.harbor.mcp import McpServer
from locobench.shared.derived import Derived

# Harbor takes these from the environment of whoever runs it; without the key no trial begins.
JUDGE_ENV = {
    "JUDGE_API": "${JUDGE_API:-anthropic}",
    "JUDGE_MODEL": "${JUDGE_MODEL:-claude-haiku-5-5}",
    "JUDGE_BASE_URL": "${JUDGE_BASE_URL:-}",
    "JUDGE_API_KEY": "${JUDGE_API_KEY}",
}
# A judge: what judge.py allows itself for looking up and asking, and some for the rest.
TIMEOUT_SEC, JUDGE_TIMEOUT_SEC = 60.0, 660.0


class TaskInfo(BaseModel):
    """[task]: what a registry shows."""

    name: str
    description: str
    authors: tuple[dict[str, str], ...]
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
    verifier: str
    """What grades: `deterministic`, `judge`, or the name of a custom verifier's file."""
    oracle_check: bool
    """Whether the oracle must earn 1.0 and no answer 0.0 (by the deterministic part, beside a judge)."""
    closed_book: bool
    """Whether the agent has to do without the code."""
    derived: Derived | None = None
    """Of a question with an exact answer."""


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


class TaskConfig(BaseModel):
    """task.toml, as Harbor's schema 1.4 has it."""

    schema_version: str = "1.4"
    artifacts: tuple[str, ...] = ("/app/solution.md",)
    task: TaskInfo
    metadata: Metadata
    agent: Agent = Agent()
    verifier: Verifier = Verifier()
    environment: Environment = Environment()
