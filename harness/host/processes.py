"""How a command is run so that it ends: time limits, whole output, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

MARKER = "HARNESS_RUN_MARKER"
"""Environment variable that every process of one run inherits, whatever session or group it moves to."""

POLL_SECONDS = 0.1
"""Longest time until a limit, a cancellation or the end of the process is noticed."""

DRAIN_SECONDS = 0.3
"""How long output is still read after the process has ended while a child of it holds the pipes open."""


class StopCause(StrEnum):
    """Who ended the process."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    SILENT = "silent"
    CANCELLED = "cancelled"
    DONE = "done"
    """The caller had what it wanted and the process did not end by itself within the grace period."""
    ABORTED = "aborted"
    """The caller saw a line after which it made no sense to go on."""


class LineVerdict(StrEnum):
    """What a line of output means for the rest of the run."""

    CONTINUE = "continue"
    LAST = "last"
    """Nothing of interest follows; the process gets the grace period to end."""
    ABORT = "abort"


@dataclass(frozen=True)
class Limits:
    """Limits of one process, in seconds."""

    wall: float
    silence: float | None = None
    """Longest time without any output."""
    grace: float = 5.0
    """From the line the caller called LAST, or from SIGTERM, to the kill."""


@dataclass(frozen=True)
class Finished:
    """What a process left."""

    returncode: int | None
    """None when the harness had to end it."""
    stdout: bytes
    stderr: bytes
    cause: StopCause
    duration_seconds: float


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    stdin: bytes = b"",
    on_line: Callable[[bytes], LineVerdict] | None = None,
    cancelled: threading.Event | None = None,
) -> Finished:
    """Run a command to its end or a limit, and end every process it started.

    `on_line` sees each whole line of stdout without its newline, and an unfinished last one at the end.
    OSError when the command cannot be started.
    """
    marker = uuid.uuid4().hex
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env={**env, MARKER: marker},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pump = _Pump(process, stdin, on_line)
    try:
        cause = _wait(process, pump, limits, cancelled, started)
        returncode = process.returncode if cause is StopCause.EXITED else None
        duration = time.monotonic() - started
    finally:
        at_once = pump.verdict is LineVerdict.ABORT or process.poll() is not None
        kill_tree(process, marker, grace=0.0 if at_once else min(limits.grace, 2.0))
        pump.close()
    return Finished(returncode, bytes(pump.stdout), bytes(pump.stderr), cause, duration)


def _wait(
    process: subprocess.Popen[bytes],
    pump: _Pump,
    limits: Limits,
    cancelled: threading.Event | None,
    started: float,
) -> StopCause:
    """Move bytes until the process ends or must be ended; says which."""
    exited_at: float | None = None
    last_line_at: float | None = None
    while True:
        pump.step(POLL_SECONDS)
        now = time.monotonic()
        if pump.verdict is LineVerdict.ABORT:
            return StopCause.ABORTED
        if exited_at is None and process.poll() is not None:
            exited_at = now
        if exited_at is not None and (pump.at_end or now - exited_at > DRAIN_SECONDS):
            return StopCause.EXITED
        if cancelled is not None and cancelled.is_set():
            return StopCause.CANCELLED
        if pump.verdict is LineVerdict.LAST:
            last_line_at = last_line_at or now
            if now - last_line_at > limits.grace:
                return StopCause.DONE
        elif now - started > limits.wall:
            return StopCause.TIMEOUT
        elif limits.silence is not None and now - pump.heard_at > limits.silence:
            return StopCause.SILENT
        if pump.at_end and exited_at is None:  # closed its output and goes on: wait without spinning
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)


class _Pump:
    """Feeds stdin and collects stdout and stderr of a process without ever blocking on one of them.

    No thread a pipe: where a child that hides holds a pipe open, a reading thread and its descriptor would stay.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], stdin: bytes, on_line: Callable[[bytes], LineVerdict] | None
    ) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.verdict = LineVerdict.CONTINUE
        self.heard_at = time.monotonic()
        self._on_line = on_line
        self._line_start = 0
        self._searched = 0
        self._stdin = memoryview(stdin)
        self._selector = selectors.DefaultSelector()
        self._pipes = (process.stdin, process.stdout, process.stderr)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, self.stdout)
        self._selector.register(process.stderr, selectors.EVENT_READ, self.stderr)
        if stdin:
            self._selector.register(process.stdin, selectors.EVENT_WRITE)
        else:
            process.stdin.close()

    @property
    def at_end(self) -> bool:
        """Whether both outputs are closed."""
        return all(key.data is None for key in self._selector.get_map().values())

    def step(self, timeout: float) -> None:
        """Move what can be moved within `timeout` seconds."""
        if not self._selector.get_map():
            return
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                self._write(key.fd)
            else:
                self._read(key.fd, key.data)

    def _write(self, fd: int) -> None:
        try:
            self._stdin = self._stdin[os.write(fd, self._stdin[:65536]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._stdin = self._stdin[:0]
        if not self._stdin:
            self._selector.unregister(fd)
            self._pipes[0].close()

    def _read(self, fd: int, buffer: bytearray) -> None:
        try:
            chunk = os.read(fd, 1 << 20)
        except BlockingIOError:
            return
        self.heard_at = time.monotonic()
        buffer += chunk
        if not chunk:
            self._selector.unregister(fd)
        if buffer is self.stdout and self._on_line is not None:
            self._lines(at_end=not chunk)

    def _lines(self, at_end: bool) -> None:
        assert self._on_line is not None
        while (end := self.stdout.find(b"\n", self._searched)) >= 0:
            self._judge(bytes(self.stdout[self._line_start : end]))
            self._line_start = self._searched = end + 1
        self._searched = len(self.stdout)
        if at_end and self._line_start < len(self.stdout):
            self._judge(bytes(self.stdout[self._line_start :]))
            self._line_start = len(self.stdout)

    def _judge(self, line: bytes) -> None:
        assert self._on_line is not None
        if self.verdict is LineVerdict.CONTINUE:
            self.verdict = self._on_line(line)

    def close(self) -> None:
        """Read what is still there and close all pipes."""
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                buffer: bytearray = key.data
                with contextlib.suppress(BlockingIOError):
                    while chunk := os.read(key.fd, 1 << 20):
                        buffer += chunk
        if self._on_line is not None:
            self._lines(at_end=True)
        self._selector.close()
        for pipe in self._pipes:
            pipe.close()


def kill_tree(process: subprocess.Popen[bytes], marker: str, grace: float) -> None:
    """End a process and everything that descends from it or carries its marker: SIGTERM, then SIGKILL."""
    descendants = _descendants(process)
    if process.poll() is None and grace > 0:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        descendants += _descendants(process)
    if process.poll() is None:
        process.kill()
    process.wait()
    for descendant in descendants:
        with contextlib.suppress(psutil.Error):  # psutil knows whether the pid is still the same process
            descendant.kill()
    for _ in range(10):  # a child may start another one between the look and the kill
        left = _marked(marker)
        if not left:
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    except psutil.Error:
        return []


def _marked(marker: str) -> set[int]:
    """Live processes whose environment at their start held the marker."""
    found = set()
    needle = f"{MARKER}={marker}".encode()
    proc = Path("/proc")
    if (proc / "self/environ").exists():
        for entry in os.listdir(proc):  # noqa: PTH208 - a third of the time of iterdir, once per run
            if entry.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:  # noqa: PTH123
                    if needle in file.read():
                        found.add(int(entry))
        return found
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARKER) == marker:
                found.add(process.pid)
    return found
