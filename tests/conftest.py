"""Fixtures: the scripts as a user runs them, and benchmark data to run them on."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.data_builder import Data

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLE = REPOSITORY / "data" / "sample"

Script = Callable[..., subprocess.CompletedProcess[str]]


def default_sigint() -> None:
    """For `preexec_fn`: a test run in the background ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def shown_on_a_terminal(command: list[str], **options: Any) -> bytes:
    """Run a command on a pseudo-terminal and return all that it showed there; it must end with exit code 0."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **options)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux tells that the other side is closed
        while chunk := os.read(ours, 65536):
            shown += chunk
    os.close(ours)
    assert process.wait(timeout=60) == 0, shown
    return shown


@pytest.fixture
def script() -> Script:
    """Run a top-level script as a command: `script("select_tasks.py", "--top_n", 3)`."""

    def run(name: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(REPOSITORY / name), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)  # type: ignore[call-overload,no-any-return]

    return run


@pytest.fixture
def data(tmp_path: Path) -> Data:
    """An empty benchmark folder to fill."""
    return Data(tmp_path / "data")


@pytest.fixture(scope="session")
def real_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real scenarios laid out as a data folder, where $LOCOBENCH_REAL names a folder with its materialize.py."""
    source = os.environ.get("LOCOBENCH_REAL", "")
    if not source:
        pytest.skip("LOCOBENCH_REAL names no folder with real scenarios")
    folder = tmp_path_factory.mktemp("real") / "data"
    subprocess.run([sys.executable, Path(source) / "materialize.py", folder], check=True, capture_output=True)
    return folder
