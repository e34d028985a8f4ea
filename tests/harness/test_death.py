"""Whatever ends a command that started an agent ends the agent, and what was paid for is kept."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from measure.results.files import load_results_file
from tests.conftest import default_signals
from tests.harness.test_processes import ON_LINUX, alive, ends_within
from tests.support.fake_claude import FakeClaude, calls
from tests.support.suite import environment, harness, make_suite

COMMANDS = {
    "run": ["run", "-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml", "-o", "out.json"],
    "matrix": ["matrix", "-t", "tasks/*.yaml", "-c", "configs/*/config.yaml", "-j", "2", "-o", "out.json"],
}


def suite(tmp_path: Path, fake: FakeClaude) -> Path:
    return make_suite(tmp_path / "s", fake=fake)


def started(root: Path, command: str) -> tuple[subprocess.Popen[str], list[int]]:
    """The command with its agents working, and their processes."""
    arguments = [sys.executable, "-m", "harness", *COMMANDS[command], "--claude", str(root / "bin/claude")]
    process = subprocess.Popen(
        arguments, cwd=root, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip
    until = time.monotonic() + 30
    while not (working := calls(root / "bin/claude")) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    return process, [call["pid"] for call in working]


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize(
    ("command", "number"),
    [  # `make trust` sends each to all
        ("run", signal.SIGTERM),
        ("run", signal.SIGKILL),
        ("matrix", signal.SIGINT),
        ("matrix", signal.SIGKILL),
        ("matrix", signal.SIGHUP),
    ],
)
def test_the_agent_ends_with_the_command_that_started_it(tmp_path: Path, command: str, number: signal.Signals) -> None:
    root = suite(tmp_path, FakeClaude(stdout="", delay=300))
    process, agents = started(root, command)
    assert agents
    assert all(map(alive, agents))
    process.send_signal(number)
    process.communicate(timeout=30)
    assert ends_within(2, agents)
    assert process.returncode == (-signal.SIGKILL if number is signal.SIGKILL else 130)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_cannot_be_written_is_found_before_the_first_paid_run(tmp_path: Path, command: str) -> None:
    root = suite(tmp_path, FakeClaude())
    (root / "file").touch()
    shown = harness(root, *COMMANDS[command][:-1], "file/out.json", "--claude", str(root / "bin/claude"))
    assert shown.returncode == 2
    assert "file/out.journal.jsonl: cannot be written" in shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    assert not calls(root / "bin/claude")


KILLED_AT = {
    "before the journal has the run": ("measure.results.journal:Journal.append", 1),
    "before its files are kept": ("harness.sandbox.scratch:keep", 1),
    "before the journal has its grades": ("measure.results.journal:Journal.append", 2),
    "before its files are removed": ("harness.sandbox.scratch:discard", 1),
}
"""Moments of a run: at which call of which function."""

KILLED = """
import os, pkgutil, signal, sys
from harness.cli import cli
function, calls = sys.argv[1], int(sys.argv[2])
owner, _, name = function.replace(":", ".").rpartition(".")
real = pkgutil.resolve_name(function)
def counted(*args):
    global calls
    calls -= 1
    return real(*args) if calls else os.kill(os.getpid(), signal.SIGKILL)
setattr(pkgutil.resolve_name(owner), name, counted)
cli(sys.argv[3:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", KILLED_AT)
def test_a_run_killed_at_any_moment_leaves_no_folder_once_it_was_gone_on_with(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = suite(tmp_path, FakeClaude(writes={"answer.txt": "right"}))
    temp = tmp_path / "temp"
    temp.mkdir()
    arguments = [*COMMANDS["run"], "--claude", str(root / "bin/claude")]
    function, number = KILLED_AT[moment]
    killed = [sys.executable, "-c", KILLED, function, str(number), *arguments]
    ended = subprocess.run(killed, cwd=root, env=environment(TMPDIR=str(temp)), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list(temp.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    assert harness(root, *arguments, "--resume").returncode == 0
    assert list(temp.iterdir()) == []
    assert len(calls(root / "bin/claude")) == (2 if moment == "before the journal has the run" else 1)


@pytest.mark.slow
@ON_LINUX
def test_a_disk_that_gets_full_ends_a_matrix_in_one_line_and_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """A limit on the size of files fails a write in its middle, as a full disk does."""
    root = suite(tmp_path, FakeClaude(writes={"answer.txt": "right"}))
    command = [*COMMANDS["matrix"], "--claude", str(root / "bin/claude"), "--resume"]
    arguments = [sys.executable, "-m", "harness", *command[:-1], "-r", "1"]
    room = 24_000
    shown = subprocess.run(
        arguments,
        cwd=root,
        # The limit would hit the file of a measurement of coverage, too.
        env=environment(COVERAGE_PROCESS_CONFIG=""),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    journal = root / "out.journal.jsonl"
    assert shown.returncode == 2
    assert len(shown.stderr.splitlines()) == 1
    assert str(journal) in shown.stderr
    done = journal.read_bytes()
    assert 0 < done.count(b"\n") < 4
    assert done.endswith(b"\n")
    assert harness(root, *command, "-r", "1").returncode == 0
    assert journal.read_bytes().startswith(done)
    assert load_results_file(root / "out.json").num_results == 4
