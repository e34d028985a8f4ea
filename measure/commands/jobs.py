"""The Harbor jobs of an experiment: their names, their servers, and how their containers reach this machine."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from locobench.harbor.mcp import McpServer
from locobench.shared.errors import InputError

ARMS = ("no-search", "search")
"""The jobs without and with servers, named so that a sentence about the two reads."""
FILES = dict(zip(ARMS, ("without", "with"), strict=True))
"""Their files when there are two jobs; among several, a file has the name of its job."""
REMOTE_ARMS = ("clone", "remote")
"""The jobs with the code in the container, and with a server instead of it."""
HOST = "host.docker.internal"
"""The name of this machine inside a container, as Docker Desktop has it."""
OVERLAY = f"""\
# Lets containers reach this machine as {HOST}; `harbor run --extra-docker-compose` takes it, too.
services:
  main:
    # Docker's own bridge rather than a network for each trial, of which Docker makes about 30.
    network_mode: bridge
    extra_hosts:
      - "{HOST}:host-gateway"
"""


def servers_of_jobs(configs: Sequence[Path], *, remote: bool = False) -> dict[str, Sequence[McpServer]]:
    """Return the MCP servers of each job by its name: none for the first; `remote` if the others have no code."""
    if remote and len(configs) > 1:
        raise InputError("--remote: the tasks name the servers of one --mcp-config")
    without, with_one = REMOTE_ARMS if remote else ARMS
    names = [with_one] if len(configs) == 1 else [path.stem.removeprefix(".") for path in configs]
    if len({without, *names}) <= len(names):
        raise InputError(f"--mcp-config: each file names a job, so they need different names, not: {', '.join(names)}")
    jobs: dict[str, Sequence[McpServer]] = {without: ()}
    for name, path in zip(names, configs, strict=True):
        if not (servers := McpServer.load(path)):
            raise InputError(f"{path}: holds no server, so the job would be the one without")
        jobs[name] = servers
    return jobs


def run_here(servers: Iterable[McpServer]) -> bool:
    """Return whether a server is on this machine; InputError if its address would lead a container to itself."""
    hosts = {server.name: urlsplit(server.url or "").hostname for server in servers}
    for name, host in hosts.items():
        if host in ("localhost", "127.0.0.1", "::1"):
            raise InputError(
                f"--mcp-config: {name}: inside a container, {host} is the container itself; write {HOST}, and let the "
                "server listen on an address that containers reach"
            )
    return HOST in hosts.values()


def as_yaml(job: dict[str, Any]) -> str:
    """Return a job for `harbor run -c`; its paths are resolved against the folder that Harbor is started in."""
    text = io.StringIO()
    YAML().dump(job, text)
    return text.getvalue()
