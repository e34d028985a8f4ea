"""Arms that name the same tasks differently, and rewards that are called or scaled differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from measure.results.harbor import load_jobs
from tests.measure.test_harbor import write_trial
from tests.support.suite import harness

TASKS = ("t_0", "t_1", "t_2")


def arm(folder: Path, job: str, name: str = "{}", task_id: Any = None, rewards: Any = None) -> None:
    for number, task in enumerate(TASKS):
        own = name.format(task)
        more: dict[str, Any] = {"task_id": task_id(task)} if task_id else {}
        if rewards:
            more["verifier_result"] = {"rewards": rewards(number)}
        write_trial(folder, job=job, name=f"{own}__{job}", task=own, **more)


@pytest.mark.parametrize(
    "task_id",
    [
        lambda task: {"org": "acme", "name": task, "ref": "sha256:0"},
        lambda task: {"org": "acme", "name": task.replace("_", "-"), "ref": None},
        lambda task: {"path": f"C:\\tasks\\{task}"},
        lambda task: {"path": f"..\\tasks\\{task}\\"},
        lambda task: {"git_url": "https://example.com/r.git", "git_commit_id": "0", "path": f"tasks/{task}"},
    ],
    ids=["registry", "registry with dashes", "windows", "windows, relative", "git"],
)
def test_the_same_task_is_found_by_itself(tmp_path: Path, task_id: Any) -> None:
    arm(tmp_path, "base")
    arm(tmp_path, "with", task_id=task_id)
    shown = harness(tmp_path, "compare", "base", "with")
    assert "over 3 tasks" in shown.stdout
    assert "--" not in shown.stderr


def test_a_task_that_ran_from_its_own_folder_has_its_registered_name(tmp_path: Path) -> None:
    write_trial(tmp_path, task_id={"path": "."}, task_name="bench/task-a")
    assert load_jobs(tmp_path)[0].task_id == "task-a"


def test_a_prefix_is_left_out_by_an_option_that_is_named(tmp_path: Path) -> None:
    arm(tmp_path, "base")
    arm(tmp_path, "with", "only_{}")
    shown = harness(tmp_path, "compare", "base", "with")
    assert "with and base share no task name; --strip-prefix can make them alike" in shown.stderr
    shown = harness(tmp_path, "compare", "base", "with", "--strip-prefix", "only_")
    assert "over 3 tasks" in shown.stdout
    assert shown.stderr == ""


def test_a_prefix_that_makes_two_tasks_one_is_refused(tmp_path: Path) -> None:
    arm(tmp_path, "base")
    arm(tmp_path, "with")
    arm(tmp_path, "with", "only_{}")
    shown = harness(tmp_path, "compare", "base", "with", "--strip-prefix", "only_")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert "would both be called" in shown.stderr


def test_a_reward_of_another_key_is_named_and_read_by_an_option(tmp_path: Path) -> None:
    for name in ("base", "with"):
        arm(tmp_path, name, rewards=lambda _: {"score": 0.5, "tests": 1})
    shown = harness(tmp_path, "compare", "base", "with")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert "no reward is called 'reward'; the verifiers' keys are score, tests; name" in shown.stderr
    assert "--reward-key" in shown.stderr
    shown = harness(tmp_path, "report", "base", "--reward-key", "score")
    assert "0.50" in shown.stdout


def test_a_speed_up_is_scaled_by_an_option(tmp_path: Path) -> None:
    arm(tmp_path, "base", rewards=lambda number: {"reward": 1.0 + number})
    shown = harness(tmp_path, "report", "base")
    assert "is 2, not between 0 and 1; name the reward" in shown.stderr
    assert "--reward-range LOW:HIGH" in shown.stderr
    shown = harness(tmp_path, "report", "base", "--reward-range", "1:3")
    assert "1/3" in shown.stdout
    assert "0.50" in shown.stdout


@pytest.mark.parametrize("value", ["3", "3:1", "a:b", "0:inf"])
def test_a_range_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    shown = harness(tmp_path, "report", ".", "--reward-range", value)
    assert shown.returncode == 2
    assert "--reward-range" in shown.stderr
