"""Ends everything that a command started when the command ends, or its owner does. A separate program.

`python -I -S guardian.py SOCKET KEPT COMMAND...` starts COMMAND in its own session with the guardian's standard
streams. SOCKET gets one byte at the start: 0, or the errno of why the command cannot be started. It gets the exit code
once the command and all that it started have ended. When the owner sends a byte, the command gets SIGTERM. When the
owner closes its end, as the kernel does if the owner is killed, everything is killed. KEPT is `LC_CTYPE` if that
variable was given: Python adds it in the C locale.

As a child subreaper, the guardian becomes the parent of every orphan below it. So it finds processes that changed
their session, cleared their environment or are in the middle of execve, and once it has no child, none is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

LONGEST_END = 8.0
"""Seconds to end everything. Processes that cannot be killed, as in a kernel call, are left."""


def guard(owner: int, argv: list[str]) -> None:
    """Start the command, and stay until it or the owner has ended, and all of its processes."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    awake, wake = os.pipe()
    for end in (awake, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        dies_too = (PR_SET_PDEATHSIG, signal.SIGKILL)  # for an agent that kills its guardian
        command = subprocess.Popen(argv, start_new_session=True, preexec_fn=lambda: _prctl(*dies_too))
    except OSError as error:
        os.write(owner, bytes([error.errno or 1]))
        return
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # only the owner ends a guardian
        signal.signal(number, signal.SIG_IGN)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # so that the command's output ends when the command does
        os.dup2(devnull, stream)
    code = None
    with contextlib.suppress(OSError):  # the owner has ended
        os.write(owner, b"\0")
        code = _wait(command.pid, owner, awake)
    _end_all(command.pid)
    with contextlib.suppress(OSError):
        os.write(owner, str(code).encode())


def _wait(command: int, owner: int, awake: int) -> int | None:
    """Return the command's exit code once it has ended; None if the owner ends first."""
    waiting = select.poll()  # `select` takes no descriptor above 1023, which the owner may have had for us
    waiting.register(owner, select.POLLIN)
    waiting.register(awake, select.POLLIN)
    while True:
        for pid, status in iter(_reaped, (0, 0)):
            if pid == command:
                return os.waitstatus_to_exitcode(status)
        ready = [descriptor for descriptor, _ in waiting.poll()]
        if awake in ready:
            os.read(awake, 4096)
        if owner in ready:
            if not os.read(owner, 1):
                return None
            os.kill(command, signal.SIGTERM)


def _reaped() -> tuple[int, int]:
    """Reap a child that has ended, and return its id and status; zeros if there is none."""
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0, 0


def _end_all(command: int) -> None:
    """Kill all children until there are none; where they cannot be found, the command's process group."""
    until = time.monotonic() + LONGEST_END
    while time.monotonic() < until:
        for pid in _children() or [-command]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _children() -> list[int]:
    """Return the children of this process; empty where the system does not tell, as elsewhere than on Linux."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError, OSError):  # systems other than Linux have none
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    if sys.argv[2] != "LC_CTYPE":
        os.environ.pop("LC_CTYPE", None)
    guard(int(sys.argv[1]), sys.argv[3:])
