"""Harbor takes what run_adapter.py --dataset_name and `python -m harness plan` write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import REPOSITORY, harbor_environment, script, task_folders
from tests.e2e.test_harbor import harbor, harbor_view
from tests.support.suite import harness

pytestmark = pytest.mark.e2e


def test_the_manifest_has_harbors_own_digest_of_every_task(provided: dict[str, str], tmp_path: Path) -> None:
    sample, dataset, tasks = REPOSITORY / "data/sample", tmp_path / "d.jsonl", tmp_path / "tasks"
    assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
    places = ("--data_dir", sample, "--dataset_path", dataset, "--output_dir", tasks)
    assert script("run_adapter.py", *places, "--dataset_name", "org/set").returncode == 0

    manifest = tomllib.loads((tasks / "dataset.toml").read_text())["tasks"]
    seen = {name: view for name, view in harbor_view(provided, tasks).items() if not name.startswith(".")}

    assert len(manifest) == len(task_folders(tasks))
    assert {task["name"].partition("/")[2].replace("-", "_"): task["digest"] for task in manifest} == {
        name.replace("-", "_"): f"sha256:{view['digest']}" for name, view in seen.items()
    }
    # Harbor writes the same manifest by itself: nothing is left to bring up to date.
    before = (tasks / "dataset.toml").read_text()
    synced = harbor(provided, "sync", tasks)
    assert synced.returncode == 0, synced.stdout + synced.stderr
    assert tomllib.loads((tasks / "dataset.toml").read_text()) == tomllib.loads(before)


@pytest.fixture
def served(provided: dict[str, str], tmp_path: Path) -> Iterator[None]:
    """A folder with two tasks and mcp.json, and the example's server over their projects."""
    sample, dataset, example = REPOSITORY / "data/sample", tmp_path / "d.jsonl", REPOSITORY / "examples/code-search"
    assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
    made = script(
        *("run_adapter.py", "--data_dir", sample, "--dataset_path", dataset, "--limit", "2"),
        *("--output_dir", tmp_path / "tasks", "--mirror_repos", tmp_path / "repos"),
        *("--base_image", provided["BASE_IMAGE"]),
    )
    assert made.returncode == 0, made.stderr
    shown = subprocess.check_output(["ip", "-4", "-o", "address", "show", "docker0"], text=True)
    address = shown.partition("inet ")[2].partition("/")[0]
    command = [sys.executable, str(example / "server.py"), str(tmp_path / "repos"), "--host", address, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = urlsplit(server.stdout.readline().split()[-1]).port
    servers = (example / "mcp.json").read_text().replace("8765", str(port))
    (tmp_path / "mcp.json").write_text(servers)
    yield
    server.terminate()
    server.communicate(timeout=20)


PLANNED = ("--agent", "scripted_agent:ScriptedAgent", "--mcp-config", "mcp.json", "--budget-usd", "1", "-o", "plan")


def walk(provided: dict[str, str], folder: Path, *options: str) -> str:
    """Plan two jobs, run what the plan prints, and return what the comparison says."""
    places = f"{REPOSITORY / 'examples/code-search'}:{REPOSITORY}"
    planned = harness(folder, "plan", "tasks", *PLANNED, *options, PYTHONPATH=places)
    assert planned.returncode == 0, planned.stderr
    *commands, compare = planned.stdout.partition("if you can:\n")[2].splitlines()

    tools = f"{Path(sys.executable).parent}:{Path(provided['HARBOR']).parent}:{os.environ['PATH']}"
    environment = harbor_environment() | {"PATH": tools}
    environment.pop("PYTHONPATH", None)
    for lines, codes in ((commands, {0}), ([commands[0], compare], {0, 2})):  # 2: two tasks are too few for a verdict
        done = subprocess.run(
            ["bash", "-e"], input="\n".join(lines), cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode in codes, done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


def check_rewards(folder: Path, earned: dict[str, bool]) -> None:
    """Check that the trials of each arm ended well, and whether they earned anything."""
    for arm, something in earned.items():
        trials = [json.loads(path.read_text()) for path in (folder / "jobs" / arm).glob("*/result.json")]
        assert [trial["exception_info"] for trial in trials] == [None, None]
        assert [trial["verifier_result"]["rewards"]["reward"] > 0 for trial in trials] == [something, something]


@pytest.mark.usefixtures("served")
def test_what_a_plan_prints_runs_as_it_is(provided: dict[str, str], tmp_path: Path) -> None:
    assert "mcp__code-search__search" in walk(provided, tmp_path)
    check_rewards(tmp_path, {"no-search": False, "search": True})


@pytest.mark.usefixtures("served")
def test_a_server_is_compared_with_the_code_at_hand(provided: dict[str, str], tmp_path: Path) -> None:
    both = script(
        *("run_adapter.py", "--data_dir", REPOSITORY / "data/sample", "--dataset_path", tmp_path / "d.jsonl"),
        *("--limit", "2", "--output_dir", tmp_path / "tasks", "--remote_output_dir", tmp_path / "far"),
        *("--mcp_config", tmp_path / "mcp.json", "--base_image", provided["BASE_IMAGE"]),
    )
    assert both.returncode == 0, both.stderr
    said = walk(provided, tmp_path, "--remote", "far")

    # The scripted agent reads no code: what it earns comes from the server.
    check_rewards(tmp_path, {"clone": False, "remote": True})
    assert "whether remote is better or worse than clone" in said
    assert "2 better (100 %)" in said
    assert "mcp__code-search__search" in said
    assert "differ" not in said.replace("difference", "")
    assert not list((tmp_path / "far").glob("*/environment/project"))
