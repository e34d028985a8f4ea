"""Ends everything that a command started when its owner asks for it or dies. A separate program.

`python -I -S guardian.py SOCKET COMMAND...` starts COMMAND in its own session with the guardian's standard streams. It
reports over SOCKET: `S` for started, `E<errno>` for a failed start, `X<returncode>` for ended. When the owner sends
`T`, the command gets SIGTERM. When the owner closes its end, as the kernel does if the owner is killed, all remaining
processes are killed.

As a child subreaper, the guardian becomes the parent of every orphan below it. So it finds processes that changed
their session, cleared their environment or are in the middle of execve, and once it has no child, none is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
DEFAULT_SIGNALS = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that this program handles or Python ignores; the command gets the default handlers."""


def guard(owner: int, argv: list[str]) -> None:
    """Start the command, and stay until the owner is gone and all of the command's processes have ended."""
    os.set_inheritable(owner, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    awake, wake = os.pipe()
    for fd in (awake, wake):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # only the owner ends a guardian
        signal.signal(number, signal.SIG_IGN)
    command = _start(argv, owner)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # so that the command's output ends when the command does
        os.dup2(devnull, stream)
    running = command is not None
    while True:
        readable, _, _ = select.select([owner, awake], [], [])
        if awake in readable:
            os.read(awake, 4096)
            for pid, status in _reap():
                if pid == command:
                    running = False
                    _tell(owner, f"X{os.waitstatus_to_exitcode(status)}")
        if owner in readable:
            try:
                said = os.read(owner, 16)
            except OSError:
                said = b""
            if not said:
                break
            if running and command is not None:
                os.kill(command, signal.SIGTERM)
    _end_all(command)


def _start(argv: list[str], owner: int) -> int | None:
    environ = _given_environment()
    parent = os.getpid()
    failure, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (*DEFAULT_SIGNALS, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # for an agent that kills its guardian
            if os.getppid() == parent:
                os.execvpe(argv[0], argv, environ)
        except OSError as error:
            os.write(report, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(report)
    errno = os.read(failure, 16)
    os.close(failure)
    _tell(owner, f"E{errno.decode()}" if errno else "S")
    return None if errno else pid


def _given_environment() -> dict[bytes, bytes]:
    """Return the environment as we got it: in the C locale, Python adds LC_CTYPE to os.environ."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than all else
            pairs = [entry.partition(b"=") for entry in file.read().split(b"\0")]
        return {name: value for name, equals, value in pairs if name and equals}
    except OSError:
        return dict(os.environb)


def _tell(owner: int, message: str) -> None:
    with contextlib.suppress(OSError):
        os.write(owner, f"{message}\n".encode())


def _reap() -> list[tuple[int, int]]:
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(found)
    return ended


def _end_all(command: int | None) -> None:
    while True:
        if not os.path.isdir("/proc/self") and command:  # noqa: PTH112 - there, its group is all there is to go by
            with contextlib.suppress(OSError):
                os.killpg(command, signal.SIGKILL)
        for pid in _descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _descendants() -> list[int]:
    """Return every process below this one; empty if there is no /proc."""
    children: dict[int, list[int]] = {}
    try:
        entries = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208
    except OSError:
        return []
    for pid in entries:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
            children.setdefault(int(fields[1]), []).append(pid)
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [child for pid in level for child in children.get(pid, [])]
        found += level
    return found


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError, OSError):  # systems other than Linux have none
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    guard(int(sys.argv[1]), sys.argv[2:])
