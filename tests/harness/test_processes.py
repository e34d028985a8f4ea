"""What a command leaves behind: no process, no descriptor, no thread."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.sandbox.processes import Command, Limits, StopCause
from tests.support.suite import environment

HIDDEN = "env -i setsid sleep 300 & echo $!"
"""A child without the environment, session and group of its run."""

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a child subreaper is Linux's own")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends_within(seconds: float, pids: list[int]) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


def run(tmp_path: Path, command: str, wall: float = 30) -> tuple[bytes, StopCause, int | None]:
    finished = Command(["bash", "-c", command], cwd=tmp_path, env=dict(os.environ), limits=Limits(wall=wall)).run()
    return finished.stdout, finished.cause, finished.returncode


@ON_LINUX
def test_a_child_that_hides_and_keeps_the_pipes_is_ended_and_leaves_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    before = (threading.active_count(), len(os.listdir("/proc/self/fd")))  # noqa: PTH208
    stdout, cause, code = run(tmp_path, HIDDEN)
    assert (cause, code) == (StopCause.EXITED, 0)
    assert not alive(int(stdout))
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before  # noqa: PTH208


@ON_LINUX
def test_a_fork_in_the_middle_of_execve_is_ended(tmp_path: Path) -> None:
    """Children that start others all the time, each without the environment of the run."""
    command = "f() { env -i setsid bash -c 'sleep 300' & echo $!; }; for i in {1..60}; do f; done; exit 3"
    stdout, _, code = run(tmp_path, command)
    assert code == 3
    assert not [pid for pid in map(int, stdout.split()) if alive(pid)]


@ON_LINUX
def test_a_command_that_kills_its_guardian_dies_with_it(tmp_path: Path) -> None:
    _, cause, code = run(tmp_path, "kill -9 $PPID; sleep 300")
    assert (cause, code) == (StopCause.EXITED, 128 + signal.SIGKILL)


def test_a_command_runs_and_is_ended_where_a_thousand_files_are_open(tmp_path: Path) -> None:
    """A folder of 600 others in each other, removed by several threads, opens as many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 1200)), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert run(tmp_path, "exit 3")[1:] == (StopCause.EXITED, 3)
        assert run(tmp_path, "sleep 300", wall=0.2)[1] is StopCause.TIMEOUT
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_command_is_killed_by_a_signal_as_its_return_code_says(tmp_path: Path) -> None:
    assert run(tmp_path, "kill -TERM $$")[2] == 128 + signal.SIGTERM


def test_the_environment_is_the_one_that_was_given(tmp_path: Path) -> None:
    """Where the locale is C, Python adds LC_CTYPE."""
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}
    finished = Command(["env"], cwd=tmp_path, env=env, limits=Limits(wall=30)).run()
    names = {line.partition(b"=")[0] for line in finished.stdout.splitlines()}
    assert names - {b"LC_CTYPE"} == {b"PATH", b"ONLY"}


def test_a_command_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Command(["no-such-command"], cwd=tmp_path, env=dict(os.environ), limits=Limits(wall=30)).run()


@ON_LINUX
def test_a_killed_owner_takes_everything_with_it(tmp_path: Path) -> None:
    """No handler of ours runs after SIGKILL: the guardian sees that its owner is gone."""
    code = (
        "import os, pathlib; from harness.sandbox.processes import *; "
        f"Command(['bash', '-c', {HIDDEN + ' > pids; echo $$ >> pids; touch ready; sleep 300'!r}], "
        "cwd=pathlib.Path.cwd(), env=dict(os.environ), limits=Limits(wall=60)).run()"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment())
    try:
        until = time.monotonic() + 20
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            time.sleep(0.02)
        pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
        assert all(map(alive, pids))
    finally:
        owner.kill()
        owner.wait()
    assert ends_within(2, pids)
