"""The commands and names that users of the adapter were given work as they stand, in a folder like the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run_adapter
import select_tasks
from adapter import LoCoBenchAdapter
from tests.conftest import REPOSITORY, Script
from tests.support.data_builder import Data

QUICK_START = """\
python benchmarks/locobench_agent/extract_dataset.py

python benchmarks/locobench_agent/select_tasks.py

python benchmarks/locobench_agent/run_adapter.py \\
    --dataset_path benchmarks/locobench_agent/locobench_dataset.jsonl \\
    --output_dir benchmarks/locobench_agent/tasks \\
    --selected_tasks benchmarks/locobench_agent/selected_tasks.json
"""

REFERENCE = """\
python extract_dataset.py
python select_tasks.py

# what was selected
python run_adapter.py \\
    --dataset_path locobench_dataset.jsonl \\
    --output_dir ./tasks \\
    --selected_tasks selected_tasks.json

# tasks by name
python run_adapter.py \\
    --dataset_path locobench_dataset.jsonl \\
    --output_dir ./named \\
    --task_ids {first} {second}

# the first ones
python run_adapter.py \\
    --dataset_path locobench_dataset.jsonl \\
    --output_dir ./limited \\
    --limit 1
"""

FILES_OF_A_TASK = (
    "instruction.md",
    "task.toml",
    "environment/Dockerfile",
    "environment/project",
    "tests/test.sh",
    "tests/verify.py",
    "tests/ground_truth.json",
    "tests/task_metadata.json",
    "solution/solve.sh",
)


@pytest.fixture
def checkout(tmp_path: Path) -> tuple[Path, list[str]]:
    """The adapter in benchmarks/locobench_agent/ with data that passes the thresholds, and the ids in it."""
    home = tmp_path / "benchmarks/locobench_agent"
    home.mkdir(parents=True)
    for name in ("locobench", "templates", *SCRIPTS):
        source, copy = REPOSITORY / name, home / name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copyfile(source, copy)
    data = Data(home / "data")
    data.project()
    return home, [data.scenario(number=number) for number in (1, 2)]


SCRIPTS = ("adapter.py", "extract_dataset.py", "select_tasks.py", "run_adapter.py")


def walked(commands: str, folder: Path) -> None:
    """Run the commands as a user's shell would."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = ["bash", "-e", "-c", commands]
    done = subprocess.run(
        shell, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_quick_start_makes_tasks(checkout: tuple[Path, list[str]]) -> None:
    home, ids = checkout
    walked(QUICK_START, home.parents[1])
    assert [json.loads(line)["id"] for line in (home.parents[1] / "locobench_dataset.jsonl").open()] == ids
    assert not (home / "locobench_dataset.jsonl").exists(), "scripts write where the user stands"
    for task in ids:
        assert [name for name in FILES_OF_A_TASK if not (home / "tasks" / task / name).exists()] == []


@pytest.mark.slow
def test_every_command_of_the_reference_works_from_its_own_folder(checkout: tuple[Path, list[str]]) -> None:
    home, ids = checkout
    walked(REFERENCE.format(first=ids[0], second=ids[1]), home)
    made = {folder: sorted(path.parent.name for path in (home / folder).glob("*/task.toml")) for folder in OUTPUTS}
    assert made == {"tasks": ids, "named": ids, "limited": ids[:1]}


@pytest.mark.slow
def test_scripts_called_from_another_folder_write_there_and_nowhere_else(checkout: tuple[Path, list[str]]) -> None:
    home, ids = checkout
    elsewhere = home.parents[1] / "elsewhere"
    elsewhere.mkdir()
    before = sorted(path for path in home.rglob("*") if "__pycache__" not in path.parts)
    for name in SCRIPTS[1:]:
        walked(f"python {home / name}", elsewhere)
    assert sorted(path.name for path in elsewhere.iterdir()) == [
        "locobench_dataset.jsonl",
        "selected_tasks.json",
        "tasks",
    ]
    assert sorted(path.parent.name for path in elsewhere.glob("tasks/*/task.toml")) == ids
    assert sorted(path for path in home.rglob("*") if "__pycache__" not in path.parts) == before


@pytest.mark.parametrize(
    ("script_name", "flag", "meant"),
    [("extract_dataset.py", "--data_dirr", "--data_dir"), ("run_adapter.py", "--selected-task", "--selected_tasks")],
)
def test_a_wrong_flag_is_one_line_that_names_the_right_one(
    script: Script, script_name: str, flag: str, meant: str
) -> None:
    done = script(script_name, flag, "x")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"{script_name}: No such option")
    assert f"'{meant}'" in done.stderr


@pytest.mark.parametrize(
    "text", ["--task_ids a b --limit 1", "--task-ids a b --limit 1", "--task_ids a --limit 1 --task-ids b"]
)
def test_a_flag_with_several_values_takes_all_that_follow(text: str) -> None:
    context = run_adapter.main.make_context("run_adapter.py", text.split())
    assert (context.params["task_ids"], context.params["limit"]) == (("a", "b"), 1)


OUTPUTS = ("tasks", "named", "limited")


def test_the_places_that_users_were_told_to_extend_are_there() -> None:
    assert callable(LoCoBenchAdapter._generate_dockerfile)
    assert callable(LoCoBenchAdapter._get_project_dir)
    assert select_tasks.CATEGORY_BONUSES["architectural_understanding"] == 1.0
    assert (select_tasks.MIN_CONTEXT_LENGTH, select_tasks.MIN_FILES_COUNT, select_tasks.TOP_N) == (50_000, 5, 50)
