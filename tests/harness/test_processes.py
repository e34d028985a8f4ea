"""What a command leaves behind in the harness itself."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from harness.host.processes import Limits, StopCause, run_process


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors in /proc")
def test_a_child_that_hides_and_keeps_the_pipes_holds_neither_thread_nor_descriptor(tmp_path: Path) -> None:
    """Without the environment of the run and in a session of its own, it is not found and goes on."""
    command = ["bash", "-c", "env -i setsid sleep 5 & echo done"]
    before = (threading.active_count(), len(os.listdir("/proc/self/fd")))  # noqa: PTH208
    finished = run_process(command, cwd=tmp_path, env=dict(os.environ), limits=Limits(wall=30))
    assert (finished.stdout, finished.cause) == (b"done\n", StopCause.EXITED)
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before  # noqa: PTH208
