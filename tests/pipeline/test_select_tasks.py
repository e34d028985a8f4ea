"""select_tasks.py: thresholds, score, top N."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locobench.selection.candidates import Candidate, read_candidates
from locobench.selection.criteria import Criteria
from locobench.selection.select import select
from locobench.shared.errors import InputError
from select_tasks import CATEGORY_BONUSES, default_criteria
from tests.conftest import Script
from tests.support.data_builder import Data, extract

PUBLISHED_MAX_FILES = 89
# Solved from the published scores: every whole number of characters in this range gives them.
PUBLISHED_MAX_CONTEXT = (1_167_161, 1_167_196)


def candidate(name: str, category: str = "bug_investigation", context: int = 100_000, files: int = 50) -> Candidate:
    return Candidate(name, category, "hard", "python", context, files)


def ids(tasks: list[Candidate], criteria: Criteria) -> list[str]:
    return [task.id for _, task in select(tasks, criteria).selected]


def test_thresholds_are_strict() -> None:
    at, above = candidate("at", context=50_000), candidate("above", context=50_001)
    few, more = candidate("few", files=5), candidate("more", files=6)
    assert sorted(ids([at, above, few, more], default_criteria())) == ["above", "more"]


def test_score_weighs_context_files_and_category() -> None:
    tasks = [
        candidate("full", "architectural_understanding", 200_000, 80),
        candidate("half", context=100_000, files=40),
    ]
    scores = {task.id: score for score, task in select(tasks, default_criteria()).passed}
    assert scores == pytest.approx({"full": 1.0, "half": 0.3 * 0.5 + 0.3 * 0.5 + 0.4 * 0.8})


def test_maxima_are_those_of_the_tasks_that_pass() -> None:
    too_few_files = candidate("long", context=10_000_000, files=1)
    selection = select([candidate("a"), too_few_files], default_criteria())
    assert selection.as_json()["statistics"]["max_context_length"] == 100_000


def test_equal_scores_are_ordered_by_id() -> None:
    assert ids([candidate(name) for name in "cab"], default_criteria(top_n=2)) == ["a", "b"]


def test_the_bonuses_of_the_published_categories_are_the_published_ones() -> None:
    published = {
        "architectural_understanding": 1.0, "cross_file_refactoring": 0.9, "bug_investigation": 0.8,
        "security_analysis": 0.7, "feature_implementation": 0.5, "code_comprehension": 0.4,
        "integration_testing": 0.3, "multi_session_development": 0.3,
    }  # fmt: skip
    assert CATEGORY_BONUSES.items() >= published.items()


def test_filters_keep_what_they_name() -> None:
    tasks = [candidate("a", "code_comprehension"), candidate("b", "bug_investigation")]
    assert ids(tasks, default_criteria(categories=("code_comprehension",))) == ["a"]
    assert ids(tasks, default_criteria(languages=("go",))) == [] == ids(tasks, default_criteria(difficulties=("easy",)))


@given(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)))
def test_weights_that_do_not_sum_to_one_are_refused(weights: tuple[float, float, float]) -> None:
    names = ("context_weight", "files_weight", "category_weight")
    criteria = default_criteria(**dict(zip(names, weights, strict=True)))
    if math.isclose(sum(weights), 1, abs_tol=1e-9):
        criteria.check()
    else:
        with pytest.raises(InputError, match="sum to 1"):
            select([], criteria)


@given(
    st.lists(
        st.builds(
            candidate,
            st.uuids().map(str),
            st.sampled_from(sorted(CATEGORY_BONUSES)),
            st.integers(0, 10**6),
            st.integers(0, 99),
        ),
        max_size=30,
    ),
    st.integers(0, 40),
)
def test_selection_is_the_best_of_those_that_pass(tasks: list[Candidate], top_n: int) -> None:
    selection = select(tasks, default_criteria(top_n=top_n))
    scores = [score for score, _ in selection.passed]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 + 1e-12 for score in scores)
    assert len(selection.selected) == min(top_n, len(selection.passed))
    assert selection.total == len(tasks)


def test_command_writes_criteria_statistics_and_tasks(data: Data, tmp_path: Path, script: Script) -> None:
    scenario = data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    done = script("select_tasks.py", "--dataset-path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json")
    assert done.returncode == 0
    assert scenario in done.stdout
    selection = json.loads((tmp_path / "s.json").read_text())
    assert list(selection) == ["selection_criteria", "statistics", "tasks"]
    assert selection["selection_criteria"]["context_length_unit"] == "characters"
    assert selection["tasks"] == [
        {
            "id": scenario, "task_category": "bug_investigation", "difficulty": "easy", "language": "python",
            "context_length": 60000, "files_count": 6, "score": 0.92,
        }
    ]  # fmt: skip


def test_nothing_selected_is_one_line_with_the_way_out_and_exit_code_1(
    data: Data, tmp_path: Path, script: Script
) -> None:
    data.scenario(context_length=10)
    extract(data.folder, tmp_path / "d.jsonl")
    done = script("select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no task selected, 0 of 1 pass; lower --min_context_length or --min_files_count" in done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["tasks"] == []


def test_dataset_may_come_through_a_pipe(data: Data, tmp_path: Path, script: Script) -> None:
    scenario = data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    dataset = (tmp_path / "d.jsonl").read_text()
    done = script("select_tasks.py", "--dataset_path", "/dev/stdin", "--output", tmp_path / "s.json", input=dataset)
    assert done.returncode == 0, done.stderr
    assert [task["id"] for task in json.loads((tmp_path / "s.json").read_text())["tasks"]] == [scenario]


def test_dataset_is_not_replaced_by_what_is_made_from_it(data: Data, tmp_path: Path, script: Script) -> None:
    data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    before = (tmp_path / "d.jsonl").read_bytes()
    (tmp_path / "link").symlink_to("d.jsonl")
    done = script("select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "link")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the same file as" in done.stderr
    assert (tmp_path / "d.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": 1}, "id: Input should be a valid string"),
        ({"task_category": 1}, "task_category: Input should be a valid string"),
        ({"language": None}, "language: Input should be a valid string"),
        ({"context_length": -1}, "context_length: Input should be greater than or equal to 0"),
        ({"context_length": 10**30}, "context_length: Input should be less than or equal to 9007199254740992"),
        ({"files_count": "6"}, "files_count: Input should be a valid integer"),
    ],
)
def test_record_that_cannot_be_selected_from_is_named_with_line_and_field(
    data: Data, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    record = json.loads((tmp_path / "d.jsonl").read_text())
    with (tmp_path / "d.jsonl").open("a") as stream:
        stream.write("\n" + json.dumps({**record, "id": record["id"][:-1] + "2", **changes}) + "\n")
    with pytest.raises(InputError, match=rf"d\.jsonl:3: {words}.*; write it again with extract_dataset\.py"):
        read_candidates(tmp_path / "d.jsonl")


def test_id_that_stands_twice_is_named_with_both_lines(data: Data, tmp_path: Path) -> None:
    scenario = data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    (tmp_path / "d.jsonl").write_text((tmp_path / "d.jsonl").read_text() * 2)
    with pytest.raises(InputError, match=rf"d\.jsonl:2: id: {scenario} is already on line 1; remove one"):
        read_candidates(tmp_path / "d.jsonl")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context_weight", "0.5"], "sum to 1"),
        (["--context_weight", "nan"], "sum to 1"),
        (["--difficulties", "lunatic"], "'lunatic' is not one of 'easy'"),
        (["--top_n", "-1"], "-1 is not in the range x>=0"),
        (
            ["--dataset_path", "nowhere.jsonl"],
            "nowhere.jsonl: cannot be read: No such file or directory; run extract_dataset.py",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    tmp_path: Path, script: Script, arguments: list[str], words: str
) -> None:
    done = script("select_tasks.py", *arguments, "--output", tmp_path / "s.json", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "s.json").exists()


def test_broken_dataset_is_named_with_its_line(data: Data, tmp_path: Path, script: Script) -> None:
    data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    with (tmp_path / "d.jsonl").open("a") as stream:
        stream.write("{\n")
    done = script("select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json")
    assert done.returncode == 2
    assert f"{tmp_path / 'd.jsonl'}:2: not valid JSON" in done.stderr


def test_help_says_that_context_length_counts_characters(script: Script) -> None:
    assert "characters of text, not tokens" in " ".join(script("select_tasks.py", "--help").stdout.split())


@pytest.mark.parametrize("max_context", PUBLISHED_MAX_CONTEXT)
def test_published_scores_are_reproduced(real_data: Path, tmp_path: Path, max_context: int) -> None:
    extract(real_data, tmp_path / "d.jsonl")
    largest = Candidate("largest", "integration_testing", "easy", "c", max_context, PUBLISHED_MAX_FILES)
    selection = select([*read_candidates(tmp_path / "d.jsonl"), largest], default_criteria(top_n=1000))
    ours = {task["id"]: task["score"] for task in selection.as_json()["tasks"]}
    published = json.loads((Path(os.environ["LOCOBENCH_REAL"]) / "published_selection.json").read_text())["tasks"]
    assert len(published) == 28
    assert {task["id"]: ours[task["id"]] for task in published} == {task["id"]: task["score"] for task in published}
