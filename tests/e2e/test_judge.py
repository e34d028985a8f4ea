"""Judge, custom verifier and tasks without the code in the real Harbor; the judge is a stand-in on this host."""

from __future__ import annotations

import ipaddress
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import task_folders
from tests.e2e.test_harbor import run_all
from tests.e2e.test_hostile_container import one_task
from tests.pipeline.test_custom_verifier import EXAMPLE
from tests.pipeline.test_judging import GRADE
from tests.support.stand_in.messages_api import MessagesAPI, Request, Text, always

pytestmark = pytest.mark.e2e

KEY = "sk-e2e-5b0c6c1e9f7a4d2d8e3f"


@dataclass(frozen=True)
class Job:
    folder: Path
    trials: dict[str, dict[str, Any]]
    requests: list[Request]

    def rewards(self, name: str) -> dict[str, float] | None:
        result = self.trials[name]["verifier_result"]
        return result["rewards"] if result else None

    def file(self, name: str, path: str) -> Path:
        return self.folder / "jobs" / "oracle" / str(self.trials[name]["trial_name"]) / path

    def metrics(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file(name, "verifier/metrics.json").read_text())
        return found


def host_address() -> str:
    """The address under which containers reach this host: that of Docker's own bridge."""
    form = "{{json (index .IPAM.Config 0)}}"
    done = subprocess.run(["docker", "network", "inspect", "bridge", "-f", form], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    network = json.loads(done.stdout)
    # An engine that finds its bridge there already names no gateway; it is the subnet's first address.
    return str(network.get("Gateway") or next(ipaddress.ip_network(network["Subnet"]).hosts()))


@pytest.fixture(scope="module")
def job(provided: dict[str, str], tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """One job of five tasks: judged, judged without the code, no answer, a judge that is down, a custom verifier."""
    folder = tmp_path_factory.mktemp("judge")
    own = folder / "my_verify.py"
    own.write_text(EXAMPLE)
    made = {
        "judged": ["--verifier", "judge"],
        "closed": ["--verifier", "judge", "--closed_book"],
        "custom": ["--verifier", str(own)],
    }
    for name, flags in made.items():
        (task,) = task_folders(one_task(provided, tasks, folder / "made" / name, *flags))
        shutil.copytree(task, folder / "tasks" / name)
    for name in ("silent", "down"):
        shutil.copytree(folder / "tasks" / "judged", folder / "tasks" / name)
    (folder / "tasks/silent/solution/solve.sh").write_text("#!/bin/bash\ntrue\n")
    config = folder / "tasks/down/task.toml"
    config.write_text(config.read_text().replace("${JUDGE_BASE_URL:-}", f"http://{host_address()}:9"))
    with MessagesAPI(always(Text(json.dumps(GRADE))), host_address()) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_BASE_URL", service.url)
        patch.setenv("JUDGE_API_KEY", KEY)
        trials = run_all(provided, folder / "tasks", "oracle", folder / "jobs")
    return Job(folder, trials, service.requests)


@pytest.mark.parametrize("name", ["judged", "closed"])
def test_the_reward_is_the_judges_grade(job: Job, name: str) -> None:
    assert job.trials[name]["exception_info"] is None
    assert job.rewards(name) == {"reward": GRADE["overall"] / 100}  # type: ignore[operator]
    metrics = job.metrics(name)
    assert metrics["judge"]["overall"] == GRADE["overall"]
    assert metrics["deterministic"]["reward"] == 1.0
    assert metrics["judge"]["cost_usd"] > 0


def test_the_judge_is_shown_code_that_the_agents_image_has_or_not(job: Job) -> None:
    assert len(job.requests) == 2
    for request in job.requests:
        assert "## The code" in request.body["messages"][0]["content"]
    assert list((job.folder / "tasks/closed/environment").iterdir()) == [
        job.folder / "tasks/closed/environment/Dockerfile"
    ]


def test_no_answer_is_zero_without_a_call(job: Job) -> None:
    assert job.rewards("silent") == {"reward": 0.0}


def test_a_judge_that_is_down_leaves_the_trial_ungraded(job: Job) -> None:
    assert job.rewards("down") is None
    assert job.trials["down"]["exception_info"]["exception_type"] == "RewardFileNotFoundError"
    metrics = job.metrics("down")
    assert metrics["problem_kind"] == "judge"
    assert metrics["problem"].startswith("the service cannot be reached")
    assert metrics["deterministic"]["reward"] == 1.0


def test_the_key_is_in_no_task_log_or_result(job: Job) -> None:
    assert all(request.headers.get("X-Api-Key") == KEY for request in job.requests)
    holding = [path for path in job.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holding == []
    part = KEY[8:24].encode()
    assert [path for path in job.folder.rglob("*") if path.is_file() and part in path.read_bytes()] == []


def test_the_custom_verifier_of_the_docs_grades(job: Job) -> None:
    assert job.trials["custom"]["exception_info"] is None
    metrics = job.metrics("custom")
    assert job.rewards("custom") == {"reward": metrics["reward"]}
    assert 0 < metrics["reward"] <= 1
    assert metrics["named"]
