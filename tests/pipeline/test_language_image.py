"""--language_image: tasks that start from one prebuilt image a language, and the stage that it is built from."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

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
    assert changed == {"environment/Dockerfile", "task.toml"}
    metadata = [tomllib.loads(files["task.toml"].decode())["metadata"] for files in (plain, prebuilt)]
    assert {key for key in metadata[0] if metadata[0][key] != metadata[1][key]} == {"content_fingerprint"}


def test_another_image_makes_a_rerun_write_the_tasks_again(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    generate(script, arguments, tmp_path / "tasks", "--language_image", PATTERN)
    again = script("run_adapter.py", *arguments, tmp_path / "tasks", "--language_image", PATTERN.replace("1", "2"))
    assert again.stdout.startswith("3 tasks written")


def test_a_language_is_a_stage_that_all_its_tasks_share(
    arguments: list[object], tmp_path: Path, script: Script
) -> None:
    tasks = [
        *generate(script, arguments, tmp_path / "tasks"),
        *generate(script, arguments, tmp_path / "closed", "--closed_book"),
    ]
    stages = [(task / "environment/Dockerfile").read_text().split("\nFROM language\n") for task in tasks]

    c, python, _, c_closed, *python_closed = (language for language, _ in stages)
    assert {c, c_closed} == {c}
    assert {python, *python_closed} == {python}
    assert instructions(c) == instructions(python) == ["FROM", "RUN", "RUN"]
    assert c.startswith("FROM ubuntu:24.04 AS language\n")
    assert [instructions(own) for _, own in stages[::3]] == [
        ["STOPSIGNAL", "ENTRYPOINT", "COPY", "WORKDIR"],
        ["STOPSIGNAL", "ENTRYPOINT", "WORKDIR"],
    ]
