"""The Docker engine of the user's context: finds it, builds images, creates containers, and leaves none behind."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import docker
from docker.errors import ImageNotFound
from docker.models.images import Image
from docker.types import LogConfig, Ulimit

from locobench.containers import reaper
from locobench.containers.container import Container, EngineError, Limits, engine_errors

LABEL = "locobench.process"
"""Label of every container; its value is drawn at random for each `Engine`."""
BUILT = "locobench-smoke-test"
"""Label of every image that is built here."""

ENGINE_SECONDS = 120
"""How long the engine may take to answer."""
GRACE_SECONDS = 5
"""Seconds after its time limit until a container ends by itself, if nobody is left to end it. Most take no second
longer, and what ignores SIGTERM 2 s."""


class Engine:
    """The Docker engine. Methods are thread-safe and raise EngineError."""

    def __init__(self) -> None:
        """Find the engine as the `docker` command does; EngineError says why none answers."""
        self._stopped = False
        self._label = f"{LABEL}={secrets.token_hex(8)}"
        with engine_errors("no Docker engine answers ({})"):
            self._client = docker.from_env(timeout=ENGINE_SECONDS)
            self.info: Mapping[str, Any] = self._client.info()
        root = Path(self.info.get("DockerRootDir") or "/nowhere")
        self._root = root if root.exists() else None
        devnull = subprocess.DEVNULL
        self._reaper = subprocess.Popen(
            [sys.executable, "-P", reaper.__file__, self._label],
            stdin=subprocess.PIPE,
            stdout=devnull,
            stderr=devnull,
            start_new_session=True,
            cwd="/",
        )

    @property
    def not_enforced(self) -> list[str]:
        """Limits that this engine cannot set on containers, by their names in `docker info`."""
        return [name for name in ("MemoryLimit", "SwapLimit", "PidsLimit") if self.info.get(name) is False]

    def image(self, name: str) -> Image | None:
        """Return an image that the engine has, or None."""
        with engine_errors(), contextlib.suppress(ImageNotFound):
            return self._client.images.get(name)
        return None

    def build(self, context: Path, tag: str, *, timeout: float) -> tuple[float, int]:
        """Build the Dockerfile in the folder `context`; return the seconds taken and the image's size in bytes.

        EngineError if the build fails or takes longer than `timeout` seconds.
        """
        # By the command, because the SDK has no BuildKit, whose layers Harbor reuses.
        command = ["docker", "build", f"--label={BUILT}", f"--tag={tag}", str(context)]
        started = time.monotonic()
        try:
            built = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout
            )
        except FileNotFoundError:
            raise EngineError("build: the docker command is not on PATH; install it") from None
        except subprocess.TimeoutExpired as error:
            tail = (error.output or b"").decode("utf-8", "replace")
            raise EngineError(f"build still ran after {timeout:g} s and was killed", tail) from None
        if built.returncode:
            raise EngineError(f"build failed (exit code {built.returncode})", built.stdout.decode("utf-8", "replace"))
        seconds = time.monotonic() - started
        with engine_errors():
            return seconds, int(self._client.images.get(tag).attrs["Size"])

    @contextlib.contextmanager
    def container(
        self, image: str, argv: Sequence[str], limits: Limits, *, writes: Sequence[Path] = (), **options: Any
    ) -> Iterator[Container]:
        """Create a container that runs a command, and remove it after the block; no image is pulled.

        `writes` are folders of this machine that count against its storage; `options` are the SDK's, such as mounts.
        """
        if self._stopped:
            raise EngineError("stopped")
        # `timeout` is the first process: it ends the container even if this process and its reaper are gone.
        ends = ["timeout", "-k", "2", str(int(limits.seconds) + GRACE_SECONDS)]
        with engine_errors():
            made = self._client.containers.create(
                image,
                entrypoint=[*ends, *argv],
                labels=dict([self._label.split("=")]),
                mem_limit=f"{limits.memory_mb}m",
                memswap_limit=f"{limits.memory_mb}m" if self.info.get("SwapLimit") else None,
                pids_limit=limits.processes,
                # This limits each file; Container._watch limits all of them together.
                ulimits=[Ulimit(name="fsize", soft=limits.storage_mb << 20, hard=limits.storage_mb << 20)],
                log_config=LogConfig(type="none"),  # else endless output would fill the disk with the engine's log
                **options,
            )
        container = Container(self._client.api, made, limits, writes, self._root)
        try:
            yield container
        finally:
            container.remove()

    def stop(self) -> None:
        """End all containers; the threads that wait for them get EngineError."""
        self._stopped = True
        with contextlib.suppress(EngineError), engine_errors():
            reaper.remove_all(self._client, self._label)
