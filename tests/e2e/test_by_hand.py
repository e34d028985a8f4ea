"""The example agent that anyone can be: a trial answered from its desk leaves a reward and a trajectory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from measure.results.harbor import load_jobs
from tests.e2e.conftest import REPOSITORY, harbor_environment, task_folders

pytestmark = pytest.mark.e2e

EXAMPLE = REPOSITORY / "examples/by-hand"


def desk(folder: Path, *arguments: str, answer: str | None = None) -> str:
    command = [sys.executable, str(EXAMPLE / "desk.py"), str(folder / "desk"), *arguments]
    done = subprocess.run(command, input=answer, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_task_is_answered_from_the_desk(provided: dict[str, str], tasks: Path, tmp_path: Path) -> None:
    task = task_folders(tasks)[0]
    command = [provided["HARBOR"], "run", "-p", task, "-a", "agent:ByHand", "--ak", f"desk={tmp_path / 'desk'}"]
    command += ["--ak", "max_calls=2", "-y", "-q", "-o", tmp_path / "jobs", "--job-name", "by-hand"]
    command += ["--extra-docker-compose", Path(__file__).with_name("quick.yaml")]
    environment = {**harbor_environment(), "PYTHONPATH": str(EXAMPLE)}
    job = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        title, _, instruction = desk(tmp_path, "next", "120").partition("\n")
        name = title.removeprefix("TASK ")
        assert "You have 2 calls for this task." in instruction
        assert desk(tmp_path, "run", name, "pwd").strip() == "/app/project"
        assert "nothing is here" in desk(tmp_path, "run", name, "echo nothing is here; exit 3")
        assert "No calls are left" in desk(tmp_path, "run", name, "ls")
        desk(tmp_path, "answer", name, answer=(task / "solution/solution.md").read_text())
        printed, _ = job.communicate(timeout=120)
    finally:
        job.kill()

    (run,) = load_jobs(tmp_path / "jobs/by-hand")
    assert run.overall_score == 1.0, printed.decode()
    assert [(call.name, call.error is None) for call in run.trace.tool_calls] == [("Bash", True), ("Bash", False)]
    valid = (
        "import sys; from harbor.models.trajectories import Trajectory as T; T.model_validate_json(sys.stdin.read())"
    )
    with (Path(run.source) / "agent/trajectory.json").open() as trajectory:
        subprocess.run([provided["HARBOR_PYTHON"], "-c", valid], stdin=trajectory, check=True)
