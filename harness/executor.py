"""The base class of agents, and the one for Claude Code. The other agents are in `harness.agents`."""

from __future__ import annotations

from harness.agents.base import Executor as Executor
from harness.agents.claude.executor import ClaudeExecutor as ClaudeExecutor
