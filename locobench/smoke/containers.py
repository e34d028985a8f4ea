"""Use the Docker engine for the smoke test: build images, run commands without network.

Everything goes through the `docker` command: it builds with BuildKit, whose layers Harbor reuses, and it finds the
engine and the registries' credentials as the user's own calls do.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

# How many lines of a failed build or command to show, and how many bytes of output to keep for them.
_SHOWN_LINES = 8
_KEPT_BYTES = 16_384
# Seconds for calls that only ask or copy: they may wait for a busy engine, but not for ever.
_PATIENCE = 600
# BuildKit's name for the failed step if the Dockerfile's base image cannot be loaded.
_NO_BASE = re.compile(r"^ > \[internal\] load metadata for (\S+):$", re.MULTILINE)


class Failed(Exception):
    """Something failed. The message is one line; `tail` has the last lines of output."""

    def __init__(self, message: str, tail: str = "") -> None:
        super().__init__(message)
        self.tail = tail


class EngineError(Failed):
    """The engine is missing, refused, failed or stopped answering."""


class BuildError(Failed):
    """An image cannot be built or pushed."""


class CommandTimeout(Failed):
    """A command took too long and was killed."""


class Engine:
    """The Docker engine at DOCKER_HOST, or at the local socket. Methods are thread-safe."""

    def __init__(self) -> None:
        """Look for the engine.

        Raises:
            EngineError: no engine answers, or the `docker` command is missing; the message says what to do.
        """
        self._running: set[subprocess.Popen[bytes]] = set()
        self._live: set[str] = set()
        way_out = "start one, or pass --local to run oracle and nop without images"
        try:
            code, said = self.call("version", "--format", "{{.Server.Version}}")
        except FileNotFoundError:
            raise EngineError(f"the docker command is not on PATH; install it, or {way_out}") from None
        if code != 0:
            raise EngineError(f"no Docker engine answers ({_last(said)}); {way_out}")

    def call(self, *arguments: str, timeout: float = _PATIENCE) -> tuple[int, str]:
        """Run a docker command; return its exit code and the end of its output.

        Raises:
            CommandTimeout: it took longer than `timeout` seconds.
        """
        output = b""
        # A process group of its own: `docker build` leaves the work to a plugin that must be stopped with it.
        with subprocess.Popen(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        ) as process:
            assert process.stdout
            self._running.add(process)
            expired = threading.Event()

            def expire() -> None:
                expired.set()
                _stop(process)

            watchdog = threading.Timer(timeout, expire)
            watchdog.start()
            try:
                while chunk := os.read(process.stdout.fileno(), 1 << 16):
                    output = (output + chunk)[-_KEPT_BYTES:]
                process.wait()
            finally:
                watchdog.cancel()
                self._running.discard(process)
                _stop(process)
        if expired.is_set():
            raise CommandTimeout(f"still ran after {timeout:g} s and was killed", last_lines(_clean(output)))
        return process.returncode, _clean(output)

    def ask(self, *arguments: str) -> str:
        """Run a docker command that only fails with the engine, and return its output.

        Raises:
            EngineError: it failed.
        """
        code, said = self.call(*arguments)
        if code != 0:
            self.assert_alive()
            raise EngineError(f"engine: {_last(said)}")
        return said.strip()

    def assert_alive(self) -> None:
        """Raise EngineError if the engine stopped answering."""
        if self.call("version")[0] != 0:
            raise EngineError("the Docker engine stopped answering")

    def describe(self) -> dict[str, str]:
        """Return the engine's version, operating system and storage driver, ready to print."""
        info = json.loads(self.ask("info", "--format", "{{json .}}"))
        return {
            "Docker engine": f"{info['ServerVersion']} ({info['Driver']})",
            "Host": f"{info['OperatingSystem']}, {info['NCPU']} CPUs, {info['MemTotal'] / 2**30:.0f} GiB",
        }

    def image_id(self, name: str) -> str:
        """Return an image's digest: the registry's, or its own id if it did not come from a registry."""
        local = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
        for command in (
            ("image", "inspect", "--format", local, name),
            # BuildKit does not list base images among the engine's images.
            ("buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", name),
        ):
            code, said = self.call(*command)
            if code == 0:
                return said.strip()
        return "unknown"

    def build(self, context: Path, tag: str, *, timeout: float) -> tuple[float, int]:
        """Build the Dockerfile in the folder `context`; return the seconds taken and the image's size in bytes.

        Raises:
            BuildError: the build failed or took longer than `timeout` seconds.
            EngineError: the engine fails.
        """
        started = time.monotonic()
        try:
            self._make("build", ["build", "--tag", tag, str(context)], timeout)
        except BuildError as error:
            if base := _NO_BASE.search(error.tail):
                way_out = f"try `docker pull {base[1]}`, or generate the tasks with another --base_image"
                raise BuildError(f"the image {base[1]} cannot be pulled: {way_out}", error.tail) from None
            raise
        seconds = time.monotonic() - started
        return seconds, int(self.ask("image", "inspect", "--format", "{{.Size}}", tag))

    def push(self, image: str, *, timeout: float) -> None:
        """Push an image to the registry in its name, with the credentials of `docker login`.

        Raises:
            BuildError: the push failed or took longer than `timeout` seconds.
            EngineError: the engine fails.
        """
        self._make(f"{image}: push", ["push", image], timeout)

    def _make(self, what: str, command: list[str], timeout: float) -> None:
        try:
            code, said = self.call(*command, timeout=timeout)
        except CommandTimeout as error:
            raise BuildError(f"{what} {error}", error.tail) from None
        if code != 0:
            self.assert_alive()
            raise BuildError(f"{what} failed (exit code {code})", last_lines(said))

    @contextlib.contextmanager
    def container(self, image: str, *, memory_mb: int | None = None, logs: Path | None = None) -> Iterator[Box]:
        """Start an idle container without network, with the folders in `logs` at /logs; remove it afterwards.

        Raises:
            EngineError: the engine fails.
        """
        name = f"smoke-test-{uuid4().hex}"
        options = [f"--memory={memory_mb}m"] if memory_mb else []
        for folder in sorted(logs.iterdir()) if logs else ():
            options.append(f"--mount=type=bind,source={folder},target=/logs/{folder.name}")
        self._live.add(name)
        try:
            self.ask("run", "--detach", "--name", name, "--network=none", *options, image, "sh", "-c", "sleep infinity")
            yield Box(self, name)
        finally:
            self._live.discard(name)
            self._remove(name)

    def _remove(self, container: str) -> None:
        with contextlib.suppress(CommandTimeout):
            self.call("rm", "--force", "--volumes", container)

    def kill_all(self) -> None:
        """Stop every call and remove every container; the threads that wait for them get their errors."""
        for process in list(self._running):
            _stop(process)
        for container in list(self._live):
            self._remove(container)


class Box:
    """A running container. Its methods raise EngineError when the engine fails."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name

    def put(self, path: Path, place: str) -> None:
        """Copy a file, or what a folder holds, into the container."""
        self._engine.ask("cp", f"{path}/." if path.is_dir() else str(path), f"{self._name}:{place}")

    def take(self, place: str, path: Path) -> bool:
        """Copy a file out of the container; return whether it exists."""
        code, _ = self._engine.call("cp", f"{self._name}:{place}", str(path))
        if code != 0:
            self._engine.assert_alive()
        return code == 0

    def run(self, command: str, *, timeout: float, user: str = "") -> tuple[int, str]:
        """Run `command` with bash in the working directory; return its exit code and the end of its output.

        Raises:
            CommandTimeout: it took longer than `timeout` seconds; it goes on until the container is removed.
        """
        found = self._engine.call("exec", f"--user={user}", self._name, "bash", "-c", command, timeout=timeout)
        if found[0] != 0:
            self._engine.assert_alive()
        return found


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def last_lines(text: str) -> str:
    """Return the last few non-empty lines of a command's output."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-_SHOWN_LINES:])


def _clean(output: bytes) -> str:
    """Decode output and remove terminal escapes and the carriage returns of progress bars, which garble tables."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output.decode("utf-8", "replace")).replace("\r", "\n")


def _last(said: str) -> str:
    return last_lines(said).rpartition("\n")[2] or "no reason given"
