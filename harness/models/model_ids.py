"""The default models of agents and judges."""

from __future__ import annotations

DEFAULT_AGENT_MODEL = "claude-sonnet-5-5"
DEFAULT_JUDGE_MODEL = "claude-haiku-5-5"
