"""A journal has one writer at a time, and room for what is being paid for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from locobench.shared.errors import InputError
from measure.records import EvalResult, ExecutionTrace
from measure.results import journal
from measure.results.journal import Journal, read_journal
from tests.support.results import run
from tests.support.suite import environment
from tools.bench.trust.full_disk import mounted

WRITER = """\
import contextlib, os, sys
from pathlib import Path
from locobench.shared.errors import InputError
from measure.records import EvalResult
from measure.results.journal import Journal
entries = 0
while entries < 300:
    with contextlib.suppress(InputError), Journal(Path("j.jsonl"), EvalResult):
        os.close(os.open("alone", os.O_CREAT | os.O_EXCL))
        entries += 1
        os.unlink("alone")
"""


@pytest.mark.slow
def test_no_two_processes_write_a_journal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) for _ in range(3)]
    assert [writer.communicate()[1].decode() for writer in writers] == ["", "", ""]


def test_a_journal_leaves_no_file_beside_it(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl", EvalResult) as opened:
        opened.append(run("t"))
        assert [path.name for path in tmp_path.iterdir()] == ["j.jsonl"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB: room for one run."""
    try:
        with mounted(tmp_path / "disk", 12_000_000) as folder:
            yield folder
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as ballast, pytest.raises(OSError, match="No space left"):
        while True:
            ballast.write(bytes(4096))


def test_what_was_reserved_takes_a_large_entry_when_the_disk_is_full(disk: Path) -> None:
    large = run("t").model_copy(update={"trace": ExecutionTrace(stderr="x" * (journal.ROOM_BYTES - 10_000))})
    with Journal(disk / "j.jsonl", EvalResult) as opened:
        opened.append(run("t0"))
        opened.reserve()
        fill(disk)
        opened.append(large)
        with pytest.raises(InputError, match=r"j\.jsonl: cannot be written"):
            opened.reserve()
    assert len(read_journal(disk / "j.jsonl")) == 2


def test_a_reservation_is_not_part_of_the_file_and_ends_with_the_journal(disk: Path) -> None:
    before = os.statvfs(disk).f_bavail
    with Journal(disk / "j.jsonl", EvalResult) as opened:
        opened.reserve()
        assert (disk / "j.jsonl").stat().st_size == 0
        with pytest.raises(InputError, match="free some space, then continue"):
            opened.reserve(2)
    assert os.statvfs(disk).f_bavail == before
