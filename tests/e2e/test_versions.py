"""The newest Harbor that is supported; all other tests use the oldest. The same rewards, and one comparison."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from measure.compare.comparison import compare
from measure.results.harbor import load_jobs
from tests.e2e.conftest import task_folders
from tests.e2e.test_harbor import harbor, run_all
from tests.support.suite import harness

pytestmark = pytest.mark.e2e

SOME = 3


@pytest.fixture(scope="module")
def some(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few tasks of the sample."""
    folder = tmp_path_factory.mktemp("some")
    for task in task_folders(tasks)[:SOME]:
        shutil.copytree(task, folder / task.name)
    return folder


def test_the_oracle_is_better_than_nothing_on_the_newest_version(
    provided: dict[str, str], some: Path, tmp_path: Path
) -> None:
    chosen = {**provided, "HARBOR": provided["HARBOR_NEWEST"]}
    for agent in ("nop", "oracle"):
        run_all(chosen, some, agent, tmp_path)
    nop, oracle = (load_jobs(tmp_path / agent) for agent in ("nop", "oracle"))
    assert Counter(run.overall_score for run in nop) == {0.0: SOME}
    assert Counter(run.overall_score for run in oracle) == {1.0: SOME}
    assert all(run.measured and run.conditions.verifier_mode == "separate" for run in (*nop, *oracle))
    assert all(run.fingerprints.task_content for run in oracle)  # by Harbor's digest: the task is the one that ran
    comparison = compare(nop, oracle)
    assert (comparison.decision.difference, comparison.loss.a.lost, comparison.loss.b.lost) == (1.0, 0, 0)


def test_a_job_with_headers_is_accepted_by_the_newest_version(
    provided: dict[str, str], some: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harbor writes what it understood into the job's config.json."""
    server = {"type": "http", "url": "https://search.example.com/mcp", "headers": {"Authorization": "token ${TOKEN}"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"s": server}}))
    shown = harness(tmp_path, "plan", str(some), "--agent", "nop", "--mcp-config", "mcp.json", "--budget-usd", "1")
    assert shown.returncode == 0, shown.stderr
    job = tmp_path / "with.yaml"
    assert YAML(typ="safe").load(job.read_text())["agents"][0]["mcp_servers"][0]["headers"]
    chosen = {**provided, "HARBOR": provided["HARBOR_NEWEST"]}
    monkeypatch.setenv("TOKEN", "search-0123456789")
    done = harbor(chosen, "run", "-y", "-q", "-c", job, "-o", tmp_path / "jobs")
    assert done.returncode == 0, done.stdout + done.stderr
    (run, *_) = load_jobs(tmp_path / "jobs/search")
    config = json.loads((Path(run.source) / "config.json").read_text())
    assert config["agent"]["mcp_servers"][0]["headers"] == server["headers"]
    assert "search-0123456789" not in (Path(run.source) / "config.json").read_text()
