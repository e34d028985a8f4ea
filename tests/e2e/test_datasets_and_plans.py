"""Harbor takes what run_adapter.py --dataset_name and `python -m harness plan` write."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.e2e.conftest import REPOSITORY, script, task_folders
from tests.e2e.test_harbor import OVERLAY, harbor, harbor_view, rewards
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


# Harbor gives no server to its own nop, which says of itself that it cannot use one.
AGENT = """
from harbor.agents.nop import NopAgent
from harbor.agents.capabilities import AgentCapabilities


class ServedNop(NopAgent):
    capabilities = AgentCapabilities(mcp_servers=True)
"""


def test_both_jobs_of_a_plan_run(
    provided: dict[str, str], tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in task_folders(tasks)[::40][:2]:
        shutil.copytree(folder, tmp_path / "tasks" / folder.name)
    (tmp_path / "served_nop.py").write_text(AGENT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"s": {"type": "http", "url": "http://s:1/mcp"}}}))
    fixed = ("--mcp-config", "mcp.json", "--budget-usd", "1")
    planned = harness(tmp_path, "plan", str(tmp_path / "tasks"), "--agent", "served_nop:ServedNop", *fixed)
    assert planned.returncode == 0, planned.stderr
    more = {"jobs_dir": str(tmp_path / "jobs"), "environment": {"extra_docker_compose": [str(OVERLAY)]}}

    for name, servers in (("without", []), ("with", ["s"])):
        with (tmp_path / f"{name}.yaml").open("a") as job:
            job.writelines(f"{key}: {json.dumps(value)}\n" for key, value in more.items())
        done = harbor(provided, "run", "-y", "-q", "-c", tmp_path / f"{name}.yaml")
        assert done.returncode == 0, done.stdout + done.stderr
        trials = [json.loads(path.read_text()) for path in (tmp_path / "jobs" / name).glob("*/result.json")]
        assert rewards({trial["trial_name"]: trial for trial in trials}) == {"{'reward': 0.0}": 2}, trials
        for trial in trials:
            given = trial["config"]["agent"].get("mcp_servers", [])
            assert [server["name"] for server in given] == servers
