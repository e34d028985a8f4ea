"""The bundled sample: ten projects in LoCoBench-Agent's own layout, whose texts are true for their code."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from locobench.dataset.catalog import DIFFICULTIES, load_languages
from locobench.shared.markdown import as_markdown
from tests.conftest import SAMPLE

LANGUAGES = tuple(load_languages())
CATEGORIES = (
    "architectural_understanding", "bug_investigation", "code_comprehension", "cross_file_refactoring",
    "feature_implementation", "integration_testing", "multi_session_development", "security_analysis",
)  # fmt: skip

SCENARIOS = sorted((SAMPLE / "output" / "scenarios").glob("*.json"))
PROJECTS = sorted(path for path in (SAMPLE / "generated").iterdir())
# In a sentence with one of these words a name may be that of something to be made.
TO_BE_MADE = re.compile(
    r"\b(new|add\w*|create\w*|introduce\w*|propose\w*|extract\w*|rename\w*|replace\w*|should|would|becomes?|could|instead)\b",
    re.I,
)


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def project_of(scenario: dict[str, Any]) -> Path:
    return next(path for path in PROJECTS if scenario["id"].startswith(f"{path.name}_"))


def project_text(project: Path) -> str:
    files = [path for path in project.rglob("*") if path.is_file()]
    return "\n".join(f"{path.relative_to(project)}\n{path.read_text(encoding='utf-8')}" for path in files)


def test_every_project_has_a_language_of_the_table_and_a_scenario_of_each_category() -> None:
    assert {path.name.partition("_")[0] for path in PROJECTS} <= {*LANGUAGES}
    asked = Counter((project_of(scenario), scenario["task_category"]) for scenario in map(load, SCENARIOS))
    assert asked == dict.fromkeys(product(PROJECTS, CATEGORIES), 1)


def test_every_difficulty_is_as_common_as_any_other() -> None:
    counts = Counter(load(path)["difficulty"] for path in SCENARIOS)
    assert {*counts} == {*DIFFICULTIES}
    assert max(counts.values()) - min(counts.values()) <= len(CATEGORIES)


def test_quirks_of_the_real_data_occur() -> None:
    scenarios = [load(path) for path in SCENARIOS]
    paths = [path for scenario in scenarios for path in scenario["context_files"]]
    assert any("//" in path for path in paths)
    assert any(path.endswith("/") for path in paths)
    assert {"name", "type", "children"} <= set(paths)
    assert any(isinstance(scenario["ground_truth"], dict) for scenario in scenarios)
    assert {type(scenario["task_prompt"]) for scenario in scenarios} == {str, dict, list}
    files = [path for project in PROJECTS for path in project.rglob("*") if path.is_file()]
    assert any(path.read_bytes().startswith(b"\xef\xbb\xbf") for path in files)
    assert any(path.read_bytes().startswith(b"```") for path in files)
    assert any(" " in path.parent.name for path in files)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_context_length_is_true_to_the_character(path: Path) -> None:
    scenario = load(path)
    project = project_of(scenario)
    files = [project / name for name in scenario["context_files"]]
    length = sum(len(file.read_bytes().decode("utf-8")) for file in files if file.is_file())
    assert scenario["context_length"] == scenario["metadata"]["context_length"] == length
    assert scenario["metadata"]["files_count"] == len(files)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_fields_of_a_ground_truth_name_files_as_the_context_does(path: Path) -> None:
    scenario = load(path)
    truth = json.dumps(scenario["ground_truth"], ensure_ascii=False)
    named = re.findall(r'"(?:file|file_path|file_with_bug|file_to_fix)": "([^"]*)"', truth)
    assert [name for name in named if name not in scenario["context_files"]] == []


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_project_metadata_tell_the_truth(project: Path) -> None:
    metadata = load(project / "project_metadata.json")
    assert metadata["specification"]["unique_id"] == project.name
    for entry in metadata.get("files", []):
        assert (project / entry["path"]).is_file(), entry


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_names_in_back_ticks_exist_in_the_project(path: Path) -> None:
    scenario = load(path)
    text = project_text(project_of(scenario))
    truth = re.sub(r"```.*?(```|\Z)", " ", as_markdown(scenario["ground_truth"]), flags=re.S)
    unknown = []
    for sentence in re.split(r"(?<=[.!?:;])\s+|\n", truth):
        if TO_BE_MADE.search(sentence):
            continue
        for name in re.findall(r"`([^`\n]+)`", sentence):
            identifier = re.fullmatch(r"([A-Za-z_]\w*(?:[./][\w.-]+)*)(\(.*\))?", name)
            if identifier and identifier[1] not in text and identifier[1].rpartition(".")[2] not in text:
                unknown.append(name)
    assert unknown == []


def test_sample_does_not_name_the_benchmark() -> None:
    files = [path for folder in (*PROJECTS, SAMPLE / "output") for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if "locobench" in path.read_text(encoding="utf-8").lower()] == []
