"""Ends everything that a command started when the command ends, or its owner does. A separate program.

`python -I -S guardian.py OWNER COMMAND...` runs COMMAND in its own session with the guardian's standard streams. Once
the command and all that it started have ended, the guardian exits with the command's exit code, or 128 and the number
of the signal that ended it. OWNER is the descriptor of a pipe: a byte sends SIGTERM to the command. The pipe's end,
which the kernel causes if the owner is killed, kills everything.

As a child subreaper, the guardian becomes the parent of every orphan below it. So it finds processes that changed
their session, cleared their environment or are in the middle of execve, and once it has no child, none is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

LONGEST_END = 8.0
"""Seconds to end everything. Processes that cannot be killed, as in a kernel call, are left."""


def guard(owner: int, argv: list[str]) -> int:
    """Run the command, end all of its processes, and return its exit code."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    dies_too = (PR_SET_PDEATHSIG, signal.SIGKILL)  # for an agent that kills its guardian
    command = subprocess.Popen(argv, start_new_session=True, preexec_fn=lambda: _prctl(*dies_too))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # only the owner ends a guardian
        signal.signal(number, signal.SIG_IGN)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # so that the command's output ends when the command does
        os.dup2(devnull, stream)
    threading.Thread(target=_obey, args=(owner, command.pid), daemon=True).start()
    pid, status = 0, 0
    while pid != command.pid:
        pid, status = os.waitpid(-1, 0)
    _end_all(command.pid)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _obey(owner: int, command: int) -> None:
    """End the command when the owner says so or ends."""
    while os.read(owner, 1):
        os.kill(command, signal.SIGTERM)
    os.kill(command, signal.SIGKILL)


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
    sys.exit(guard(int(sys.argv[1]), sys.argv[2:]))
