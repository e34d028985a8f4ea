"""select_tasks.py --criteria: thresholds, weights and bonuses from a file, and a criterion as one row of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from locobench.commands.select_tasks import build_parser
from locobench.selection.criteria import CATEGORY_BONUSES, SCORE_PARTS, Candidate, Criteria, Part
from locobench.selection.select import select
from locobench.shared.errors import InputError
from tests.conftest import REPOSITORY, Script
from tests.support.data_builder import Data, extract

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
    assert Criteria.load(tmp_path / "c.toml") == Criteria(min_files_count=9)


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
        Criteria.load(tmp_path / "c.toml")


@pytest.mark.parametrize(("flag", "known"), [("categories", "poetry"), ("languages", "python")])
def test_a_filter_that_names_nothing_known_is_a_slip_of_the_pen(
    dataset: Path, tmp_path: Path, script: Script, flag: str, known: str
) -> None:
    done = script("select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json", f"--{flag}", "bugs")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{flag}: 'bugs' is unknown, known are " in done.stderr
    assert known in done.stderr


def test_a_criterion_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = ("easy", "medium", "hard", "expert")
    row = Part(0.0, "difficulty_level", lambda task, _: levels.index(task.difficulty), scaled=True)
    monkeypatch.setitem(SCORE_PARTS, "difficulty", row)
    tasks = [
        Candidate(name, "bug_investigation", level, "c", 60_000, 9) for name, level in (("a", "easy"), ("b", "hard"))
    ]

    options = build_parser().parse_args(["--difficulty_weight", "1"])
    found = select(tasks, Criteria(weights={"difficulty": options.difficulty_weight}))

    assert [(task.id, score) for score, task in found.passed] == [("b", 1.0), ("a", 0.0)]
    assert (
        "difficulty_weight * difficulty_level / max_difficulty_level"
        in found.as_json()["selection_criteria"]["formula"]
    )
    assert found.as_json()["statistics"]["max_difficulty_level"] == 2


def test_the_criteria_page_shows_a_file_that_can_be_used(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "TASK_SELECTION_CRITERIA.md").read_text()
    (tmp_path / "c.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    assert Criteria.load(tmp_path / "c.toml") != Criteria()
