"""A command in its own container, with pipes to its standard streams; it has the same interface as `Guarded`."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
from collections.abc import Mapping
from typing import Any

import requests
import urllib3
from docker import DockerClient
from docker.errors import APIError, DockerException
from docker.types import LogConfig, Mount
from docker.utils.socket import STDERR, frames_iter

from harness.host.processes import Command
from harness.sandbox.place import CAPABILITIES, SandboxError, outermost

ENGINE_ERRORS = (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError)

MOST_PROCESSES = 4096
LOST = -signal.SIGKILL
"""Exit code of a container that vanished without reporting one."""


class Contained:
    """A running container that sees only the folders of this machine that it is given."""

    def __init__(self, command: Command, client: DockerClient, image: str, labels: Mapping[str, str]) -> None:
        """Start it with `cwd` and `writes` mounted at their own paths, and `reads` mounted read-only.

        SandboxError if the engine cannot start it.
        """
        self.returncode: int | None = None
        """Exit code once it has ended, or LOST; None before."""
        self._ended = threading.Event()
        self._ending = threading.Event()
        folders = outermost([command.cwd, *command.writes])
        mounts = [Mount(str(path), str(path), "bind") for path in folders]
        mounts += [Mount(str(path), str(path), "bind", read_only=True) for path in outermost(command.reads, folders)]
        try:
            self._container = client.containers.create(
                image,
                list(command.argv),
                entrypoint=[],
                working_dir=str(command.cwd),
                environment=dict(command.env),
                user=f"{os.getuid()}:{os.getgid()}",
                mounts=mounts,
                labels=dict(labels),
                stdin_open=True,
                cap_drop=["ALL"],
                cap_add=list(CAPABILITIES),
                security_opt=["no-new-privileges"],
                pids_limit=MOST_PROCESSES,
                log_config=LogConfig(type="none"),  # else endless output would fill the disk with the engine's log
            )
        except ENGINE_ERRORS as error:
            raise SandboxError(one_line(error)) from error
        api = client.api
        try:
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            attached: Any = api.attach_socket(str(self._container.id), params=streams)
            self._socket: socket.socket = getattr(attached, "_sock", attached)
            self._socket.settimeout(None)
            self._container.start()
        except ENGINE_ERRORS as error:
            self._remove()
            raise SandboxError(one_line(error)) from error
        inputs, outputs, errors = os.pipe(), os.pipe(), os.pipe()
        self.stdin = open(inputs[1], "wb", buffering=0)  # noqa: PTH123, SIM115 - the caller closes the pipes
        self.stdout = open(outputs[0], "rb", buffering=0)  # noqa: PTH123, SIM115
        self.stderr = open(errors[0], "rb", buffering=0)  # noqa: PTH123, SIM115
        self._threads = [
            threading.Thread(target=self._send, args=(inputs[0],), daemon=True),
            threading.Thread(target=self._receive, args=(attached, outputs[1], errors[1]), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def poll(self) -> int | None:
        """Return the exit code if the command has ended and its output is read, else None."""
        return self.returncode if self._ended.is_set() else None

    def wait(self, seconds: float) -> int | None:
        """Wait up to `seconds` for the command to end; return its exit code, or None."""
        self._ended.wait(seconds)
        return self.poll()

    def end(self, grace: float = 0.0) -> None:
        """End the container and everything in it: with a grace period SIGTERM first, then it is removed."""
        try:
            if grace > 0 and self.poll() is None:
                with contextlib.suppress(*ENGINE_ERRORS):
                    self._container.kill(signal.SIGTERM)
                self.wait(grace)
        finally:
            self._ending.set()
            with contextlib.suppress(*ENGINE_ERRORS):  # the engine waits for the reader of the output
                self._socket.shutdown(socket.SHUT_RDWR)
            self._remove()
            self._threads[1].join(2.0)

    def _remove(self) -> None:
        with contextlib.suppress(*ENGINE_ERRORS):
            self._container.remove(force=True, v=True)

    def _send(self, source: int) -> None:
        with contextlib.suppress(*ENGINE_ERRORS), open(source, "rb", buffering=0) as pipe:
            while chunk := pipe.read(1 << 16):
                self._socket.sendall(chunk)
            self._socket.shutdown(socket.SHUT_WR)

    def _receive(self, attached: Any, output: int, errors: int) -> None:
        code = LOST
        try:
            with open(output, "wb", buffering=0) as out, open(errors, "wb", buffering=0) as err:
                for pipe in (out, err):
                    os.set_blocking(pipe.fileno(), False)
                with contextlib.suppress(*ENGINE_ERRORS):
                    for stream, data in frames_iter(attached, tty=False):  # type: ignore[no-untyped-call]
                        self._pass_on(err.fileno() if stream == STDERR else out.fileno(), data)
                with contextlib.suppress(*ENGINE_ERRORS):
                    code = int(self._container.wait(timeout=None)["StatusCode"])
        finally:
            self.returncode = code
            self._ended.set()
            with contextlib.suppress(*ENGINE_ERRORS):
                attached.close()

    def _pass_on(self, pipe: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:
                if self._ending.is_set():  # nobody reads any more
                    return
                select.select([], [pipe], [], 0.1)


def one_line(error: BaseException) -> str:
    """Return the first line of an engine error's message."""
    text = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return next(iter(str(text).splitlines()), "") or type(error).__name__
