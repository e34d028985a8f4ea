"""Where a command runs: on this machine below a guardian, or in a container (`docker_sandbox`)."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.host.guarded import Guarded
from harness.host.processes import Finished, Limits, LineVerdict, Start, run_process
from harness.host.variables import passed_variables, tool_environment

DEFAULT_BASE_IMAGE = "debian:bookworm-slim"
"""What the image of the Docker sandbox starts from."""
NEWEST = "latest"
"""The version of the claude CLI in that image, unless another one is asked for."""


CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""Of root in a sandbox: what installing a package takes; neither devices nor mounts nor raw network."""


class SandboxError(Exception):
    """The sandbox itself refused, failed or stopped answering. The message is one line."""


@dataclass(frozen=True)
class Command:
    """A command and what it needs of the place that it runs in."""

    argv: Sequence[str]
    cwd: Path
    """Where it runs, and may write."""
    env: Mapping[str, str]
    limits: Limits
    stdin: bytes = b""
    on_line: Callable[[bytes], LineVerdict] | None = None
    cancelled: threading.Event | None = None
    writes: Sequence[Path] = ()
    """Folders besides `cwd` that it may write to."""
    reads: Sequence[Path] = ()
    """Files and folders that it needs to read."""

    def run(self, before: Sequence[str] = (), start: Start = Guarded) -> Finished:
        """Run it to its end or a limit, as `processes.run_process` does.

        Args:
            before: what is put before its arguments.
            start: how it is started.
        """
        return run_process(
            [*before, *self.argv],
            cwd=self.cwd,
            env=self.env,
            limits=self.limits,
            stdin=self.stdin,
            on_line=self.on_line,
            cancelled=self.cancelled,
            start=start,
        )


class Sandbox:
    """A place to run commands in; this one is the machine itself, as the user and with what that user sees.

    What commands start ends with them, and they end with the harness.
    """

    @property
    def identity(self) -> str:
        """What tells two places apart that results must not be mixed of; empty for this machine."""
        return ""

    def prepare(self, program: str) -> None:
        """Make ready to run the program, before anything is paid for; InputError says what is missing.

        Here, a program that is not there is an outcome of its run.
        """

    def agent_variables(self) -> dict[str, str]:
        """The variables that an agent gets from the user's environment."""
        return passed_variables()

    def tool_variables(self) -> dict[str, str]:
        """The variables that a check's command gets from it: no credentials.

        Here, `python` and `pytest` of the harness serve where there are no others.
        """
        variables = tool_environment()
        path = os.pathsep.join([variables.get("PATH", os.defpath), str(Path(sys.executable).parent)])
        return {**variables, "PATH": path}

    def run(self, command: Command) -> Finished:
        """Run a command to its end or a limit.

        Raises:
            OSError: it cannot be started.
            SandboxError: the sandbox failed.
        """
        return command.run()


def outermost(paths: Sequence[Path], within: Sequence[Path] = ()) -> list[Path]:
    """The paths that lie in no other one of them, nor in one of `within`."""
    found: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in [*within, *found]):
            found.append(path)
    return found
