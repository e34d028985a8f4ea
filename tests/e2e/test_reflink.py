"""--link_mode reflink on a file system that can: tasks of the same bytes, which take no room of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import REPOSITORY, script
from tests.support.reflinks import with_reflinks

pytestmark = pytest.mark.e2e


def used(place: Path) -> int:
    """Bytes in use on the file system, once all is written."""
    os.sync()
    found = os.statvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def test_projects_share_their_blocks_with_the_benchmarks(tmp_path: Path) -> None:
    try:
        with with_reflinks(tmp_path / "disk") as disk:
            sample = shutil.copytree(REPOSITORY / "data" / "sample", disk / "sample")
            (min((sample / "generated").iterdir()) / "large.dat").write_bytes(os.urandom(8_000_000))
            dataset = disk / "dataset.jsonl"
            assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
            before = used(disk)
            made = script(
                *("run_adapter.py", "--data_dir", sample, "--dataset_path", dataset, "--limit", "8", "--quiet"),
                *("--link_mode", "reflink", "--output_dir", disk / "reflink"),
            )
            assert made.returncode == 0, made.stderr
            assert used(disk) - before < 8_000_000
            assert len(list((disk / "reflink").glob("*/environment/project/large.dat"))) == 8
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system with reflinks can be mounted here: {error}")


def test_where_the_file_system_cannot_it_says_so_for_each_task(tmp_path: Path) -> None:
    dataset, sample = tmp_path / "dataset.jsonl", REPOSITORY / "data" / "sample"
    assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
    arguments = ("--data_dir", sample, "--dataset_path", dataset, "--output_dir", tmp_path / "tasks", "--limit", "2")
    made = script("run_adapter.py", *arguments, "--link_mode", "reflink", "--quiet")
    if made.returncode == 0:
        pytest.skip("the folder for temporary files has reflinks")
    assert made.returncode == 1
    assert "reflink" in made.stderr
