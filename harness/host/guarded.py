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

from harness.host import guardian

LONGEST_END = 10.0
"""Seconds that a guardian gets to end everything. Processes that cannot be killed, as in a kernel call, are left."""


class Guarded:
    """A running command with pipes to its standard streams."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        """Start the command; OSError if it cannot be started."""
        self.returncode: int | None = None
        """Exit code once it has ended, or minus the signal that ended it; None before."""
        self._said = b""
        self._owner, theirs = socket.socketpair()
        try:
            with theirs:
                own = [sys.executable, "-I", "-S", guardian.__file__, str(theirs.fileno())]
                command = [part.encode("utf-8", "surrogateescape") for part in (*own, *argv)]
                self._guardian = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=env,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    pass_fds=(theirs.fileno(),),
                )
        except BaseException:
            self._owner.close()
            raise
        assert self._guardian.stdin and self._guardian.stdout and self._guardian.stderr
        self.stdin, self.stdout, self.stderr = self._guardian.stdin, self._guardian.stdout, self._guardian.stderr
        try:
            self._await_start(argv[0])
        except BaseException:
            for pipe in (self.stdin, self.stdout, self.stderr):
                pipe.close()
            self.end()
            raise

    def _await_start(self, name: str) -> None:
        while b"\n" not in self._said:
            chunk = self._owner.recv(64)
            self._said += chunk or b"S\nX%d\n" % -signal.SIGKILL  # it killed its guardian before that could report
        first, _, self._said = self._said.partition(b"\n")
        if first.startswith(b"E"):
            number = int(first[1:])
            raise OSError(number, os.strerror(number), name)
        self._owner.setblocking(False)

    def poll(self) -> int | None:
        """Return the exit code if the command has ended, else None."""
        while self.returncode is None:
            line, whole, _ = self._said.partition(b"\n")
            if whole:
                self.returncode = int(line[1:])
                break
            try:
                chunk = self._owner.recv(64)
            except BlockingIOError:
                return None
            except OSError:
                chunk = b""
            self._said += chunk or b"X%d\n" % -signal.SIGKILL  # the command killed its guardian, and thereby itself
        return self.returncode

    def wait(self, seconds: float) -> int | None:
        """Wait up to `seconds` for the command to end; return its exit code, or None."""
        if self.poll() is None:
            select.select([self._owner], [], [], seconds)
        return self.poll()

    def end(self, grace: float = 0.0) -> None:
        """Kill the command and everything it started; with a grace period, the command gets SIGTERM first."""
        try:
            if grace > 0 and self.poll() is None:
                with contextlib.suppress(OSError):
                    self._owner.send(b"T")
                self.wait(grace)
        finally:
            self._owner.close()
            try:
                self._guardian.wait(LONGEST_END)
            except subprocess.TimeoutExpired:
                self._guardian.kill()
                self._guardian.wait()
