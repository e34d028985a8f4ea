"""The agent was root in its container: whatever it did there, the real Harbor reads the true reward or 0."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from locobench.reading import MAX_ANSWER_BYTES
from tests.e2e.conftest import REPOSITORY, script, task_folders
from tests.e2e.tamperings import AT_THE_ANSWER, BESIDE_THE_ANSWER
from tests.e2e.test_harbor import run_all

pytestmark = pytest.mark.e2e

TAMPERINGS = {**BESIDE_THE_ANSWER, **AT_THE_ANSWER}
IMAGE = "locobench-hostile:e2e"
HAND_IN = "cp /solution/solution.md /app/solution.md"
# The collect hook cannot run when its working folder is gone, so one agent does all else and another that.
WITH_ANSWER = {
    "the answer beside all but one": [name for name in BESIDE_THE_ANSWER if name != "working folder gone"],
    "the answer without the working folder": ["reward planted", "working folder gone"],
}


@dataclass(frozen=True)
class Job:
    """A finished job: its folder, and what became of each script's trial, by the script's name."""

    folder: Path
    trials: dict[str, dict[str, Any]]

    def reward(self, name: str) -> float | None:
        result = self.trials[name]["verifier_result"]
        return float(result["rewards"]["reward"]) if result else None


def steps(names: list[str]) -> str:
    """Return the shell commands that hand in the oracle's answer and then do all of `names`, each in its own shell."""
    return "\n".join([HAND_IN, *(f"({TAMPERINGS[name]})" for name in names)])


def run_hostile(provided: dict[str, str], tasks: Path, scripts: dict[str, str], folder: Path) -> Job:
    """Run every script as the oracle of a copy of the one task in `tasks`: one job, and one image, built once."""
    (task,) = task_folders(tasks)
    subprocess.run(
        ["docker", "build", "--quiet", "--tag", IMAGE, task / "environment"], check=True, capture_output=True
    )
    for number, shell in enumerate(scripts.values()):
        copy = shutil.copytree(task, folder / "tasks" / f"{number:02}")
        (copy / "solution" / "solve.sh").write_text(f"#!/bin/bash\n{shell}\n")
        config = (copy / "task.toml").read_text()
        assert config.count("\n[environment]\n") == 1
        (copy / "task.toml").write_text(
            config.replace("\n[environment]\n", f'\n[environment]\ndocker_image = "{IMAGE}"\n')
        )
    trials = run_all(provided, folder / "tasks", "oracle", folder / "jobs")
    return Job(folder / "jobs", {name: trials[f"{number:02}"] for number, name in enumerate(scripts)})


def one_task(provided: dict[str, str], tasks: Path, folder: Path, *flags: str) -> Path:
    """Generate a Python task into `folder` with run_adapter.py's `flags`."""
    name = next(path.name for path in task_folders(tasks) if path.name.startswith("python_"))
    done = script(
        "run_adapter.py", "--dataset_path", tasks.parent / "dataset.jsonl", "--task_ids", name, "--output_dir", folder,
        "--data_dir", REPOSITORY / "data" / "sample", "--base_image", provided["BASE_IMAGE"], *flags,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def separate(provided: dict[str, str], tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("separate")
    scripts = {**TAMPERINGS, **{name: steps(names) for name, names in WITH_ANSWER.items()}}
    return run_hostile(provided, one_task(provided, tasks, folder / "task"), scripts, folder)


def test_a_fresh_container_scores_every_trial(separate: Job) -> None:
    assert {name: trial["exception_info"] for name, trial in separate.trials.items() if trial["exception_info"]} == {}
    assert {trial["verifier_environment_mode"] for trial in separate.trials.values()} == {"separate"}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_nothing_earns_a_reward_without_an_answer(separate: Job, name: str) -> None:
    assert separate.reward(name) == 0.0


@pytest.mark.parametrize("name", WITH_ANSWER)
def test_the_oracles_answer_earns_its_reward_all_the_same(separate: Job, name: str) -> None:
    assert separate.reward(name) == 1.0


def test_no_more_than_the_verifier_reads_is_copied_home(separate: Job) -> None:
    trials = separate.trials.items()
    homes = {name: Path(trial["config"]["trials_dir"]) / trial["trial_name"] for name, trial in trials}
    copied = {
        name: sum(path.lstat().st_size for path in home.glob("artifacts/app/**/*") if not path.is_dir())
        for name, home in homes.items()
    }
    assert all(home.is_dir() for home in homes.values())
    assert copied["answer is 3 GB of nothing"] == max(copied.values()) == MAX_ANSWER_BYTES
    assert copied["answer is a pipe"] == 0
