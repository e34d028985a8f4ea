"""Agents: each gets a prompt and a folder to work in, and returns a trace of what it did."""

from __future__ import annotations

from harness.executor.base import Executor
from harness.executor.claude.executor import ClaudeExecutor

__all__ = ["ClaudeExecutor", "Executor"]
