"""What the end-to-end tests stand on: what engine.sh and claude.sh provided, and the tasks of the bundled sample."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.stand_in.messages_api import MessagesAPI, Responder

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT_FILE = REPOSITORY / ".cache" / "e2e" / "env"

# In what order the files are started: two processes share them, and the longest must not come last.
LONGEST_FIRST = ("test_exact_questions", "test_hostile_container", "test_harbor", "test_claims", "test_smoke")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files of this folder first; within a file and among the others the order stays."""
    order = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(
        key=lambda item: order.get(item.path.stem, len(order)) if item.path.parent == Path(__file__).parent else -1
    )


def harbor_environment() -> dict[str, str]:
    """The variables that Harbor is started with.

    Without the first it fetches a price list at each start, with a narrow table it cuts names. A trial is some 35
    short calls of Docker's commands: with more room before they collect garbage they take a fifth less of a processor.
    """
    return {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "COLUMNS": "200", "GOGC": "400"}


def script(name: str, *arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of the repository as a user would."""
    command = [sys.executable, str(REPOSITORY / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=env)


def generate_sample(folder: Path, base_image: str) -> Path:
    """Run the three scripts on data/sample and return the folder of tasks."""
    dataset, selection, tasks = folder / "dataset.jsonl", folder / "selection.json", folder / "tasks"
    sample = REPOSITORY / "data" / "sample"
    keep_all = ["--min_context_length", "0", "--min_files_count", "0", "--top_n", "1000"]
    stages: list[list[str | Path]] = [
        ["extract_dataset.py", "--data_dir", sample, "--output", dataset],
        ["select_tasks.py", "--dataset_path", dataset, "--output", selection, *keep_all],
        ["run_adapter.py", "--dataset_path", dataset, "--data_dir", sample, "--selected_tasks", selection],
    ]
    stages[-1] += ["--output_dir", tasks, "--base_image", base_image]
    for name, *arguments in stages:
        result = script(str(name), *arguments)
        assert result.returncode == 0, result.stderr
    return tasks


def task_folders(tasks: Path) -> list[Path]:
    """Return the task directories in the folder `tasks`, sorted; what the generator keeps beside them is left out."""
    return sorted(path for path in tasks.iterdir() if path.is_dir() and not path.name.startswith("."))


@pytest.fixture(scope="session")
def provided() -> dict[str, str]:
    """What engine.sh wrote down: BASE_IMAGE, HARBOR, HARBOR_PYTHON, HARBOR_NEWEST."""
    if not ENVIRONMENT_FILE.is_file():
        pytest.fail("run tests/e2e/engine.sh first (`make e2e` does)")
    return dict(line.split("=", 1) for line in ENVIRONMENT_FILE.read_text().splitlines())


@pytest.fixture(scope="session")
def tasks(provided: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all tasks of the bundled sample."""
    return generate_sample(tmp_path_factory.mktemp("sample"), provided["BASE_IMAGE"])


@pytest.fixture(scope="session")
def claude() -> Path:
    path = Path(os.environ.get("HARNESS_E2E_CLAUDE", REPOSITORY / ".cache" / "e2e" / "claude"))
    if not path.exists():
        pytest.fail(f"{path} is missing; run tests/e2e/claude.sh or set HARNESS_E2E_CLAUDE")
    return path


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Responder], MessagesAPI]]:
    """Starts a stand-in and points the environment to it."""
    started: list[MessagesAPI] = []

    def start(responder: Responder) -> MessagesAPI:
        server = MessagesAPI(responder)
        server.__enter__()
        started.append(server)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-stand-in")
        monkeypatch.setenv("IS_SANDBOX", "1")
        return server

    yield start
    for server in started:
        server.__exit__()
