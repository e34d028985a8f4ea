"""A custom verifier in the real Harbor, on tasks with and without the code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import task_folders
from tests.e2e.test_harbor import run_all
from tests.e2e.test_hostile_container import one_task
from tests.pipeline.test_custom_verifier import EXAMPLE

pytestmark = pytest.mark.e2e


def test_the_custom_verifier_of_the_docs_grades(provided: dict[str, str], tasks: Path, tmp_path: Path) -> None:
    own = tmp_path / "my_verify.py"
    own.write_text(EXAMPLE)
    for name, flags in (("custom", ()), ("closed", ("--closed_book",))):
        (task,) = task_folders(one_task(provided, tasks, tmp_path / "made" / name, "--verifier", str(own), *flags))
        shutil.copytree(task, tmp_path / "tasks" / name)
    trials = run_all(provided, tmp_path / "tasks", "oracle", tmp_path / "jobs")
    for trial in trials.values():
        assert trial["exception_info"] is None
        told = tmp_path / "jobs" / "oracle" / str(trial["trial_name"]) / "verifier/metrics.json"
        metrics = json.loads(told.read_text())
        assert trial["verifier_result"]["rewards"] == {"reward": metrics["reward"]}
        assert 0 < metrics["reward"] <= 1
        assert metrics["named"]
    assert sorted(trials) == ["closed", "custom"]
