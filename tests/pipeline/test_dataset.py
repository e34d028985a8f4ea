"""--dataset_name: the manifest that makes a folder of tasks a Harbor dataset, and what it never replaces."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest

from locobench.harbor.task import TaskFolder, task_folders
from tests.conftest import Script
from tests.support.data_builder import Data, tree


@pytest.fixture
def arguments(data: Data, tmp_path: Path, script: Script) -> list[object]:
    """Of run_adapter.py, for two tasks of one project."""
    data.project()
    data.scenario()
    data.scenario(number=2)
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    places = ["--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder, "--output_dir", tmp_path / "tasks"]
    return [*places, "--dataset_name", "org/set"]


@pytest.fixture
def tasks(arguments: list[object], tmp_path: Path, script: Script) -> Path:
    """The folder with the dataset."""
    done = script("run_adapter.py", *arguments)
    assert done.returncode == 0, done.stderr
    assert f"dataset org/set of 2 tasks in {tmp_path / 'tasks/dataset.toml'}\n" in done.stdout
    return tmp_path / "tasks"


def manifest(tasks: Path) -> dict[str, Any]:
    return tomllib.loads((tasks / "dataset.toml").read_text())


def test_manifest_names_every_task_with_its_digest(tasks: Path) -> None:
    assert manifest(tasks)["dataset"]["name"] == "org/set"
    assert manifest(tasks)["tasks"] == [
        {"name": f"locobench/{folder.name.replace('_', '-')}", "digest": TaskFolder.read(folder).digest}
        for folder in task_folders(tasks)
    ]


def test_digest_is_over_names_and_contents_without_leavings(tmp_path: Path) -> None:
    files = {"environment/a b.c": b"x", "task.toml": b"y = 1", "tests/run~/kept": b"", "tests/t.sh": b"z"}
    left_out = ("tests/run~/kept", "tests/t.pyc", "environment/__pycache__/a.c", "notes.txt", "solution/.DS_Store")
    for path in (*files, *left_out):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(files.get(path, b"left out"))
    packed = {path: content for path, content in files.items() if path not in left_out}
    lines = [f"{path}\0{hashlib.sha256(content).hexdigest()}\n" for path, content in sorted(packed.items())]
    assert TaskFolder.read(tmp_path).digest == f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def test_a_gitignore_of_the_task_decides_instead_of_the_usual_leavings(tmp_path: Path) -> None:
    """As Harbor packs it; with a digest of its own a task would never be the one that a trial's lock names."""
    (tmp_path / "tests/logs").mkdir(parents=True)
    for path in ("task.toml", "tests/t.pyc", "tests/t.sh", "tests/logs/a", "tests/keep.log", "tests/b.log"):
        (tmp_path / path).write_bytes(b"")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nlogs/\n")
    empty = hashlib.sha256(b"").hexdigest()
    lines = [f"{name}\0{empty}\n" for name in ("task.toml", "tests/keep.log", "tests/t.pyc", "tests/t.sh")]
    assert TaskFolder.read(tmp_path).digest == f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def test_a_rerun_writes_the_same_bytes(tasks: Path, arguments: list[object], script: Script) -> None:
    before = tree(tasks)
    done = script("run_adapter.py", *arguments)
    assert "0 tasks written" in done.stdout
    assert tree(tasks) == before


def test_manifest_follows_a_changed_task(tasks: Path, arguments: list[object], script: Script) -> None:
    before = manifest(tasks)["tasks"]
    assert script("run_adapter.py", *arguments, "--include_hints").returncode == 0
    after = manifest(tasks)["tasks"]
    assert [task["name"] for task in after] == [task["name"] for task in before]
    assert all(new["digest"] != old["digest"] for new, old in zip(after, before, strict=True))


def test_a_run_without_a_name_says_that_the_digests_are_old(
    tasks: Path, arguments: list[object], script: Script
) -> None:
    done = script("run_adapter.py", *arguments[:-2], "--include_hints")
    assert f"{tasks / 'dataset.toml'}: its digests are stale; --dataset_name writes it again\n" in done.stderr


def test_a_manifest_of_somebody_else_stops_the_run_before_any_task(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/dataset.toml").write_text("mine = 1\n")
    done = script("run_adapter.py", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "dataset.toml: exists and was not written by this program; move it away" in done.stderr
    assert tree(tmp_path / "tasks") == {"dataset.toml": b"mine = 1\n"}


def test_tasks_of_another_selection_are_named_and_left_out(
    tasks: Path, arguments: list[object], script: Script
) -> None:
    (tasks / "own").mkdir()
    (tasks / "own/task.toml").touch()
    chosen, other = (path.name for path in task_folders(tasks) if path.name != "own")
    done = script("run_adapter.py", *arguments, "--task_ids", chosen, "--quiet")
    assert (done.returncode, done.stderr) == (
        0,
        f"{tasks}: 2 other tasks are also in this folder and will run (own, {other}): move them away, name another"
        " --output_dir, or leave them out with -x\n",
    )
    assert [task["name"] for task in manifest(tasks)["tasks"]] == [f"locobench/{chosen.replace('_', '-')}"]


def test_the_smoke_test_takes_no_manifest_for_a_task(tasks: Path, script: Script) -> None:
    assert len(task_folders(tasks)) == 2
    assert script("smoke_test.py", tasks, "--local", "--quiet").returncode == 0


def test_a_dataset_credits_the_authors_of_its_tasks(tasks: Path) -> None:
    assert manifest(tasks)["dataset"]["authors"] == [{"name": "Salesforce AI Research"}]


@pytest.mark.parametrize("name", ["set", "a/b/c", "../set", "org/", "or g/set", "a..b/set"])
def test_a_name_that_harbor_would_refuse_is_refused(arguments: list[object], script: Script, name: str) -> None:
    done = script("run_adapter.py", *arguments[:-1], name)
    assert done.returncode == 2
    assert "expected ORG/NAME" in done.stderr
