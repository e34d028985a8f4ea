"""A command run by a guardian: no process that it starts outlives it, and it does not outlive this process."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.sandbox import guardian

LONGEST_END = 10.0
"""Seconds that a guardian gets to end everything, itself included."""


class GuardedProcess:
    """A running command with pipes to its standard streams."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        """Start the command; OSError if it cannot be started."""
        self._owner, theirs = socket.socketpair()
        kept = "LC_CTYPE" if "LC_CTYPE" in env else ""
        own = [sys.executable, "-I", "-S", guardian.__file__, str(theirs.fileno()), kept]
        command = [part.encode("utf-8", "surrogateescape") for part in (*own, *argv)]
        pipe = subprocess.PIPE
        try:
            with theirs:
                self._guardian = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=env,
                    stdin=pipe,
                    stdout=pipe,
                    stderr=pipe,
                    start_new_session=True,
                    pass_fds=(theirs.fileno(),),
                )
        except BaseException:
            self._owner.close()
            raise
        stdin, stdout, stderr = self._guardian.stdin, self._guardian.stdout, self._guardian.stderr
        assert stdin and stdout and stderr
        self.pipes = (stdin, stdout, stderr)
        """Standard input, output and error."""
        try:
            number = ord(self._owner.recv(1) or b"\0")  # nothing: the command has killed its guardian
            if number:
                raise OSError(number, os.strerror(number), argv[0])
        except BaseException:
            self.end()
            for stream in self.pipes:
                stream.close()
            raise

    def fileno(self) -> int:
        """A descriptor that can be read once the command and all that it started have ended."""
        return self._owner.fileno()

    def returncode(self) -> int:
        """Wait for the command; return its exit code, or minus the signal that ended it."""
        code = b""
        with contextlib.suppress(OSError):
            code = self._owner.recv(16)
        return int(code or -signal.SIGKILL)  # nothing: the command has killed its guardian, and thereby itself

    def end(self, grace: float = 0.0) -> None:
        """Kill the command and everything it started; with a grace period in seconds, it gets SIGTERM first."""
        try:
            if grace > 0:
                with contextlib.suppress(OSError):
                    self._owner.send(b"T")
                waiting = select.poll()
                waiting.register(self._owner, select.POLLIN)
                waiting.poll(grace * 1000)
        finally:
            self._owner.close()
            try:
                self._guardian.wait(LONGEST_END)
            except subprocess.TimeoutExpired:
                self._guardian.kill()
                self._guardian.wait()
