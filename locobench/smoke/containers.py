"""Use the Docker engine for the smoke test: build images, run commands in fresh containers without network.

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
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

# How many lines of a failed build or command to show, and how many bytes of a command's output to keep for them.
_SHOWN_LINES = 8
_KEPT_BYTES = 16_384
# Seconds for calls that only ask: they may wait for a busy engine, but not for ever.
_PATIENCE = 600
# The exit code of `docker run` if the engine fails, and not the command.
_ENGINE_FAILED = 125
# BuildKit's name for the failed step if the Dockerfile's base image cannot be loaded.
_NO_BASE = re.compile(r"^ > \[internal\] load metadata for (\S+):$", re.MULTILINE)


class EngineError(Exception):
    """The engine fails, or cannot build or push an image. The message is one line; `tail` the last lines of output."""

    def __init__(self, message: str, tail: str = "") -> None:
        super().__init__(message)
        self.tail = tail


class CommandTimeout(EngineError):
    """A command took too long and was killed."""

    def __init__(self, what: str, seconds: float, tail: str = "") -> None:
        super().__init__(f"{what} still ran after {seconds:g} s and was killed", tail)


class Engine:
    """The Docker engine at DOCKER_HOST, or at the local socket. Methods are thread-safe."""

    def __init__(self) -> None:
        """Look for the engine.

        Raises:
            EngineError: no engine answers, or the `docker` command is missing; the message says what to do.
        """
        self._running: set[subprocess.Popen[bytes]] = set()
        way_out = "start one, or pass --local to run oracle and nop without images"
        try:
            code, said = self.call("version", "--format", "{{.Server.Version}}")
        except FileNotFoundError:
            raise EngineError(f"the docker command is not on PATH; install it, or {way_out}") from None
        if code != 0:
            raise EngineError(f"no Docker engine answers ({_last(said)}); {way_out}")

    def call(self, *arguments: str, timeout: float = _PATIENCE, what: str = "docker") -> tuple[int, str]:
        """Run a docker command; return its exit code and the end of its output.

        Raises:
            CommandTimeout: it took longer than `timeout` seconds; the message calls it `what`.
        """
        # A process group of its own: `docker build` leaves the work to a plugin that must be stopped with it.
        with subprocess.Popen(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        ) as process:
            self._running.add(process)
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired as error:
                raise CommandTimeout(what, timeout, last_lines(_clean(error.output or b""))) from None
            finally:
                self._running.discard(process)
                _stop(process)
        return process.returncode, _clean(output)

    def ask(self, *arguments: str, timeout: float = _PATIENCE, what: str = "docker") -> str:
        """Run a docker command that has to succeed, and return the end of its output.

        Raises:
            EngineError: it failed or took longer than `timeout` seconds; the message calls it `what`.
        """
        code, said = self.call(*arguments, timeout=timeout, what=what)
        if code != 0:
            self.assert_alive()
            raise EngineError(f"{what} failed (exit code {code})", last_lines(said))
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
            EngineError: the build failed or took longer than `timeout` seconds.
        """
        started = time.monotonic()
        try:
            self.ask("build", "--tag", tag, str(context), timeout=timeout, what="build")
        except EngineError as error:
            if base := _NO_BASE.search(error.tail):
                way_out = f"try `docker pull {base[1]}`, or generate the tasks with another --base_image"
                raise EngineError(f"the image {base[1]} cannot be pulled: {way_out}", error.tail) from None
            raise
        seconds = time.monotonic() - started
        return seconds, int(self.ask("image", "inspect", "--format", "{{.Size}}", tag))

    def run(
        self,
        image: str,
        command: str,
        *,
        what: str,
        timeout: float,
        memory_mb: int | None = None,
        mounts: Mapping[str, Path] | None = None,
        user: str = "",
    ) -> tuple[int, str]:
        """Run `command` with bash in a fresh container; return its exit code and the end of its output.

        Args:
            what: the command's name in a message.
            timeout: in seconds.
            mounts: folders of this machine by their place in the container.
            user: the image's own by default.

        Raises:
            CommandTimeout: it took longer than `timeout`.
            EngineError: the engine fails.
        """
        name = f"smoke-test-{uuid4().hex}"
        options = [f"--name={name}", "--network=none"]
        options += [f"--user={user}"] if user else []
        options += [f"--memory={memory_mb}m"] if memory_mb else []
        options += [f"--mount=type=bind,source={path},target={place}" for place, path in (mounts or {}).items()]
        try:
            # Of endless output only the end may reach this process.
            bounded = f"({command}) 2>&1 | tail -c {_KEPT_BYTES}; exit ${{PIPESTATUS[0]}}"
            code, said = self.call("run", *options, image, "bash", "-c", bounded, timeout=timeout, what=what)
        finally:
            with contextlib.suppress(CommandTimeout):
                self.call("rm", "--force", "--volumes", name)
        if code != 0:
            self.assert_alive()
        if code == _ENGINE_FAILED:
            raise EngineError(f"engine: {_last(said)}")
        return code, said

    def kill_all(self) -> None:
        """Stop every call; the threads that wait for them get errors, and remove their containers."""
        for process in list(self._running):
            _stop(process)


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
