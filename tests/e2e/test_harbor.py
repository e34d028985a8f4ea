"""The sample's tasks in the real Harbor: all of them are seen, the oracle earns 1.0, doing nothing earns 0.0."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import generate_sample, harbor_environment, script, task_folders

pytestmark = pytest.mark.e2e

OVERLAY = Path(__file__).with_name("offline.yaml")
# A trial mostly waits for the engine; twice the processors is where more stops helping.
CONCURRENCY = 2 * (os.cpu_count() or 1)

Trials = dict[str, dict[str, Any]]
"""Each trial's result.json by the name of its task's folder."""


def harbor(provided: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [provided["HARBOR"], *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=harbor_environment())


def harbor_view(provided: dict[str, str], tasks: Path) -> dict[str, dict[str, Any]]:
    program = Path(__file__).with_name("harbor_view.py")
    result = subprocess.run([provided["HARBOR_PYTHON"], program, tasks], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    view: dict[str, dict[str, Any]] = json.loads(result.stdout)
    return view


def run_all(provided: dict[str, str], tasks: Path, agent: str, folder: Path) -> Trials:
    """Run `agent` on all tasks; return each trial's result.json by the name of its task's folder."""
    started = time.monotonic()
    result = harbor(
        provided,
        *("run", "--path", tasks, "--agent", agent, "--n-concurrent", str(CONCURRENCY), "--yes", "--quiet"),
        *("--jobs-dir", folder, "--job-name", agent, "--extra-docker-compose", OVERLAY),
    )
    assert result.returncode == 0, result.stdout + result.stderr
    trials = [json.loads(path.read_text()) for path in sorted((folder / agent).glob("*/result.json"))]
    print(f"harbor: {agent}, {len(trials)} trials in {time.monotonic() - started:.0f} s, {CONCURRENCY} at once")
    return {Path(trial["task_id"]["path"]).name: trial for trial in trials}


def rewards(trials: Trials) -> Counter[str]:
    """Count the trials by what came out of them: the rewards as Harbor read them, or the exception."""
    return Counter(
        trial["exception_info"]["exception_type"]
        if trial["exception_info"]
        else str(trial["verifier_result"]["rewards"])
        for trial in trials.values()
    )


def names(tasks: Path) -> set[str]:
    return {path.name for path in task_folders(tasks)}


def test_every_task_fits_harbors_schema_to_the_last_key(provided: dict[str, str], tasks: Path) -> None:
    faults = {name: seen["faults"] for name, seen in harbor_view(provided, tasks).items() if seen["faults"]}

    assert faults == {}


def test_a_dry_run_counts_every_task(provided: dict[str, str], tasks: Path) -> None:
    result = harbor(provided, "run", "--path", tasks, "--agent", "oracle", "--dry-run")

    counted = re.search(r"(\d+) trial", result.stdout)
    assert counted is not None, result.stdout + result.stderr
    assert int(counted[1]) == len(names(tasks)) > 0


@pytest.fixture(scope="module")
def some(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a task of each language, since trials take minutes; with all of them if E2E_ALL is set."""
    if os.environ.get("E2E_ALL"):
        return tasks
    chosen = tmp_path_factory.mktemp("some")
    for folder in {folder.name.partition("_")[0]: folder for folder in task_folders(tasks)}.values():
        shutil.copytree(folder, chosen / folder.name)
    return chosen


@pytest.fixture(scope="module")
def oracle(provided: dict[str, str], some: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Trials]:
    """The folder of a job in which the oracle did these tasks, and its trials."""
    folder = tmp_path_factory.mktemp("oracle")
    return folder, run_all(provided, some, "oracle", folder)


def test_the_oracle_earns_one_on_every_task(oracle: tuple[Path, Trials], some: Path) -> None:
    _, trials = oracle

    assert trials.keys() == names(some)
    assert rewards(trials) == {"{'reward': 1.0}": len(trials)}


def test_the_oracles_answers_come_home_as_artifacts(oracle: tuple[Path, Trials], some: Path) -> None:
    folder, trials = oracle

    for task in task_folders(some):
        (answer,) = folder.glob(f"oracle/{trials[task.name]['trial_name']}/artifacts/**/solution.md")
        assert answer.read_bytes() == (task / "solution" / "solution.md").read_bytes()


def test_doing_nothing_earns_nothing(provided: dict[str, str], some: Path, tmp_path: Path) -> None:
    trials = run_all(provided, some, "nop", tmp_path)

    assert trials.keys() == names(some)
    assert rewards(trials) == {"{'reward': 0.0}": len(trials)}


def test_generating_again_keeps_every_digest(provided: dict[str, str], tasks: Path, tmp_path: Path) -> None:
    again = generate_sample(tmp_path, provided["BASE_IMAGE"])

    assert harbor_view(provided, again) == harbor_view(provided, tasks)


def test_real_scenarios_run_in_harbor(provided: dict[str, str], real_data: Path, tmp_path: Path) -> None:
    dataset, folder = tmp_path / "dataset.jsonl", tmp_path / "tasks"
    assert script("extract_dataset.py", "--data_dir", real_data, "--output", dataset).returncode == 0
    ids = [json.loads(line)["id"] for line in dataset.read_text().splitlines()]
    three = [next(name for name in ids if name.startswith(language)) for language in ("c_", "python_", "java_")]
    done = script(
        *("run_adapter.py", "--dataset_path", dataset, "--data_dir", real_data, "--task_ids", *three),
        *("--output_dir", folder, "--base_image", provided["BASE_IMAGE"]),
    )
    assert done.returncode == 0, done.stderr
    expected = {"oracle": 1.0, "nop": 0.0}
    with ThreadPoolExecutor() as pool:
        jobs = pool.map(lambda agent: run_all(provided, folder, agent, tmp_path / "jobs"), expected)
        assert list(map(rewards, jobs)) == [{str({"reward": reward}): 3} for reward in expected.values()]
