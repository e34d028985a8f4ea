"""The environment variables that agents and graders get from this machine."""

from __future__ import annotations

import os

AGENT_VARIABLES: dict[str, tuple[str, ...]] = {
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
        *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
    ),
    # Claude Code refuses to skip permissions as root unless the user says that this is a sandbox.
    "root": ("IS_SANDBOX",),
}
"""The user's variables that reach an agent, by reason. Besides these, only those of CLOUDS do."""

CLOUDS: dict[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": (
        *("ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    ),
    "CLAUDE_CODE_USE_VERTEX": (*("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),),
}
"""The variables that also reach an agent, by the switch that makes Claude Code use that cloud."""

OFF = ("", "0", "false", "no", "off")


def agent_environment() -> dict[str, str]:
    """Return the variables of this process that an agent gets."""
    clouds = [names for switch, names in CLOUDS.items() if os.environ.get(switch, "").lower() not in OFF]
    cloud = {name: os.environ[name] for names in clouds for name in names if name in os.environ}
    return _of_groups(tuple(AGENT_VARIABLES)) | cloud


def tool_environment() -> dict[str, str]:
    """Return the variables for graders' commands: tool paths, language, network access, and no credentials."""
    return _of_groups(("where tools are", "language and time", "the way out"))


def _of_groups(groups: tuple[str, ...]) -> dict[str, str]:
    return {n: os.environ[n] for group in groups for n in AGENT_VARIABLES[group] if n in os.environ}
