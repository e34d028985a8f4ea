"""Runs Codex on a prompt, and returns the trace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from harness.executor.base import ProcessExecutor
from harness.executor.codex.events import Events, decide, items, tool_calls, usage
from harness.executor.codex.layout import HOME_VARIABLE, lay_out, settings
from harness.models import Config, ExecutionTrace, Offered
from harness.sandbox.processes import Limits
from harness.suite.resolve import ResolvedConfig
from locobench.shared.errors import InputError

KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
"""Variables of this machine that hold the key, the first that is set."""
# Whether the machine or a container is the boundary, it is not Codex that draws it.
ARGUMENTS = (
    "exec",
    "--json",
    "--ephemeral",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "-",
)


class CodexExecutor(ProcessExecutor):
    """Runs the Codex CLI, `codex exec`, with a home of its own for every run."""

    unsupported: ClassVar[Mapping[str, str]] = {
        "claude_md": "write the text as agents_md",
        "allowed_tools": "remove it",
        "disallowed_tools": "remove it",
        "max_turns": "limit the task's time instead",
        "max_budget_usd": "limit the task's time instead",
        "snapshot": "remove it",
    }

    agent = "codex"
    layout = staticmethod(lay_out)

    def __init__(self, program: str = "codex", mcp_config_path: Path | str | None = None, **options: Any) -> None:
        """For the arguments, see `ProcessExecutor`."""
        super().__init__(program, mcp_config_path, **options)

    def resolve(self, config: Config) -> ResolvedConfig:
        """Look up everything that the config names on this host; InputError for a subagent, which Codex lacks."""
        resolved = super().resolve(config)
        if resolved.subagent is not None:
            raise InputError(f"config {config.name}: codex has no subagents; write agents_md without front matter")
        return resolved

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path | str,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Run the CLI once, for up to `timeout` seconds. `env_override` must name CODEX_HOME: settings go there.

        The key and OPENAI_BASE_URL come from the config's env, else from this machine.
        """
        config, isolated = self.resolve(config), env_override or {}
        if HOME_VARIABLE not in isolated:
            raise InputError(f"{HOME_VARIABLE}: codex needs a home of its own for each run; pass it as env_override")
        known = {**os.environ, **config.env}
        key = next(({"CODEX_API_KEY": known[name]} for name in KEYS if known.get(name)), {})
        Path(isolated[HOME_VARIABLE], "config.toml").write_text(
            settings(config, known.get("OPENAI_BASE_URL")), encoding="utf-8"
        )
        transcript = Events()
        events = transcript.messages
        ended, _ = self._run(
            [self.program, *ARGUMENTS],
            prompt,
            config,
            working_dir,
            env={**self.sandbox.tool_variables(), **isolated, **config.env, **key},
            isolated=isolated,
            decide=lambda finished, stderr: decide(events, finished, stderr),
            limits=Limits(timeout, grace=self.grace_seconds),
            transcript=transcript,
        )
        texts = [str(item.get("text", "")) for item in items(events, "agent_message")]
        counted = usage(events)
        return ExecutionTrace(
            **ended,
            session_id=str(events[0].get("thread_id", "")) if events else "",
            result=texts[-1] if texts else "",
            usage=counted,
            tool_calls=tool_calls(events),
            num_turns=None,
            raw_output={"messages": events} if events else {},
            claude_response="\n\n".join(texts),
            offered=Offered(servers=dict.fromkeys(config.servers, "connected" if events else "")),
            cost_usd=config.token_prices.cost_usd(counted) if config.token_prices and counted else None,
        )
