"""--language_image and --push: tasks that start from one prebuilt image a language, and how that image is made."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from locobench.shared.errors import InputError
from locobench.smoke.language_images import common_layers
from tests.conftest import Script
from tests.support.data_builder import Data, tree

PATTERN = "registry:5000/locobench-{language}:1"


@pytest.fixture
def arguments(data: Data, tmp_path: Path, script: Script) -> list[object]:
    """Of run_adapter.py, for two tasks in Python and one in C, up to the folder to write to."""
    data.project()
    data.project(name="c_os_medium_002")
    data.scenario()
    data.scenario(number=2)
    data.scenario(project="c_os_medium_002")
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    return ["--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder, "--output_dir"]


def generate(script: Script, arguments: list[object], folder: Path, *more: object) -> list[Path]:
    done = script("run_adapter.py", *arguments, folder, *more)
    assert done.returncode == 0, done.stderr
    return sorted(path for path in folder.iterdir() if path.is_dir())


def instructions(dockerfile: str) -> list[str]:
    return [line.split()[0] for line in dockerfile.splitlines() if line[:1].isupper()]


def test_tasks_start_from_their_languages_image_and_add_the_project_alone(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    tasks = generate(script, arguments, tmp_path / "tasks", "--language_image", PATTERN)
    texts = [(task / "environment/Dockerfile").read_text() for task in tasks]
    starts = [text.splitlines()[0] for text in texts]
    assert starts == [f"FROM registry:5000/locobench-{name}:1" for name in ("c", "python", "python")]
    assert instructions(texts[0]) == ["FROM", "STOPSIGNAL", "ENTRYPOINT", "COPY", "WORKDIR"]


def test_the_image_is_all_that_changes_in_a_task(arguments: list[object], tmp_path: Path, script: Script) -> None:
    plain = tree(generate(script, arguments, tmp_path / "plain")[0])
    prebuilt = tree(generate(script, arguments, tmp_path / "prebuilt", "--language_image", PATTERN)[0])
    changed = {path for path in plain if plain[path] != prebuilt[path]}
    assert changed == {"environment/Dockerfile", "task.toml", "tests/task_metadata.json"}
    metadata = [tomllib.loads(files["task.toml"].decode())["metadata"] for files in (plain, prebuilt)]
    assert {key for key in metadata[0] if metadata[0][key] != metadata[1][key]} == {"content_fingerprint"}


def test_another_image_makes_a_rerun_write_the_tasks_again(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    generate(script, arguments, tmp_path / "tasks", "--language_image", PATTERN)
    again = script("run_adapter.py", *arguments, tmp_path / "tasks", "--language_image", PATTERN.replace("1", "2"))
    assert again.stdout.startswith("3 tasks written")


def test_a_language_image_has_all_layers_but_the_project(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    tasks = generate(script, arguments, tmp_path / "tasks")
    layers = common_layers(tasks)
    assert sorted(layers) == ["c", "python"]
    whole = (tasks[0] / "environment/Dockerfile").read_text()
    assert whole == layers["c"] + "COPY project/ /app/project/\nWORKDIR /app/project\n"


def test_tasks_without_the_code_give_the_same_image(arguments: list[object], tmp_path: Path, script: Script) -> None:
    tasks = generate(script, arguments, tmp_path / "tasks")
    closed = generate(script, arguments, tmp_path / "closed", "--closed_book")
    assert common_layers(tasks) == common_layers(closed)


def test_no_image_is_made_of_tasks_that_start_from_one(arguments: list[object], tmp_path: Path, script: Script) -> None:
    generate(script, arguments, tmp_path / "tasks", "--language_image", PATTERN)
    done = script("smoke_test.py", tmp_path / "tasks", "--push", PATTERN)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "starts from a prebuilt image" in done.stderr


def test_tasks_of_one_language_with_other_layers_are_refused(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    tasks = generate(script, arguments, tmp_path / "tasks")
    file = tasks[2] / "environment/Dockerfile"
    file.write_text(file.read_text().replace("FROM ubuntu:24.04", "FROM debian:12"))
    with pytest.raises(InputError, match="has other layers than an earlier python task"):
        common_layers(tasks)


@pytest.mark.parametrize("name", ["locobench:1", "{language}/{language}:1", "a b-{language}", "x-{language}\nRUN y"])
@pytest.mark.parametrize(("program", "flag"), [("run_adapter.py", "--language_image"), ("smoke_test.py", "--push")])
def test_a_name_that_is_none_is_refused(script: Script, program: str, flag: str, name: str) -> None:
    done = script(program, flag, name)
    assert done.returncode == 2
    assert "expected one {language}" in done.stderr or "not an image name" in done.stderr


def test_push_needs_an_engine(script: Script) -> None:
    done = script("smoke_test.py", "--local", "--push", PATTERN)
    assert done.returncode == 2
    assert "--push builds images: not with --local" in done.stderr
