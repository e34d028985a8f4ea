"""`make trust` in short: parts of it still try their faults, and they hold; the others take longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.test_processes import ON_LINUX
from tests.support.suite import REPOSITORY, environment

PARTS = {
    "generation": ["--kills", "1"],
    "odd": ["--minutes", "0"],
}


@ON_LINUX
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_faults_are_tried_and_hold(tmp_path: Path, part: str) -> None:
    command = [sys.executable, "-m", "tools.bench.trust", "--dry-run", "--only", part, *PARTS[part], "--seed", "1"]
    shown = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment(TMPDIR=str(tmp_path), HARNESS_E2E_CLAUDE=str(tmp_path / "none")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "| 1 | 1 |" in shown.stdout
