"""extract_dataset.py: raw scenarios in, one JSONL record each out; broken files are named and skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SAMPLE, Script
from tests.support.data_builder import CATEGORY, PROJECT, Data, extract


def records(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def test_record_holds_every_field_of_the_scenario_and_what_its_id_tells(data: Data, tmp_path: Path) -> None:
    data.scenario(own_field={"kept": [1, None, "ü"]})
    extract(data.folder, tmp_path / "out.jsonl")
    (record,) = records(tmp_path / "out.jsonl")
    assert record["own_field"] == {"kept": [1, None, "ü"]}
    assert (record["language"], record["project_id"], record["files_count"]) == ("python", PROJECT, 6)


@pytest.mark.parametrize("shape", ["text", {"b": {"c": ["x"]}, "a": 1}, ["one", {"two": 2}], [[["deep"]]]])
def test_free_shaped_fields_keep_their_shape(data: Data, tmp_path: Path, shape: Any) -> None:
    free = {"ground_truth": shape, "evaluation_criteria": shape, "task_prompt": shape, "expected_approach": shape}
    data.scenario(**free)
    extract(data.folder, tmp_path / "out.jsonl")
    (record,) = records(tmp_path / "out.jsonl")
    assert {name: record[name] for name in free} == free


def test_records_are_sorted_by_id(data: Data, tmp_path: Path) -> None:
    ids = [data.scenario(number=number) for number in (3, 1, 2)]
    ids.append(data.scenario(project="c_os_medium_002"))
    extract(data.folder, tmp_path / "out.jsonl")
    assert [record["id"] for record in records(tmp_path / "out.jsonl")] == sorted(ids)


def test_doubled_and_trailing_separators_are_normalised(data: Data, tmp_path: Path) -> None:
    data.scenario(context_files=["shop//src//basket.py", "docs/", "name"])
    extract(data.folder, tmp_path / "out.jsonl")
    assert records(tmp_path / "out.jsonl")[0]["context_files"] == ["shop/src/basket.py", "docs", "name"]


def test_files_are_counted_where_the_metadata_has_no_count(data: Data, tmp_path: Path) -> None:
    data.scenario(metadata={})
    extract(data.folder, tmp_path / "out.jsonl")
    assert records(tmp_path / "out.jsonl")[0]["files_count"] == 6


def test_project_ends_where_the_category_begins(data: Data, tmp_path: Path) -> None:
    data.scenario(project="rust_ml_computer_vision_expert_054")
    extract(data.folder, tmp_path / "out.jsonl")
    assert records(tmp_path / "out.jsonl")[0]["project_id"] == "rust_ml_computer_vision_expert_054"


NAME = f"{PROJECT}_{CATEGORY}_easy_09"
GOOD = {
    "id": NAME,
    "task_category": CATEGORY,
    "difficulty": "easy",
    "title": "t",
    "description": "d",
    "context_files": ["a"],
    "context_length": 1,
    "task_prompt": "p",
    "ground_truth": "g",
    "metadata": {},
}


def but(without: str = "", **changes: Any) -> bytes:
    """Return the good scenario with some fields changed or one left out."""
    return json.dumps({key: value for key, value in {**GOOD, **changes}.items() if key != without}).encode()


def named(name: str) -> tuple[str, bytes]:
    return name, but(id=name)


BROKEN = {
    "cut off": ((NAME, b'{"id": '), "not valid JSON"),
    "empty": ((NAME, b""), "not valid JSON"),
    "a list": ((NAME, b"[]"), "expected a JSON object, got list"),
    "UTF-16": ((NAME, json.dumps(GOOD).encode("utf-16")), "UTF-16"),
    "Latin-1": ((NAME, '{"id": "ü"}'.encode("latin-1")), "not valid JSON"),
    "not a number": ((NAME, but(context_length=float("nan"))), "not valid JSON"),
    "too deep": ((NAME, b"[" * 10_000 + b"]" * 10_000), "not valid JSON"),
    "lone surrogate": ((NAME, but(title="\ud800")), "not valid JSON"),
    "no id": ((NAME, but(without="id")), "id: missing"),
    "another id": ((NAME, but(id="python_x")), "id: 'python_x' is not the file's name"),
    "id that leaves": ((NAME, but(id="../../etc/passwd")), "is not the file's name"),
    "unknown category in the id": (named("python_x_01"), "id: does not end in"),
    "id that is no plain name": (named("python_A b"), "id: not a plain name"),
    "id of over 200 characters": (named("c_" + "a" * 210), "id: not a plain name"),
    "category that the id does not hold": (
        (NAME, but(task_category="poetry")),
        "id: does not end in _poetry_<difficulty>_<number>, and the task's category is poetry",
    ),
    "no category": ((NAME, but(without="task_category")), "task_category: missing"),
    "category of another type": ((NAME, but(task_category=1)), "task_category: not a string"),
    "foreign without authors": ((NAME, but(source="other", language="c", project_id="x")), "authors: Field required"),
    "foreign project elsewhere": (
        (NAME, but(source="other", authors=["A team"], language="c", project_id="../x")),
        "project_id: not a valid folder name",
    ),
    "foreign source with a slash": (
        (NAME, but(source="a/b", authors=["A team"], language="c", project_id="x")),
        "source: not a plain name",
    ),
    "foreign and nobody's": ((NAME, but(source="other", authors=[], language="c", project_id="x")), "authors: "),
    "unknown difficulty": ((NAME, but(difficulty=3)), "difficulty: "),
    "no title": ((NAME, but(without="title")), "title: Field required"),
    "length beyond counting": ((NAME, but(context_length=10**30)), "context_length: "),
    "length as text": ((NAME, but(context_length="1")), "context_length: "),
    "negative length": ((NAME, but(context_length=-1)), "context_length: "),
    "files as text": ((NAME, but(context_files="a.py")), "context_files: "),
    "file that is a number": ((NAME, but(context_files=[1])), "context_files.0: "),
    "metadata as text": ((NAME, but(metadata="x")), "metadata: "),
    "blank truth": ((NAME, but(ground_truth=" \n")), "ground_truth: contains no text"),
    "no truth": ((NAME, but(without="ground_truth")), "ground_truth: "),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_named_with_its_reason_and_the_others_are_written(
    data: Data, tmp_path: Path, script: Script, case: str
) -> None:
    (name, content), reason = BROKEN[case]
    good, broken = data.scenario(), data.raw(f"{name}.json", content)
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "out.jsonl", "--quiet")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{broken}: ")
    assert reason in line
    assert line.endswith("; skipped")
    assert [record["id"] for record in records(tmp_path / "out.jsonl")] == [good]


def test_second_file_with_an_id_is_skipped(data: Data, tmp_path: Path, script: Script) -> None:
    first = data.scenario()
    copy = data.raw(f"{NAME}.json", (data.folder / "output" / "scenarios" / f"{first}.json").read_bytes())
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "out.jsonl", "--quiet")
    assert (done.returncode, done.stderr) == (1, f"{copy}: id: '{first}' is not the file's name; skipped\n")


def test_byte_order_mark_is_passed_over(data: Data, tmp_path: Path) -> None:
    data.raw(f"{NAME}.json", b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    assert extract(data.folder, tmp_path / "out.jsonl").failures == []


def test_summary_counts_categories_languages_and_difficulties(data: Data, tmp_path: Path, script: Script) -> None:
    data.scenario()
    data.scenario(project="c_os_medium_002", task_category="code_comprehension")
    done = script("extract_dataset.py", "--data-dir", data.folder, "--output", tmp_path / "out.jsonl")
    assert done.returncode == 0
    assert "By category: bug_investigation 1, code_comprehension 1" in done.stdout
    assert "By language: c 1, python 1" in done.stdout
    assert "By difficulty: easy 2" in done.stdout


def test_folder_without_scenarios_is_wrong_usage(tmp_path: Path, script: Script) -> None:
    done = script("extract_dataset.py", "--data_dir", tmp_path, "--output", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "no output/scenarios/ in it; --data_dir names" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_output_that_cannot_be_written_keeps_what_was_there(data: Data, tmp_path: Path, script: Script) -> None:
    data.scenario()
    (tmp_path / "out.jsonl").mkdir()
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "out.jsonl", "--quiet")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot be written" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out.jsonl"]


def test_scenario_is_not_replaced_by_the_dataset(data: Data, tmp_path: Path, script: Script) -> None:
    scenario = data.folder / "output" / "scenarios" / f"{data.scenario()}.json"
    before = scenario.read_bytes()
    done = script("extract_dataset.py", "--data_dir", data.folder, "--output", scenario, "--quiet")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the same file as" in done.stderr
    assert scenario.read_bytes() == before


def test_bundled_sample_extracts_without_a_complaint(tmp_path: Path) -> None:
    assert extract(SAMPLE, tmp_path / "out.jsonl").failures == []


def test_real_scenarios_extract_without_a_complaint(real_data: Path, tmp_path: Path) -> None:
    found = extract(real_data, tmp_path / "out.jsonl")
    assert (found.written, found.failures) == (28, [])
