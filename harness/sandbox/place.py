"""Places to run commands: this machine, under a guardian, or a container (`docker_sandbox`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.models import Resources
from harness.sandbox.processes import Command, ProcessResult
from harness.sandbox.variables import agent_environment, tool_environment

DEFAULT_IMAGE = "harness-sandbox"
"""The image that the Dockerfile beside this file is for."""


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
        return agent_environment()

    def tool_variables(self) -> dict[str, str]:
        """Return the variables that a check's command gets from the user's environment: no credentials.

        In this class, the harness's own `python` and `pytest` are last on PATH, in case there are no others.
        """
        variables = tool_environment()
        path = os.pathsep.join([variables.get("PATH", os.defpath), str(Path(sys.executable).parent)])
        return {**variables, "PATH": path}

    def run(self, command: Command) -> ProcessResult:
        """Run a command to its end or a limit. OSError if it cannot be started, SandboxError if the sandbox failed."""
        return command.run()
