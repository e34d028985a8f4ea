"""Runs a command within time limits, keeps a bounded part of its output, and leaves no process behind."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.sandbox.guarded_process import GuardedProcess

POLL_SECONDS = 0.1
"""Longest delay in seconds until a limit, a cancellation or the end of the process is noticed."""

KEPT_BYTES = 1_000_000
"""Bytes kept of stdout and of stderr; of a longer output, half of this from its start and half from its end."""

LONGEST_LINE = 16_000_000
"""Bytes; `on_line` does not get to see a longer line."""


class StopCause(StrEnum):
    """Who ended the process."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    SILENT = "silent"
    CANCELLED = "cancelled"
    STORAGE = "storage"
    """It wrote more than the task allows."""
    DONE = "done"
    """The caller had what it needed, and the process did not end within the grace period."""
    ABORTED = "aborted"
    """The caller saw a line that made it pointless to continue."""


class LineVerdict(StrEnum):
    """What a line of output means for the rest of the run."""

    CONTINUE = "continue"
    LAST = "last"
    """The process gets the grace period to end, unless a later line says CONTINUE."""
    ABORT = "abort"


@dataclass(frozen=True)
class Limits:
    """Limits of one process, in seconds."""

    wall: float
    silence: float | None = None
    """Longest time without any output."""
    grace: float = 5.0
    """Time from the LAST line, or from SIGTERM, to the kill."""


@dataclass(frozen=True)
class ProcessResult:
    """The result of a process."""

    returncode: int | None
    """None if the harness had to end it."""
    stdout: bytes
    stderr: bytes
    cause: StopCause
    duration_seconds: float
    silent_seconds: float = 0.0
    """Time from the last output to the end."""


@dataclass(frozen=True)
class Command:
    """A command and what it needs."""

    argv: Sequence[str]
    cwd: Path
    """The working directory, which it may write to."""
    env: Mapping[str, str]
    limits: Limits
    stdin: bytes = b""
    on_line: Callable[[bytes], LineVerdict] | None = None
    """Gets each complete line of stdout without its newline, and at the end an unfinished last line."""
    cancelled: threading.Event | None = None
    writes: Sequence[Path] = ()
    """Further folders that it may write to. On this machine it may write wherever the user may."""
    reads: Sequence[Path] = ()
    """Files and folders that it needs to read."""

    def run(self) -> ProcessResult:
        """Run the command to its end or a limit, and end every process it started; OSError if it cannot be started."""
        process = GuardedProcess(self.argv, cwd=self.cwd, env=self.env)
        started = time.monotonic()
        pump = None
        grace = 0.0
        try:
            pump = _Pump(process, self.stdin, self.on_line)
            cause = _wait(pump, self.limits, self.cancelled, started)
            returncode = process.returncode() if cause is StopCause.EXITED else None
            duration = time.monotonic() - started
            silent = max(0.0, started + duration - pump.heard_at)
            if cause not in (StopCause.EXITED, StopCause.ABORTED):
                grace = min(self.limits.grace, 2.0)
        finally:
            process.end(grace)
            if pump is not None:
                pump.close()
        return ProcessResult(returncode, pump.out.content, pump.err.content, cause, duration, silent)


def _wait(pump: _Pump, limits: Limits, cancelled: threading.Event | None, started: float) -> StopCause:
    """Move bytes until the process ends or must be ended; return which."""
    last_line_at: float | None = None
    while True:
        pump.step(POLL_SECONDS)
        now = time.monotonic()
        if pump.verdict is LineVerdict.ABORT:
            return StopCause.ABORTED
        if pump.ended:
            return StopCause.EXITED
        if cancelled is not None and cancelled.is_set():
            return StopCause.CANCELLED
        last_line_at = (last_line_at or now) if pump.verdict is LineVerdict.LAST else None
        if last_line_at is not None:
            if now - last_line_at > limits.grace:
                return StopCause.DONE
        elif now - started > limits.wall:
            return StopCause.TIMEOUT
        elif limits.silence is not None and now - pump.heard_at > limits.silence:
            return StopCause.SILENT


class _Kept:
    """Keeps the start and the end of an output of any length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        """Add more of the output."""
        half = KEPT_BYTES // 2
        room = half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > KEPT_BYTES:  # cut rarely, since cutting copies
            self._left_out += len(self._tail) - half
            del self._tail[:-half]

    @property
    def content(self) -> bytes:
        """What was kept, with a line that says how much was left out."""
        gap = f"\n[{self._left_out} bytes left out]\n".encode() if self._left_out else b""
        return bytes(self._head) + gap + bytes(self._tail)


class _Pump:
    """Feeds stdin and collects stdout and stderr of a process without blocking on any of them.

    It uses no thread per pipe, so that a process which cannot be killed keeps no thread and no descriptor.
    """

    def __init__(self, process: GuardedProcess, stdin: bytes, on_line: Callable[[bytes], LineVerdict] | None) -> None:
        self.out, self.err = _Kept(), _Kept()
        self._line = b""
        self._too_long = False
        """Whether the current line is longer than LONGEST_LINE."""
        self.verdict = LineVerdict.CONTINUE
        self.ended = False
        """Whether the command and all that it started have ended."""
        self.heard_at = time.monotonic()
        self._on_line = on_line
        self._stdin = memoryview(stdin)
        self._selector = selectors.DefaultSelector()
        self._selector.register(process, selectors.EVENT_READ)
        self._pipes = process.pipes
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        to, out, err = self._pipes
        self._selector.register(out, selectors.EVENT_READ, self.out)
        self._selector.register(err, selectors.EVENT_READ, self.err)
        if stdin:
            self._selector.register(to, selectors.EVENT_WRITE)
        else:
            to.close()

    def step(self, timeout: float) -> None:
        """Move the bytes that are ready, waiting up to `timeout` seconds for some."""
        for key, events in self._selector.select(timeout):
            if key.data is not None:
                self._read(key.fd, key.data)
            elif events & selectors.EVENT_WRITE:
                self._write(key.fd)
            else:
                self.ended = True

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

    def _read(self, fd: int, buffer: _Kept) -> bool:
        """Read what is there; return whether there was anything."""
        try:
            chunk = os.read(fd, 1 << 20)
        except BlockingIOError:
            return False
        self.heard_at = time.monotonic()
        buffer.add(chunk)
        if not chunk:
            self._selector.unregister(fd)
        if buffer is self.out:
            self._lines(chunk)
        return bool(chunk)

    def _lines(self, chunk: bytes) -> None:
        """Judge the lines that a chunk completes; an empty chunk is the end of output, and completes the last line."""
        if self._on_line is None:
            return
        *whole, self._line = (self._line + chunk).split(b"\n")
        if not chunk and self._line:
            whole, self._line = [self._line], b""
        for line in whole:
            if self.verdict is not LineVerdict.ABORT and not self._too_long and len(line) <= LONGEST_LINE:
                self.verdict = self._on_line(line)
            self._too_long = False
        if len(self._line) > LONGEST_LINE:
            self._line, self._too_long = b"", True

    def close(self) -> None:
        """Read the remaining output and close all pipes."""
        for key in list(self._selector.get_map().values()):
            while key.data is not None and self._read(key.fd, key.data):
                pass
        self._lines(b"")
        self._selector.close()
        for pipe in self._pipes:
            pipe.close()
