"""select_tasks.py: constants of the script, and names typed as people write them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import select_tasks
from locobench.shared.errors import InputError
from select_tasks import CATEGORY_BONUSES, default_criteria
from tests.conftest import REPOSITORY, Script
from tests.support.data_builder import Data, extract
from tests.support.in_process import run_in_process
from tests.support.invariants import call

EDITED = ("bug_investigation", "code_comprehension")


@pytest.fixture
def two(data: Data, tmp_path: Path) -> Path:
    """A dataset of two tasks that differ in their category alone: by the constants bug_investigation is first."""
    for category in EDITED:
        data.scenario(task_category=category)
    extract(data.folder, tmp_path / "d.jsonl")
    return tmp_path / "d.jsonl"


def first_selected(script: Path, dataset: Path, *flags: object) -> str:
    output = dataset.with_name("s.json")
    arguments = ["--dataset_path", str(dataset), "--output", str(output), *map(str, flags)]
    assert run_in_process(script, arguments).returncode == 0
    return str(json.loads(output.read_text())["tasks"][0]["task_category"])


def test_editing_the_bonuses_in_the_script_changes_the_selection(two: Path, tmp_path: Path) -> None:
    assert first_selected(REPOSITORY / "select_tasks.py", two) == "bug_investigation"
    source = (REPOSITORY / "select_tasks.py").read_text()
    (tmp_path / "select_tasks.py").write_text(source.replace('"code_comprehension": 0.4', '"code_comprehension": 1.0'))
    assert first_selected(tmp_path / "select_tasks.py", two) == "code_comprehension"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MIN_FILES_COUNT = 5", "MIN_FILES_COUNT = 6"),
        ("MIN_CONTEXT_LENGTH = 50_000", "MIN_CONTEXT_LENGTH = 60_000"),
        ("TOP_N = 50", "TOP_N = 0"),
        ("CATEGORY_WEIGHT = 0.3", "CATEGORY_WEIGHT = 0.4"),
    ],
)
def test_editing_a_threshold_or_a_weight_in_the_script_counts(two: Path, tmp_path: Path, old: str, new: str) -> None:
    source = (REPOSITORY / "select_tasks.py").read_text()
    (tmp_path / "select_tasks.py").write_text(source.replace(old, new))
    with pytest.raises(AssertionError):
        first_selected(tmp_path / "select_tasks.py", two)


def test_setting_the_bonuses_from_python_changes_the_selection(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select_tasks, "CATEGORY_BONUSES", {**CATEGORY_BONUSES, "code_comprehension": 1.0})
    output = tmp_path / "s.json"
    assert call(select_tasks.main, "--dataset_path", str(two), "--output", str(output))[0] == 0
    assert json.loads(output.read_text())["tasks"][0]["task_category"] == "code_comprehension"


@pytest.mark.parametrize(
    "flags",
    [("--languages", "Python"), ("--languages", "PYTHON", "Typescript"), ("--languages", "C++", "python"),
     ("--categories", "Code_Comprehension"), ("--difficulties", "Easy", "hard")],
)  # fmt: skip
def test_names_may_be_typed_in_capitals_and_as_people_write_them(two: Path, flags: tuple[str, ...]) -> None:
    assert first_selected(REPOSITORY / "select_tasks.py", two, *flags) in EDITED


@pytest.fixture
def dataset(data: Data, tmp_path: Path) -> Path:
    """Two tasks, one of them of a category that nobody has a bonus for."""
    data.scenario(context_length=2_000)
    data.scenario(number=2, task_category="poetry", context_length=1_500)
    extract(data.folder, tmp_path / "d.jsonl")
    return tmp_path / "d.jsonl"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"category_bonuses": {"poetry": 2}}, "category_bonuses: poetry: 2 is not from 0 to 1"),
        ({"context_weight": 0.5}, "weights must be at least 0 and sum to 1, got context_weight 0.5 + files_weight 0.3"),
        ({"context_weight": -0.1, "files_weight": 0.7}, "weights must be at least 0 and sum to 1"),
    ],
)
def test_constants_that_cannot_be_used_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        default_criteria(**changes).check()


@pytest.mark.parametrize(("flag", "known"), [("categories", "poetry"), ("languages", "python")])
def test_a_filter_that_names_nothing_known_is_a_slip_of_the_pen(
    dataset: Path, tmp_path: Path, script: Script, flag: str, known: str
) -> None:
    done = script("select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json", f"--{flag}", "bugs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{flag}: 'bugs' is unknown, known are " in done.stderr
    assert known in done.stderr
