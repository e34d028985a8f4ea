"""Which environment variables the CLI's process gets: few of the user's, the isolated ones, those of the config."""

from __future__ import annotations

from collections.abc import Mapping

from harness.suite.resolved import ResolvedConfig

INSTRUCTIONS_LOG_VARIABLE = "HARNESS_INSTRUCTIONS_LOG"
"""Names the file where the CLI's hook notes the memory files it loads."""

CLI_VARIABLES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    # The harness retries whole runs; ten growing delays inside one run would eat the task's time.
    "CLAUDE_CODE_MAX_RETRIES": "3",
    # Otherwise the first model call may happen before the MCP tools exist.
    "MCP_CONNECTION_NONBLOCKING": "false",
    "MCP_TIMEOUT": "30000",
}


def agent_environment(config: ResolvedConfig, isolated: Mapping[str, str], users: Mapping[str, str]) -> dict[str, str]:
    """Variables of the CLI's process: the config's own win over the isolated ones, those over the user's."""
    return {**users, **CLI_VARIABLES, **isolated, **config.env}
