"""Removes the containers of a process that has ended, however it ended: `python -P reaper.py LABEL`.

Its standard input is a pipe that only that process holds: the kernel closes it with the process. Then it looks until it
has found none several times, since the engine may still be creating one.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time

import docker

LONGEST_SECONDS = 60


def remove_all(client: docker.DockerClient, label: str) -> bool:
    """Remove all containers with a label; return whether there were any."""
    found = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
    for container in found:
        with contextlib.suppress(docker.errors.APIError):  # somebody else is removing it
            container.remove(force=True, v=True)
    return bool(found)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    until, quiet = time.monotonic() + LONGEST_SECONDS, 0
    while quiet < 4 and time.monotonic() < until:
        with contextlib.suppress(Exception):  # the engine may be starting again
            quiet = 0 if remove_all(docker.from_env(), sys.argv[1]) else quiet + 1
        time.sleep(0.2)
