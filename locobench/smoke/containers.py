"""Use the Docker engine for the smoke test: build images, run commands without network."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException, NotFound

if TYPE_CHECKING:
    from docker.models.containers import Container

# How many lines of a failed build or command to show, and how many bytes of output to keep for them.
_SHOWN_LINES = 8
_KEPT_BYTES = 16_384
# BuildKit's name for the failed step if the Dockerfile's base image cannot be loaded.
_NO_BASE = re.compile(r"^ > \[internal\] load metadata for (\S+):$", re.MULTILINE)
_ENGINE_ERRORS = (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError)


class NoEngine(Exception):
    """No Docker engine can be used. The message is one line and says what to do."""


class EngineError(Exception):
    """The engine refused, failed or stopped answering. The message is one line."""


class BuildError(Exception):
    """An image cannot be built. The message is one line; `tail` has the last lines of output."""

    def __init__(self, message: str, tail: str) -> None:
        super().__init__(message)
        self.tail = tail


class CommandTimeout(Exception):
    """A command took too long and was killed. The message is one line."""


class Engine:
    """A connection to the Docker engine at DOCKER_HOST, or at the local socket.

    Methods are thread-safe and raise EngineError when the engine fails.
    """

    def __init__(self, *, connections: int = 8) -> None:
        """Connect; `connections` is the number of threads that will call at once.

        Raises:
            NoEngine: no engine answers, or the `docker` command is missing.
        """
        way_out = "start one, or pass --local to run oracle and nop without images"
        try:
            # A request may wait for a busy engine, but not for ever.
            self._client = docker.from_env(timeout=600, max_pool_size=connections * 2)
            self._client.ping()
        except _ENGINE_ERRORS as error:
            raise NoEngine(f"no Docker engine answers ({_first_line(error)}); {way_out}") from None
        try:
            subprocess.run(["docker", "--version"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            raise NoEngine(
                f"the docker command, which builds the images, is not on PATH; install it, or {way_out}"
            ) from None
        self._live: set[Container] = set()
        self._builds: set[subprocess.Popen[bytes]] = set()

    def describe(self) -> dict[str, str]:
        """Return the engine's version, operating system and storage driver, ready to print."""
        with self._talking():
            version, info = self._client.version(), self._client.info()
        return {
            "Docker engine": f"{version['Version']} (API {version['ApiVersion']}, {info['Driver']})",
            "Host": f"{info['OperatingSystem']}, {info['NCPU']} CPUs, {info['MemTotal'] / 2**30:.0f} GiB",
        }

    def image_id(self, name: str) -> str:
        """Return an image's digest: the registry's, or its own id if it did not come from a registry."""
        with contextlib.suppress(*_ENGINE_ERRORS):
            attributes = self._client.images.get(name).attrs
            return str((attributes.get("RepoDigests") or [attributes["Id"]])[0])
        # BuildKit does not list base images among the engine's images.
        with contextlib.suppress(*_ENGINE_ERRORS):
            return str(self._client.images.get_registry_data(name).id)
        return "unknown"

    def build(self, context: Path, tag: str, *, timeout: float) -> tuple[float, int]:
        """Build the Dockerfile in the folder `context`; return the seconds taken and the image's size in bytes.

        This runs `docker build`, because the SDK supports only the classic builder and Harbor reuses BuildKit's
        layers.

        Raises:
            BuildError: the build failed or took longer than `timeout` seconds.
        """
        try:
            seconds = self._run(["docker", "build", "--tag", tag, str(context)], "build", timeout=timeout)
        except BuildError as error:
            if base := _NO_BASE.search(error.tail):
                way_out = f"try `docker pull {base[1]}`, or generate the tasks with another --base_image"
                raise BuildError(f"the image {base[1]} cannot be pulled: {way_out}", error.tail) from None
            raise
        with self._talking():
            return seconds, int(self._client.images.get(tag).attrs["Size"])

    def push(self, image: str, *, timeout: float) -> None:
        """Push an image to the registry in its name, with the credentials of `docker login`.

        Raises:
            BuildError: the push failed or took longer than `timeout` seconds.
        """
        self._run(["docker", "push", image], f"{image}: push", timeout=timeout)

    def _run(self, command: list[str], what: str, *, timeout: float) -> float:
        """Run a docker command and return the seconds taken; raise BuildError if it fails."""
        started = time.monotonic()
        # A process group of its own: `docker build` leaves the work to a plugin that must be stopped with it.
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        ) as process:
            self._builds.add(process)
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired as error:
                raise BuildError(
                    f"{what} still ran after {timeout:g} s", last_lines(_clean(error.stdout or b""))
                ) from None
            finally:
                self._builds.discard(process)
                _stop(process)
        if process.returncode != 0:
            self._assert_alive()
            raise BuildError(f"{what} failed (exit code {process.returncode})", last_lines(_clean(output)))
        return time.monotonic() - started

    @contextlib.contextmanager
    def container(self, image: str, *, memory_mb: int | None = None, logs: Path | None = None) -> Iterator[Box]:
        """Start an idle container without network, with the folders in `logs` at /logs; remove it afterwards."""
        folders = sorted(logs.iterdir()) if logs else []
        mounts = [docker.types.Mount(f"/logs/{folder.name}", str(folder), "bind") for folder in folders]
        with self._talking():
            container = self._client.containers.create(
                image,
                command=["sh", "-c", "sleep infinity"],
                network_mode="none",
                mem_limit=f"{memory_mb}m" if memory_mb else None,
                mounts=mounts,
            )
            with self._removing(container):
                container.start()
                yield Box(container)

    def kill_all(self) -> None:
        """Stop every build and remove every container; the threads that wait for them get their errors."""
        for process in list(self._builds):
            _stop(process)
        for container in list(self._live):
            with contextlib.suppress(*_ENGINE_ERRORS):
                container.remove(force=True, v=True)

    @contextlib.contextmanager
    def _removing(self, container: Container) -> Iterator[None]:
        self._live.add(container)
        try:
            yield
        finally:
            self._live.discard(container)
            with contextlib.suppress(*_ENGINE_ERRORS):
                container.remove(force=True, v=True)

    @contextlib.contextmanager
    def _talking(self) -> Iterator[None]:
        try:
            yield
        except _ENGINE_ERRORS as error:
            self._assert_alive()
            raise EngineError(f"engine: {_first_line(error)}") from error

    def _assert_alive(self) -> None:
        try:
            self._client.ping()
        except _ENGINE_ERRORS:
            raise EngineError("the Docker engine stopped answering") from None


class Box:
    """A running container."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def put(self, folder: Path, name: str) -> None:
        """Copy `folder` into the container as /`name`, owned by root."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.add(folder, name, filter=_owned_by_root)
        self._container.put_archive("/", buffer.getvalue())

    def take(self, path: str) -> bytes:
        """Return a tar archive of `path`, or b"" if it does not exist."""
        try:
            chunks, _ = self._container.get_archive(path)
            return b"".join(chunks)
        except NotFound:
            return b""

    def give(self, archive: bytes, folder: str) -> None:
        """Unpack a tar archive into the container's `folder`."""
        self._container.put_archive(folder, archive)

    def run(self, command: str, *, timeout: float, user: str = "") -> tuple[int, str]:
        """Run `command` with bash in the working directory; return its exit code and the end of its output.

        Raises:
            CommandTimeout: it took longer than `timeout` seconds; the container was killed.
        """
        expired = threading.Event()

        def kill() -> None:
            expired.set()
            with contextlib.suppress(*_ENGINE_ERRORS):
                self._container.kill()

        api = self._container.client.api  # type: ignore[union-attr]
        watchdog = threading.Timer(timeout, kill)
        watchdog.start()
        try:
            execution = api.exec_create(self._container.id, ["bash", "-c", command], user=user)["Id"]
            output = b""
            for chunk in api.exec_start(execution, stream=True):
                output = (output + chunk)[-_KEPT_BYTES:]
            code = api.exec_inspect(execution)["ExitCode"]
        except _ENGINE_ERRORS:
            if not expired.is_set():
                raise
        finally:
            watchdog.cancel()
        if expired.is_set():
            raise CommandTimeout(f"still ran after {timeout:g} s and was killed")
        return code, _clean(output)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def last_lines(text: str) -> str:
    """Return the last few non-empty lines of a command's output."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-_SHOWN_LINES:])


def _clean(output: bytes) -> str:
    """Decode output and remove terminal escapes and the carriage returns of progress bars, which garble tables."""
    text = output[-_KEPT_BYTES:].decode("utf-8", "replace")
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "\n")


def _first_line(error: Any) -> str:
    text = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return next(iter(str(text).splitlines()), "") or type(error).__name__
