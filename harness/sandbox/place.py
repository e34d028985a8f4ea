"""A place to run commands, and the variables that they get. Here it is this machine; `docker_sandbox` has another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.models import Resources
from harness.sandbox.processes import Command, ProcessResult

DEFAULT_IMAGE = "harness-sandbox"
"""The image that the Dockerfile beside this file is for."""

TOOL_VARIABLES = (
    *("PATH", "HOME", "SHELL", "USER", "LOGNAME", "TERM"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
"""The user's variables that reach agents and checks. Agents also get the following ones, and IS_SANDBOX."""

PAYING_VARIABLES = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    *("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
    *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
)

CLOUDS: dict[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": (
        *("ANTHROPIC_BEDROCK_BASE_URL", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    ),
    "CLAUDE_CODE_USE_VERTEX": (*("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),),
}
"""The variables that also reach an agent, by the switch that makes Claude Code use that cloud."""

OFF = ("", "0", "false", "no", "off")


class SandboxError(Exception):
    """The sandbox itself refused, failed or stopped answering. The message is one line."""


class Sandbox:
    """A place to run commands in. This class runs them on this machine, with the user's own rights.

    Processes that a command starts end with the command, and commands end with the harness.
    """

    @property
    def identity(self) -> str:
        """Identifies the place, since results of different places must not be mixed; empty for this machine."""
        return ""

    def within(self, resources: Resources) -> Sandbox:
        """Return this place with a task's limits on resources. This class has no limits."""
        return self

    def prepare(self, program: str) -> None:
        """Get ready to run the program, before anything costs money; InputError says what is missing.

        This class checks nothing: a missing program shows in the outcome of its run.
        """

    def agent_variables(self) -> dict[str, str]:
        """Return the variables that an agent gets from the user's environment."""
        clouds = [names for switch, names in CLOUDS.items() if os.environ.get(switch, "").lower() not in OFF]
        # Claude Code refuses to skip permissions as root unless the user says that this is a sandbox.
        return _known(TOOL_VARIABLES, PAYING_VARIABLES, ("IS_SANDBOX",), *clouds)

    def tool_variables(self) -> dict[str, str]:
        """Return the variables that a check's command gets from the user's environment: no credentials.

        In this class, the harness's own `python` and `pytest` are last on PATH, in case there are no others.
        """
        variables = _known(TOOL_VARIABLES)
        path = os.pathsep.join([variables.get("PATH", os.defpath), str(Path(sys.executable).parent)])
        return {**variables, "PATH": path}

    def run(self, command: Command) -> ProcessResult:
        """Run a command to its end or a limit. OSError if it cannot be started, SandboxError if the sandbox failed."""
        return command.run()


def _known(*groups: tuple[str, ...]) -> dict[str, str]:
    return {name: os.environ[name] for group in groups for name in group if name in os.environ}
