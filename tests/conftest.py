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
from hypothesis import Phase, settings

from tests.support.data_builder import Data
from tests.support.in_process import run_in_process

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLE = REPOSITORY / "data" / "sample"

# The same examples every time, so that no change fails by chance; a failure is shown as found, because making it small
# may take minutes. `make fuzz` looks for new ones, and `pytest --hypothesis-profile=search` makes one small.
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate, Phase.target]
)
settings.register_profile("search", derandomize=False, deadline=None, print_blob=True)
settings.load_profile("ci")

# What a command prints must not depend on the terminal of whoever runs the tests; pytest-xdist tells its workers of it.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Hundreds of tests start an interpreter, and each would compile the packages anew if it could not keep the bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The workers have a processor each: threads of numpy would only wait for each other, and take twice the time for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

Script = Callable[..., subprocess.CompletedProcess[str]]


def default_signals() -> None:
    """For `preexec_fn`: tests in the background ignore SIGINT, those under nohup SIGHUP, and so do their children."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


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


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than processors: a quarter of the tests' time is waiting, for a limit or a browser."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let every worker begin with slow tests, so that at the end quick ones are left and none is alone with a slow one.

    pytest-xdist cuts the list into a part for each worker. Modules stay whole in them, for their fixtures.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    slow: dict[Path, list[pytest.Item]] = {}
    quick = []
    for item in items:
        if item.get_closest_marker("slow"):
            slow.setdefault(item.path, []).append(item)
        else:
            quick.append(item)
    modules = list(slow.values())
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        own = [item for module in modules[worker::workers] for item in module]
        room = (worker + 1) * len(items) // workers - len(ordered) - len(own)
        ordered += own + quick[: max(0, room)]
        del quick[: max(0, room)]
    items[:] = ordered + quick


@pytest.fixture
def script() -> Script:
    """Run a top-level script: `script("select_tasks.py", "--top_n", 3)`; options are those of `subprocess.run`.

    A call with `env` or `umask` starts an interpreter of its own, any other runs in this process.
    """

    def run(name: str, *arguments: object, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        given = list(map(str, arguments))
        if not options:
            return run_in_process(REPOSITORY / name, given, cwd=cwd)
        command = [sys.executable, str(REPOSITORY / name), *given]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=cwd, **options)

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
