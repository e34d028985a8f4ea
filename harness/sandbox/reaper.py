"""Removes the containers of a harness that has ended, however it ended; a program of its own.

`python -P reaper.py LABEL` waits until its standard input, a pipe that only the harness holds, is closed. The kernel
does so for a harness that was killed. Then every container with the label is removed, those included that the engine
was still about to create.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time

import docker
from docker.errors import DockerException

QUIET_ROUNDS = 4
"""Looks at the engine in a row that find nothing, before it is believed that nothing follows."""
LONGEST = 60.0
"""Seconds after which an engine that does not answer is left alone."""


def reap(label: str) -> None:
    """Wait for the harness's end and remove its containers."""
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
