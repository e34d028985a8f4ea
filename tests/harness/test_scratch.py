"""Temporary folders of runs: none outlives its process for long, and what was kept for the user stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.isolator import EnvironmentIsolator
from harness.sandbox import scratch
from tests.support.suite import environment

KILLED = (
    "import os, signal, pathlib\n"
    "from harness.isolator import EnvironmentIsolator; from harness.sandbox import scratch\n"
    "isolator = EnvironmentIsolator(pathlib.Path('.'))\n"
    "kept = isolator.create_environment(); kept.keep_project(); scratch.keep(kept.path)\n"
    "isolator.create_environment().keep_project()\n"
    "isolator.create_environment(); os.kill(os.getpid(), signal.SIGKILL)"
)


def test_what_a_killed_process_left_goes_when_another_starts_and_a_kept_project_stays(tmp_path: Path) -> None:
    mine = EnvironmentIsolator(tmp_path / "..").create_environment()
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env=environment(), check=False)
    assert len(list(filter(Path.is_dir, tmp_path.iterdir()))) == 3
    with EnvironmentIsolator(tmp_path).create_environment() as env:
        kept = [path for path in tmp_path.iterdir() if not path.name.startswith(env.temp_root.name)]
    assert [sorted(os.listdir(path)) for path in kept] == [[scratch.KEPT, "project"]]  # noqa: PTH208
    assert mine.path.is_dir()
    mine.cleanup()


def test_a_folder_in_use_is_no_other_processes_to_remove(tmp_path: Path) -> None:
    mine = scratch.new(base=tmp_path)
    code = f"import pathlib; from harness.sandbox import scratch; scratch.new(base=pathlib.Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment(), check=True)
    assert mine.is_dir()
    scratch.remove(mine)


def test_a_removal_that_was_killed_is_finished(tmp_path: Path) -> None:
    (tmp_path / f"{scratch.PREFIX}x").mkdir()
    (tmp_path / f"{scratch.PREFIX}x{scratch.IN_USE}").touch()
    scratch.remove(scratch.new(base=tmp_path))
    assert list(tmp_path.iterdir()) == []
