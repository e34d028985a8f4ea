"""Runs a command within time limits, keeps a bounded part of its output, and leaves no process behind."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Any

from harness.sandbox import guardian

POLL_SECONDS = 0.1
"""Longest delay in seconds until a limit or a cancellation is noticed."""

LONGEST_END = 10.0
"""Seconds that a guardian gets to end everything, itself included."""

KEPT_BYTES = 1_000_000
"""Bytes kept of stdout and of stderr; of a longer output, half of this from its start and half from its end."""

LONGEST_LINE = 16_000_000
"""Bytes; `on_line` gets a longer line in parts."""


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
    """Above 128 if a signal ended it, as in a shell; None if the harness had to end it."""
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
        process, owner = self._start()
        started = time.monotonic()
        assert process.stdin and process.stdout and process.stderr
        out, err = _Output(process.stdout, self.on_line), _Output(process.stderr)
        threads = [threading.Thread(target=_feed, args=(process.stdin, self.stdin), daemon=True), out, err]
        try:
            for thread in threads:
                thread.start()
            cause = self._wait(process, out, err, started)
            duration = time.monotonic() - started
            silent = max(0.0, started + duration - max(out.heard_at, err.heard_at))
            if cause not in (StopCause.EXITED, StopCause.ABORTED):
                with contextlib.suppress(BrokenPipeError):
                    os.write(owner, b"T")
                _ends_within(process, min(self.limits.grace, 2.0))
        finally:
            os.close(owner)
            if not _ends_within(process, LONGEST_END):
                process.kill()
                process.wait()
        for thread in threads:
            thread.join(LONGEST_END)  # a process that cannot be killed keeps its pipes
        # A guardian that is killed takes its command with it.
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        exited = cause is StopCause.EXITED
        return ProcessResult(code if exited else None, out.content, err.content, cause, duration, silent)

    def _start(self) -> tuple[subprocess.Popen[bytes], int]:
        """Start the command below a guardian; return the guardian, and the descriptor that it watches."""
        if shutil.which(self.argv[0], path=self.env.get("PATH", os.defpath)) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.argv[0])
        owned, owner = os.pipe()
        guarded = [sys.executable, "-I", "-S", guardian.__file__, str(owned), *self.argv]
        try:
            process = subprocess.Popen(
                [part.encode("utf-8", "surrogateescape") for part in guarded],  # in any locale
                cwd=self.cwd,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=(owned,),
            )
        except BaseException:
            os.close(owner)
            raise
        finally:
            os.close(owned)
        return process, owner

    def _wait(self, process: subprocess.Popen[bytes], out: _Output, err: _Output, started: float) -> StopCause:
        """Wait until the process ends or must be ended; return which."""
        last_line_at: float | None = None
        while True:
            ended = _ends_within(process, POLL_SECONDS)
            now = time.monotonic()
            if out.verdict is LineVerdict.ABORT:
                return StopCause.ABORTED
            if ended:
                return StopCause.EXITED
            if self.cancelled is not None and self.cancelled.is_set():
                return StopCause.CANCELLED
            last_line_at = (last_line_at or now) if out.verdict is LineVerdict.LAST else None
            if last_line_at is not None:
                if now - last_line_at > self.limits.grace:
                    return StopCause.DONE
            elif now - started > self.limits.wall:
                return StopCause.TIMEOUT
            elif self.limits.silence is not None and now - max(out.heard_at, err.heard_at) > self.limits.silence:
                return StopCause.SILENT


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _feed(stream: IO[bytes], content: bytes) -> None:
    """Write standard input; the command need not read it."""
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(content)


class _Output(threading.Thread):
    """Reads an output of any length to its end: keeps its start and its end, and shows its lines to `on_line`."""

    def __init__(self, stream: Any, on_line: Callable[[bytes], LineVerdict] | None = None) -> None:
        super().__init__(daemon=True)
        self.verdict = LineVerdict.CONTINUE
        self.heard_at = time.monotonic()
        self._stream = stream
        self._on_line = on_line
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    def run(self) -> None:
        """Read until the command and all that it started have closed the stream."""
        read = partial(self._stream.readline, LONGEST_LINE) if self._on_line else partial(self._stream.read1, 1 << 20)
        with self._stream:
            for chunk in iter(read, b""):
                self.heard_at = time.monotonic()
                self._keep(chunk)
                if self._on_line and self.verdict is not LineVerdict.ABORT:
                    self.verdict = self._on_line(chunk.removesuffix(b"\n"))

    def _keep(self, chunk: bytes) -> None:
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
