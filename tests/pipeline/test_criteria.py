"""select_tasks.py --criteria: thresholds, weights and bonuses from a file, and a criterion as one row of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import select_tasks
from locobench.selection.criteria import SCORE_PARTS, Part
from locobench.shared.errors import InputError
from select_tasks import CATEGORY_BONUSES, default_criteria
from tests.conftest import REPOSITORY, Script
from tests.support.data_builder import Data, extract
from tests.support.in_process import run_in_process
from tests.support.invariants import call

FILE = """
min_context_length = 1_000
top_n = 1
categories = ["bug_investigation", "poetry"]

[weights]
context = 0.0
files = 0.0
category = 1.0

[category_bonuses]
poetry = 1.0
bug_investigation = 0.25
"""


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
        ('"context": 0.3', '"context": 0.4'),
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


def test_bonuses_of_a_criteria_file_change_the_selection(two: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[category_bonuses]\ncode_comprehension = 1.0\n")
    script = REPOSITORY / "select_tasks.py"
    assert first_selected(script, two, "--criteria", tmp_path / "c.toml") == "code_comprehension"


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


def selected(script: Script, dataset: Path, *flags: object) -> dict[str, Any]:
    output = dataset.with_name("s.json")
    done = script("select_tasks.py", "--dataset_path", dataset, "--output", output, *flags)
    assert done.returncode == 0, done.stderr
    found = json.loads(output.read_text())
    assert isinstance(found, dict)
    return found


def test_a_file_sets_thresholds_weights_bonuses_and_filters(dataset: Path, tmp_path: Path, script: Script) -> None:
    (tmp_path / "c.toml").write_text(FILE)
    found = selected(script, dataset, "--criteria", tmp_path / "c.toml")
    assert [(task["task_category"], task["score"]) for task in found["tasks"]] == [("poetry", 1.0)]
    criteria = found["selection_criteria"]
    assert (criteria["min_context_length"], criteria["category_weight"]) == (1_000, 1.0)
    assert criteria["category_bonuses"] == {**CATEGORY_BONUSES, "poetry": 1.0, "bug_investigation": 0.25}


def test_what_the_file_leaves_out_keeps_its_default(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("min_files_count = 9")
    assert default_criteria().read_file(tmp_path / "c.toml") == default_criteria(min_files_count=9)


def test_a_flag_counts_before_the_file(dataset: Path, tmp_path: Path, script: Script) -> None:
    (tmp_path / "c.toml").write_text(FILE)
    found = selected(script, dataset, "--criteria", tmp_path / "c.toml", "--top_n", 2, "--category_weight", 1)
    assert [task["score"] for task in found["tasks"]] == [1.0, 0.25]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("top = 1", "top: Unexpected keyword argument"),
        ("top_n = 'many'", "top_n: Input should be a valid integer (got 'many')"),
        ("top_n = -1", "top_n must be 0 or more"),
        ("max_closed = 1.5", "max_closed must be from 0 to 1"),
        ("[category_bonuses]\npoetry = 2", "category_bonuses: poetry: 2.0 is not from 0 to 1"),
        (
            "[weights]\ncontext = 1",
            "weights must be at least 0 and sum to 1, got context 1.0 + files 0.3 + category 0.4",
        ),
        ("[weights]\nrhyme = 0", "weights: no part of the score is called 'rhyme', known: context, files, category"),
        ("categories = 'poetry'", "categories: "),
        ("top_n = ", "not TOML: "),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_that_names_file_and_key(
    dataset: Path, tmp_path: Path, script: Script, text: str, words: str
) -> None:
    (tmp_path / "c.toml").write_text(text)
    done = script(
        "select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json", "--criteria", tmp_path / "c.toml"
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{tmp_path / 'c.toml'}: {words}" in done.stderr
    assert not (tmp_path / "s.json").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"c\.toml: cannot be read: No such file"):
        default_criteria().read_file(tmp_path / "c.toml")


@pytest.mark.parametrize(("flag", "known"), [("categories", "poetry"), ("languages", "python")])
def test_a_filter_that_names_nothing_known_is_a_slip_of_the_pen(
    dataset: Path, tmp_path: Path, script: Script, flag: str, known: str
) -> None:
    done = script("select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json", f"--{flag}", "bugs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{flag}: 'bugs' is unknown, known are " in done.stderr
    assert known in done.stderr


def test_a_criterion_is_one_row(dataset: Path, tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Part("id_length", lambda task, _: len(task.id), scaled=True)
    monkeypatch.setitem(SCORE_PARTS, "name", row)
    (tmp_path / "c.toml").write_text(
        "[category_bonuses]\npoetry = 1\n[weights]\ncontext = 0\nfiles = 0\ncategory = 0\n"
    )
    longest = max(len(json.loads(line)["id"]) for line in dataset.open())

    with pytest.raises(AssertionError, match="weights must be at least 0 and sum to 1"):
        selected(script, dataset, "--criteria", tmp_path / "c.toml", "--min_context_length", 0)
    found = selected(script, dataset, "--min_context_length", 0, "--categories", "bug_investigation", *WEIGHTS_OFF)

    assert [task["score"] for task in found["tasks"]] == [1.0]
    assert "name_weight * id_length / max_id_length" in found["selection_criteria"]["formula"]
    assert found["statistics"]["max_id_length"] <= longest


WEIGHTS_OFF = ("--name_weight", 1, "--context_weight", 0, "--files_weight", 0, "--category_weight", 0)


def test_the_criteria_page_shows_a_file_that_can_be_used(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "TASK_SELECTION_CRITERIA.md").read_text()
    (tmp_path / "c.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    assert default_criteria().read_file(tmp_path / "c.toml") != default_criteria()
