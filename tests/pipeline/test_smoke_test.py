"""smoke_test.py without an engine: what --local proves, how faults are told, and which tasks are looked at."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from pathlib import Path

import pytest

import extract_dataset
import run_adapter
from locobench.smoke.check import Row
from locobench.smoke.report import page
from locobench.smoke.task import Fault, find_leak, read_task_folder, telltales
from locobench.smoke.trial import Attempt, run_locally
from tests.conftest import Script
from tests.support.data_builder import CATEGORY, TRUTH, Data, tree
from tests.support.invariants import call


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generated tasks of one project and one of another."""
    folder = tmp_path_factory.mktemp("generated")
    data = Data(folder / "data")
    data.project()
    data.project(name="c_os_medium_002")
    data.scenario()
    data.scenario(number=2)
    data.scenario(project="c_os_medium_002")
    dataset, tasks = str(folder / "dataset.jsonl"), folder / "tasks"
    assert call(extract_dataset.main, "--data_dir", str(data.folder), "--output", dataset)[0] == 0
    flags = ["--data_dir", str(data.folder), "--dataset_path", dataset, "--output_dir", str(tasks)]
    assert call(run_adapter.main, *flags)[0] == 0
    return tasks


@pytest.fixture
def tasks(generated: Path, tmp_path: Path) -> Path:
    """The generated tasks, to be spoiled at will."""
    return Path(shutil.copytree(generated, tmp_path / "tasks"))


@pytest.fixture
def task(tasks: Path) -> Path:
    return tasks / f"c_os_medium_002_{CATEGORY}_easy_01"


def test_generated_tasks_pass_without_an_engine(tasks: Path, script: Script) -> None:
    result = script("smoke_test.py", tasks, "--local")

    assert result.returncode == 0, result.stderr
    assert "3 tasks: 3 ok, 0 not" in result.stdout


def test_a_task_that_pays_for_nothing_fails_and_the_others_still_run(tasks: Path, task: Path, script: Script) -> None:
    (task / "tests" / "test.sh").write_text('echo \'{"reward": 1.0}\' > "$1/logs/verifier/reward.json"\n')

    result = script("smoke_test.py", tasks, "--local")

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"{task.name}: nop: reward 1.0, not 0.0"
    assert "3 tasks: 2 ok, 1 not" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("environment/Dockerfile", "no environment/Dockerfile"),
        ("tests/test.sh", "no tests/test.sh"),
        ("solution/solve.sh", "no solution/solve.sh"),
        ("tests/ground_truth.json", "no tests/ground_truth.json"),
        ("task.toml", "no task.toml"),
    ],
)
def test_an_incomplete_task_is_a_row_that_names_what_is_missing(
    tasks: Path, task: Path, script: Script, missing: str, reason: str
) -> None:
    (task / missing).unlink()

    result = script("smoke_test.py", tasks, "--local", "--quiet")

    assert (result.returncode, result.stderr) == (1, f"{task.name}: {reason}\n")


def test_a_test_that_never_ends_is_killed_and_named(task: Path, script: Script) -> None:
    (task / "tests" / "test.sh").write_text("sleep 600 & wait\n")

    result = script("smoke_test.py", task, "--local", "--quiet", "--timeout", "0.5")

    assert result.returncode == 1
    assert "nop: still ran after 0.5 s and was killed" in result.stderr


def test_a_killed_test_leaves_no_process_behind(task: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    (task / "tests" / "test.sh").write_text(f"sleep 600 & echo $! > {pid_file}; wait\n")

    with pytest.raises(Fault, match="was killed"):
        run_locally(read_task_folder(task), "nop", timeout=0.5)

    pid = int(pid_file.read_text())
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            break
        time.sleep(0.05)
    else:
        os.kill(pid, 9)
        pytest.fail("the sleep of test.sh still runs")


def test_a_local_run_leaves_the_task_as_it_was(task: Path) -> None:
    before = tree(task)

    run_locally(read_task_folder(task), "oracle", timeout=60)

    assert tree(task) == before


def test_a_limit_holds_for_each_language(tasks: Path, script: Script) -> None:
    result = script("smoke_test.py", tasks, "--local", "--limit-per-language", "1")

    assert "2 tasks: 2 ok" in result.stdout


def test_a_folder_without_tasks_is_wrong_use(tmp_path: Path, script: Script) -> None:
    result = script("smoke_test.py", tmp_path, "--local")

    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "contains no tasks" in result.stderr


def test_without_an_engine_one_line_tells_of_local(task: Path, tmp_path: Path, script: Script) -> None:
    result = script("smoke_test.py", task, env={**os.environ, "DOCKER_HOST": f"unix://{tmp_path / 'no.sock'}"})

    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "--local" in result.stderr


@pytest.mark.slow
def test_the_report_has_a_row_for_each_task(tasks: Path, tmp_path: Path, script: Script) -> None:
    script("smoke_test.py", tasks, "--local", "--quiet", "--report", tmp_path / "report.md")

    text = (tmp_path / "report.md").read_text()
    assert "\n3 tasks: 3 ok, 0 not\n" in text
    assert all(f"| {path.name} " in text for path in tasks.iterdir() if path.is_dir())


def test_telltales_are_the_longest_pieces_of_the_ground_truth(task: Path) -> None:
    pieces = telltales(task)

    assert len(pieces) == 3
    assert all(piece in TRUTH for piece in pieces)


def test_a_ground_truth_without_plain_text_has_telltales_too(task: Path) -> None:
    (task / "tests" / "ground_truth.json").write_text(json.dumps({"ground_truth": "Der Schlüssel wird nie erneuert"}))

    assert telltales(task) == ["Der Schlüssel wird nie erneuert"]


def test_an_environment_that_holds_the_ground_truth_fails_its_task(task: Path, script: Script) -> None:
    (task / "environment" / "project" / "NOTES.md").write_text(TRUTH)

    result = script("smoke_test.py", task, "--local", "--quiet")

    assert result.returncode == 1
    assert f"{task.name}: environment/ holds the ground truth: " in result.stderr


def test_an_environment_that_holds_one_piece_of_the_truth_may_be_what_the_truth_quotes(task: Path) -> None:
    (task / "environment" / "project" / "NOTES.md").write_text(telltales(task)[0])

    assert not find_leak(task)


def test_a_file_that_cannot_be_read_is_a_fault_of_its_task(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(Fault, match="Input/output error"):
        find_leak(task)


@pytest.mark.parametrize(
    ("files", "reward"),
    [
        ({"reward.json": b'{"reward": 0.25}'}, 0.25),
        ({"reward.json": b'{"reward": 0}', "reward.txt": b"1"}, 0.0),
    ],
)
def test_a_reward_is_read_as_harbor_reads_it(files: dict[str, bytes], reward: float) -> None:
    assert Attempt("", files).reward() == reward


@pytest.mark.parametrize(
    "files",
    [{}, {"reward.json": b""}, {"reward.json": b"[1]", "reward.txt": b"1"}, {"reward.json": b'{"reward": NaN}'}],
)
def test_a_reward_that_harbor_would_refuse_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(Fault):
        Attempt("", files).reward()


def test_help_answers_without_loading_what_only_a_run_needs(script: Script, tmp_path: Path) -> None:
    # A package that cannot be imported stands before the real one.
    for name in ("docker", "rich", "pydantic"):
        (tmp_path / f"{name}.py").write_text("raise ImportError")

    result = script("smoke_test.py", "--help", env={**os.environ, "PYTHONPATH": str(tmp_path)})

    assert result.returncode == 0
    assert "--limit_per_language" in result.stdout


def test_the_table_shows_a_hidden_folder_to_nobody(tasks: Path, script: Script) -> None:
    shutil.copytree(next(path for path in tasks.iterdir() if path.is_dir()), tasks / ".building-x")

    assert "3 tasks" in script("smoke_test.py", tasks, "--local").stdout


def test_images_that_stay_are_named_with_the_command_that_removes_them() -> None:
    line = page([Row("a", size=1)], {}, local=False).splitlines()[-1]
    assert line.endswith(": docker image prune --all --filter label=locobench-smoke-test")


def test_a_table_without_rows_is_still_a_table() -> None:
    assert "0 tasks: 0 ok, 0 not" in page([], {}, local=True)
