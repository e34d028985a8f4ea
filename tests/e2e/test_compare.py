"""Jobs of the real Harbor, compared: what they show is said, and so is everything that makes it unfair."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import cli
from measure.results.harbor import load_jobs
from tests.e2e.conftest import REPOSITORY, harbor_environment

pytestmark = pytest.mark.e2e

TEST = """#!/bin/bash
rm -f /logs/verifier/reward.*
[ -e /app/lose-the-reward ] && exit 0
[ -s /app/solution.md ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""
SERVER = '[[environment.mcp_servers]]\nname = "search"\ntransport = "streamable-http"\nurl = "http://search/mcp"\n'
SCRIPTED = ("--agent", "tests.e2e.scripted_agent:Scripted")
SEVEN, TWO, ONE, SERVED = "seven", "two", "one", "served"


def write_tasks(folder: Path, count: int, image: str, more: str = "") -> None:
    for number in range(count):
        task = folder / f"sum_{number}"
        for name in ("environment", "tests", "solution"):
            (task / name).mkdir(parents=True)
        (task / "task.toml").write_text(
            'artifacts = ["/app/solution.md"]\n'
            f'[task]\nname = "sums/sum-{number}"\n[metadata]\ncategory = "arithmetic"\n'
            f'[agent]\ntimeout_sec = 60.0\n[environment]\ndocker_image = "{image}"\nmemory_mb = 512\n{more}'
        )
        (task / "instruction.md").write_text(f"Write {number} + 42 into /app/solution.md.\n")
        (task / "tests/test.sh").write_text(TEST)
        (task / "solution/solve.sh").write_text("#!/bin/bash\nmkdir -p /app; echo 42 > /app/solution.md\n")


class Jobs:
    """Jobs started at once; each is waited for when its folder is asked for."""

    def __init__(self, provided: dict[str, str], folder: Path) -> None:
        self.harbor, self.folder = provided["HARBOR"], folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.mcp = folder / "mcp.json"
        self.mcp.write_text('{"mcpServers": {"search": {"type": "http", "url": "http://search/mcp"}}}')

    def start(self, name: str, tasks: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        command = [self.harbor, "run", "--path", self.folder / tasks, "--jobs-dir", self.folder / "jobs"]
        command += ["--job-name", name, "--yes", "--quiet", "--n-concurrent", "1" if name == "cut" else "5"]
        command += ["--extra-docker-compose", Path(__file__).with_name("quick.yaml"), *arguments]
        environment = {**harbor_environment(), "PYTHONPATH": str(REPOSITORY)}
        with (self.folder / f"{name}.log").open("w") as log:
            self.running[name] = subprocess.Popen(
                list(map(str, command)), stdout=log, stderr=log, env=environment, start_new_session=True
            )
        return self.running[name]

    def __getitem__(self, name: str) -> Path:
        assert self.running[name].wait() == 0 or name == "cut", (self.folder / f"{name}.log").read_text()
        return self.folder / "jobs" / name

    def cut(self, name: str, tasks: str) -> None:
        """Kill a job as soon as its first trial is done and the second one begun; take away what it leaves running."""
        process = self.start(name, tasks, *SCRIPTED, "--ak", "deed=dawdle")
        job = self.folder / "jobs" / name
        end = time.monotonic() + 90
        while not list(job.glob("*/result.json")) or len(list(job.glob("*/config.json"))) < 2:
            assert process.poll() is None, "Harbor ended before a trial did"
            assert time.monotonic() < end, "no trial came to its end"
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGKILL)
        for trial in job.glob("*/config.json"):
            project = f"{trial.parent.name}__env".lower()
            subprocess.run(["docker", "rm", "--force", f"{project}-main-1"], capture_output=True)


@pytest.fixture(scope="module")
def jobs(provided: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    folder = tmp_path_factory.mktemp("compared")
    for name, count, more in ((SEVEN, 7, ""), (TWO, 2, ""), (ONE, 1, ""), (SERVED, 1, SERVER)):
        write_tasks(folder / name, count, provided["BASE_IMAGE"], more)
    found = Jobs(provided, folder)
    started = time.monotonic()
    for name, agent in (("nop", "nop"), ("oracle", "oracle"), ("again", "oracle")):
        found.start(name, SEVEN, "--agent", agent)
    found.cut("cut", TWO)
    found.start("plain", ONE, *SCRIPTED)
    found.start("offered", ONE, *SCRIPTED, "--mcp-config", found.mcp)
    found.start("offered-by-task", SERVED, *SCRIPTED)
    found.start("silent", ONE, *SCRIPTED, "--mcp-config", found.mcp, "--ak", "trajectory=false")
    found.start("other-model", ONE, *SCRIPTED, "--model", "some/model-x")
    found.start("lost", ONE, *SCRIPTED, "--ak", "deed=lose")
    found.start("dead", ONE, *SCRIPTED, "--ak", "deed=die")
    for process in found.running.values():
        process.wait()
    print(f"harbor: {len(found.running)} jobs in {time.monotonic() - started:.0f} s")
    yield found
    for process in found.running.values():
        if process.poll() is None:
            process.kill()


def compare(a: Path, b: Path) -> dict[str, object]:
    """The comparison as the command writes it, and what it printed under `shown`."""
    data = b.parent / f"{a.name}-{b.name}.json"
    done = CliRunner().invoke(cli, ["compare", str(a), str(b), "--json", str(data)])
    assert data.is_file(), done.output
    return {**json.loads(data.read_text()), "shown": done.output}


def warnings(a: Path, b: Path) -> str:
    found = compare(a, b)["warnings"]
    assert isinstance(found, list)
    return "\n".join(found)


def test_the_oracle_against_nothing_is_an_improvement_of_all(jobs: Jobs) -> None:
    found = compare(jobs["nop"], jobs["oracle"])

    assert found["verdict"] == "improvement"
    assert "+100.0 points" in str(found["shown"])
    assert "$0.00" not in str(found["shown"])


def test_the_oracle_against_itself_gives_neither_evidence_nor_warning(jobs: Jobs) -> None:
    found = compare(jobs["oracle"], jobs["again"])

    assert found["verdict"] == "no evidence"
    assert found["warnings"] == []


def test_a_job_that_was_killed_half_way_is_named_in_either_arm(jobs: Jobs) -> None:
    for pair in (("plain", "cut"), ("cut", "plain")):
        said = warnings(*(jobs[name] for name in pair))
        assert "cut lost 1 of 2 runs (1 infra_error; " in said


def test_a_job_against_itself_is_refused(jobs: Jobs) -> None:
    done = CliRunner().invoke(cli, ["compare", str(jobs["plain"]), str(jobs["plain"])])
    assert done.exit_code == 2
    assert "name the folder of the other job" in done.output


def test_a_missing_reward_is_named_and_counts_in_no_rate(jobs: Jobs) -> None:
    assert "lost lost 1 of 1 run (" in (said := warnings(jobs["plain"], jobs["lost"]))
    assert "there is no reward" in said


def test_a_killed_container_is_named_and_counts_in_no_rate(jobs: Jobs) -> None:
    assert "dead lost 1 of 1 run (" in (said := warnings(jobs["plain"], jobs["dead"]))
    assert "the container was killed" in said


def test_another_model_is_named(jobs: Jobs) -> None:
    assert "The model differs between the arms: none against model-x" in warnings(jobs["plain"], jobs["other-model"])


@pytest.mark.parametrize("job", ["offered", "offered-by-task"])
def test_a_server_that_an_unknown_agent_did_not_name_is_all_that_is_said(jobs: Jobs, job: str) -> None:
    """Offered by the job or in task.toml, which then is another file: the tasks are the same all the same.

    How this agent records a call of a server nobody knows, so that none found does not mean none made.
    """
    said = warnings(jobs["plain"], jobs[job])

    assert f"Whether {job} used the tool mcp__search__* is not recorded" in said
    assert "differs" not in said


def test_without_a_trajectory_use_is_not_recorded(jobs: Jobs) -> None:
    said = warnings(jobs["plain"], jobs["silent"])

    assert "Whether silent used the tool mcp__search__* is not recorded" in said
    assert "never used" not in said


def test_the_graded_answer_comes_with_the_result(jobs: Jobs) -> None:
    assert {result.trace.result for result in load_jobs(jobs["oracle"])} == {"42\n"}
