"""Data of another benchmark: the converter that CONTRIBUTING.md shows, word for word, and the tasks that come of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Script
from tests.support.data_builder import FILES, TRUTH

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
(CONVERTER,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(LANGUAGE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    """The data folder that the converter makes of a question about a code base."""
    for path, content in FILES.items():
        file = tmp_path / "repos" / "Shop-py" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    question = {"repo": "Shop-py", "question": "Why are prices old?", "answer": TRUTH, "authors": ["One", "Two"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    subprocess.run([sys.executable, "-c", CONVERTER], cwd=tmp_path, check=True)
    return tmp_path / "data"


def generate(data: Path, script: Script, *flags: object) -> Path:
    """Walk from the data folder to its only task."""
    dataset, selection, tasks = (data.with_name(name) for name in ("d.jsonl", "s.json", "tasks"))
    least = ["--min_context_length", 0, "--min_files_count", 0]
    chosen = ["--data_dir", data, "--selected_tasks", selection, "--output_dir", tasks]
    for name, *arguments in (
        ("extract_dataset.py", "--data_dir", data, "--output", dataset),
        ("select_tasks.py", "--dataset_path", dataset, "--output", selection, *least),
        ("run_adapter.py", "--dataset_path", dataset, *chosen, *flags),
    ):
        done = script(name, *arguments)
        assert done.returncode == 0, done.stderr
    (task,) = (path for path in tasks.iterdir() if path.is_dir())
    return task


def test_the_converter_is_as_short_as_it_was_promised() -> None:
    assert len([line for line in CONVERTER.splitlines() if line.strip()]) <= 13


def test_a_task_is_named_and_credited_by_its_own_benchmark(converted: Path, script: Script) -> None:
    config = tomllib.loads((generate(converted, script) / "task.toml").read_text())
    assert config["task"]["name"] == "repo-questions/shop-py-1"
    assert config["task"]["authors"] == [{"name": "One"}, {"name": "Two"}]
    assert config["metadata"]["project_id"] == "Shop-py"


def test_nothing_in_a_task_speaks_of_locobench(converted: Path, script: Script) -> None:
    task = generate(converted, script, "--dataset_name", "org/set")
    texts = [task / "task.toml", task / "instruction.md", *task.parent.glob("dataset.toml")]
    assert [path.name for path in texts if "locobench" in path.read_text().lower()] == []


def test_a_task_has_its_code_base_and_pays_its_oracle(converted: Path, script: Script) -> None:
    task = generate(converted, script)
    assert (task / "environment/project/src/basket.py").read_text() == FILES["src/basket.py"]
    done = script("smoke_test.py", task.parent, "--local")
    assert done.returncode == 0, done.stderr


def written_in(data: Path, language: str) -> None:
    """Say that the only scenario's code is in this language."""
    (path,) = (data / "output" / "scenarios").glob("*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "language": language}))


def test_a_language_comes_from_a_file(converted: Path, tmp_path: Path, script: Script) -> None:
    written_in(converted, "kotlin")
    (tmp_path / "mine.toml").write_text(LANGUAGE)
    task = generate(converted, script, "--languages", tmp_path / "mine.toml")
    assert 'packages="kotlin default-jdk-headless"' in (task / "environment/Dockerfile").read_text()
    assert "Kotlin" in (task / "instruction.md").read_text()


def test_a_language_without_a_table_fails_its_tasks_by_name(converted: Path, tmp_path: Path, script: Script) -> None:
    written_in(converted, "nobodys")
    script("extract_dataset.py", "--data_dir", converted, "--output", tmp_path / "d.jsonl")
    flags = ["--data_dir", converted, "--dataset_path", tmp_path / "d.jsonl", "--output_dir", tmp_path / "tasks"]
    done = script("run_adapter.py", *flags, "--quiet")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("shop-py-1: ")
    assert "no table [nobodys]; add one as its first comment explains, or in a file of your own" in done.stderr


def test_a_file_of_languages_that_cannot_be_read_is_one_line(converted: Path, tmp_path: Path, script: Script) -> None:
    script("extract_dataset.py", "--data_dir", converted, "--output", tmp_path / "d.jsonl")
    flags = ["--data_dir", converted, "--dataset_path", tmp_path / "d.jsonl", "--output_dir", tmp_path / "tasks"]
    done = script("run_adapter.py", *flags, "--languages", tmp_path / "none.toml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "none.toml: cannot be read: No such file or directory" in done.stderr
