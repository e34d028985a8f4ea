"""Use the Docker engine for the smoke test: build images, run commands in fresh containers without network.

Everything goes through the `docker` command: it builds with BuildKit, whose layers Harbor reuses, and it finds the
engine and the registries' credentials as the user's own calls do.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from locobench.smoke.task import Fault

# A label of every image that is built here.
LABEL = "locobench-smoke-test"

# How many lines of a failed build or command to show.
_SHOWN_LINES = 8
# Seconds for calls that only ask: they may wait for a busy engine, but not for ever.
_PATIENCE = 600
# The exit code of `docker run` if the engine fails, and not the command.
_ENGINE_FAILED = 125
# BuildKit's name for the failed step if the Dockerfile's base image cannot be loaded.
_NO_BASE = re.compile(r"^ > \[internal\] load metadata for (\S+):$", re.MULTILINE)


class Engine:
    """The Docker engine at DOCKER_HOST, or at the local socket. Methods are thread-safe."""

    def __init__(self) -> None:
        """Look for the engine.

        Raises:
            Fault: no engine answers, or the `docker` command is missing; the message says what to do.
        """
        self._running: set[subprocess.Popen[bytes]] = set()
        way_out = "start one, or pass --local to run oracle and nop without images"
        shown = "{{.ServerVersion}} ({{.Driver}})\n{{.OperatingSystem}}, {{.NCPU}} CPUs\n"
        try:
            code, said = self._call("info", "--format", shown)
        except FileNotFoundError:
            raise Fault(f"the docker command is not on PATH; install it, or {way_out}") from None
        if code != 0:
            raise Fault(f"no Docker engine answers ({_reason(said)}); {way_out}")
        self.facts = dict(zip(("Docker engine", "Host"), said.splitlines(), strict=False))
        """The engine's version, storage driver, operating system and processors, ready to print."""

    def image_id(self, name: str) -> str:
        """Return the digest of an image that the engine has, or `unknown`."""
        code, said = self._call("image", "inspect", "--format", "{{.Id}}", name)
        return said.strip() if code == 0 else "unknown"

    def build(self, context: Path, tag: str, *, timeout: float) -> tuple[float, int]:
        """Build the Dockerfile in the folder `context`; return the seconds taken and the image's size in bytes.

        Raises:
            Fault: the build failed or took longer than `timeout` seconds.
        """
        started = time.monotonic()
        code, said = self._call(
            "build", f"--label={LABEL}", f"--tag={tag}", str(context), timeout=timeout, what="build"
        )
        if code != 0:
            problem = f"build failed (exit code {code})"
            if base := _NO_BASE.search(said):
                way_out = f"try `docker pull {base[1]}`, or generate the tasks with another --base_image"
                problem = f"the image {base[1]} cannot be pulled: {way_out}"
            raise Fault(problem, last_lines(said))
        seconds = time.monotonic() - started
        code, said = self._call("image", "inspect", "--format", "{{.Size}}", tag)
        if code != 0:
            raise self._fault_of_engine(said)
        return seconds, int(said)

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
        """Run `command` with bash in a fresh container; return its exit code and its output.

        Args:
            what: the command's name in a message.
            timeout: in seconds.
            mounts: folders of this machine by their place in the container.
            user: the image's own by default.

        Raises:
            Fault: it took longer than `timeout`, or the engine fails.
        """
        name = f"smoke-test-{uuid4().hex}"
        options = [f"--name={name}", "--network=none"]
        options += [f"--user={user}"] if user else []
        options += [f"--memory={memory_mb}m"] if memory_mb else []
        options += [f"--mount=type=bind,source={path},target={place}" for place, path in (mounts or {}).items()]
        try:
            code, said = self._call("run", *options, image, "bash", "-c", command, timeout=timeout, what=what)
        finally:
            with contextlib.suppress(Fault):
                self._call("rm", "--force", "--volumes", name)
        if code == _ENGINE_FAILED:
            raise self._fault_of_engine(said)
        return code, said

    def _fault_of_engine(self, said: str) -> Fault:
        if self._call("version")[0] != 0:
            return Fault("the Docker engine stopped answering")
        return Fault(f"engine: {_reason(said)}")

    def kill_all(self) -> None:
        """Stop every call; the threads that wait for them get errors, and remove their containers."""
        for process in list(self._running):
            _stop(process)

    def _call(self, *arguments: str, timeout: float = _PATIENCE, what: str = "docker") -> tuple[int, str]:
        """Run a docker command; return its exit code and its output.

        Raises:
            Fault: it took longer than `timeout` seconds; the message calls it `what`.
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
                tail = last_lines((error.output or b"").decode("utf-8", "replace"))
                raise Fault(f"{what} still ran after {timeout:g} s and was killed", tail) from None
            finally:
                self._running.discard(process)
                _stop(process)
        return process.returncode, output.decode("utf-8", "replace")


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def last_lines(text: str) -> str:
    """Return the last few non-empty lines of a command's output."""
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-_SHOWN_LINES:])


def _reason(said: str) -> str:
    """Return the last line of what docker said, but for its advice."""
    lines = [line for line in last_lines(said).splitlines() if "--help" not in line]
    return lines[-1] if lines else "no reason given"
