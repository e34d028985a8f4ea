"""Removes the containers of a harness that has ended, however it ended. A separate program.

`python -P reaper.py LABEL` waits until its standard input is closed, a pipe that only the harness holds; if the harness
is killed, the kernel closes it. Then it removes every container with the label, including those that the engine was
still creating.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time

import docker
from docker.errors import DockerException

QUIET_ROUNDS = 4
"""How many rounds in a row must find no container before none is expected any more."""
LONGEST = 60.0
"""Seconds after which it gives up, for example if the engine does not answer."""


def reap(label: str) -> None:
    """Wait for the harness to end, and remove its containers."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    until = time.monotonic() + LONGEST
    quiet = 0
    while quiet < QUIET_ROUNDS and time.monotonic() < until:
        found = False
        with contextlib.suppress(DockerException, OSError):
            client = docker.from_env()
            for container in client.containers.list(all=True, filters={"label": label}, ignore_removed=True):
                found = True
                with contextlib.suppress(DockerException):
                    container.remove(force=True, v=True)
        quiet = 0 if found else quiet + 1
        time.sleep(0.2)


if __name__ == "__main__":
    reap(sys.argv[1])
