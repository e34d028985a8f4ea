"""Which environment variables an agent gets: little of the user's, the isolated ones, those of its config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from harness.errors import InputError
from harness.models import Config

INSTRUCTIONS_LOG_VARIABLE = "HARNESS_INSTRUCTIONS_LOG"
"""Names the file where the CLI's hook notes the memory files it loads."""

PASSED_VARIABLES: dict[str, tuple[str, ...]] = {
    "where tools are": ("PATH", "HOME", "SHELL", "USER", "LOGNAME", "TERM"),
    "language and time": ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"),
    "the way out": (
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    ),
    "who pays": (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        *("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
        *("CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION", "AWS_PROFILE"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
        *("CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION"),
        "GOOGLE_APPLICATION_CREDENTIALS",
    ),
    # Claude Code refuses to skip permissions as root unless the user says that this is a sandbox.
    "root": ("IS_SANDBOX",),
}
"""The only variables of the user that reach the agent, by their reason."""

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

HOST_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}\Z")


def agent_environment(config: Config, isolated: Mapping[str, str]) -> dict[str, str]:
    """Variables of the CLI's process: the config's own win over the isolated ones, those over the user's.

    InputError when the config refers to a variable that this host does not have.
    """
    passed = {n: os.environ[n] for names in PASSED_VARIABLES.values() for n in names if n in os.environ}
    return {**passed, **CLI_VARIABLES, **isolated, **resolve_env(config)}


def resolve_env(config: Config) -> dict[str, str]:
    """The config's env, with values of the form ${NAME} taken from this host; InputError if it is not set."""
    values = {}
    for name, value in config.env.items():
        reference = HOST_VARIABLE.match(value)
        if reference and reference.group(1) not in os.environ:
            raise InputError(f"config {config.name}: env.{name}: {value} is not set on this host; export it")
        values[name] = os.environ[reference.group(1)] if reference else value
    return values


def tool_environment() -> dict[str, str]:
    """Variables for the graders' commands: where tools are, language, the way out, and no credentials."""
    groups = ("where tools are", "language and time", "the way out")
    return {n: os.environ[n] for group in groups for n in PASSED_VARIABLES[group] if n in os.environ}
