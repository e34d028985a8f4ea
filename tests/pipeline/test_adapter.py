"""adapter.py: the record, the loader, and what a generated task holds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapter import LoCoBenchAdapter, LoCoBenchLoader, LoCoBenchTask
from locobench.dataset.catalog import load_languages
from locobench.generate.options import Options
from locobench.reading import MAX_ANSWER_BYTES
from locobench.shared.errors import InputError
from tests.support.data_builder import FILES, PROJECT, TRUTH, Data, extract, tree

LANGUAGES = tuple(load_languages())

HOSTILE = (
    "{{ x }} {% raw %} {# no #} {id} {0} ${HOME} $(id) `id` \\n \\ EOF\nEOF\n'''\n\"\"\"\n"
    "```\r\nCRLF\r\n\0 NUL \u2028 \x1b[31m "
    "]]> <!-- canary --> \t# canary\nFROM scratch\nRUN rm -rf /\n[task]\nname = 1\n"
)


def loader(data: Data, tmp_path: Path) -> LoCoBenchLoader:
    extract(data.folder, tmp_path / "d.jsonl")
    return LoCoBenchLoader(tmp_path / "d.jsonl")


def generate(data: Data, tmp_path: Path, **options: Any) -> Path:
    """Generate the only task of `data` and return its folder."""
    (tmp_path / "tasks").mkdir(parents=True, exist_ok=True)
    tasks = loader(data, tmp_path)
    (outcome,) = LoCoBenchAdapter(tasks, tmp_path / "tasks", data.folder, Options(**options)).generate(tasks.all_ids())
    assert outcome.status == "written", outcome.reason
    return tmp_path / "tasks" / outcome.task_id


def test_a_task_is_made_from_a_raw_scenario_and_from_a_line_of_the_dataset(data: Data, tmp_path: Path) -> None:
    scenario = data.scenario()
    raw = json.loads((data.folder / "output/scenarios" / f"{scenario}.json").read_text())
    task = loader(data, tmp_path).load(scenario)
    line = json.loads((tmp_path / "d.jsonl").read_bytes())
    assert LoCoBenchTask.from_dict(raw) == LoCoBenchTask.from_dict(line) == task


@pytest.mark.parametrize("raw", [{}, {"id": 7}, {"id": "x", "task_category": "bug_investigation"}])
def test_a_dictionary_that_is_no_scenario_is_refused_with_its_field(raw: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(id|task_category): "):
        LoCoBenchTask.from_dict(raw)


def test_the_adapter_has_the_name_that_adapters_have() -> None:
    assert LoCoBenchAdapter.NAME == "locobench-agent"


def test_the_classes_of_adapter_py_are_given_by_the_library_too() -> None:
    import locobench

    assert locobench.LoCoBenchAdapter is LoCoBenchAdapter
    assert {cls.__module__ for cls in (LoCoBenchAdapter, LoCoBenchLoader, LoCoBenchTask)} == {"adapter"}
    with pytest.raises(AttributeError, match="no attribute 'Loader'"):
        locobench.Loader  # noqa: B018


def local_reward(task: Path, root: Path, answer: str | None) -> float:
    """Score `answer` with the task's own test.sh; None lets the oracle answer."""
    (root / "app").mkdir(parents=True)
    (root / "tests").symlink_to(task / "tests")
    if answer is None:
        subprocess.run(["bash", task / "solution" / "solve.sh", root], check=True)
    else:
        (root / "app" / "solution.md").write_text(answer, newline="")
    subprocess.run(["bash", task / "tests" / "test.sh", root], check=True, capture_output=True)
    return float(json.loads((root / "logs" / "verifier" / "reward.json").read_text())["reward"])


def test_record_cannot_be_changed(data: Data, tmp_path: Path) -> None:
    data.scenario()
    (task,) = loader(data, tmp_path)
    with pytest.raises(ValueError, match="frozen"):
        task.title = "other"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "a b"), ("language", "C++"), ("task_category", "Bug hunt"), ("project_id", "a/b"), ("project_id", "."),
        ("source", "Loco/Bench"), ("authors", []), ("authors", [" "]), ("authors", ["two\nlines"]),
    ],
)  # fmt: skip
def test_record_whose_names_cannot_be_used_is_refused(data: Data, tmp_path: Path, field: str, value: object) -> None:
    data.scenario()
    (task,) = loader(data, tmp_path)
    with pytest.raises(InputError, match=field):
        LoCoBenchTask.from_record({**task.model_dump(), field: value})


def test_loader_finds_tasks_by_id(data: Data, tmp_path: Path) -> None:
    first = data.scenario()
    second = data.scenario(project="c_os_medium_002", task_category="code_comprehension", difficulty="expert")
    tasks = loader(data, tmp_path)
    assert tasks.all_ids() == [second, first]
    assert len(tasks) == 2
    assert tasks.load(first).ground_truth == TRUTH


def test_unknown_ids_are_all_named(data: Data, tmp_path: Path) -> None:
    known = data.scenario()
    tasks = loader(data, tmp_path)
    with pytest.raises(InputError, match=r"no task with id nobody, nothing"):
        tasks.require(["nothing", known, "nobody"])
    with pytest.raises(InputError, match="nobody"):
        tasks.load("nobody")


@pytest.mark.parametrize(
    ("line", "words"),
    [("{}", "field 'id' missing"), ("nonsense", "not valid JSON"), ("twice", "is already on line 1; remove one")],
)
def test_dataset_that_extraction_did_not_write_is_refused_by_line(
    data: Data, tmp_path: Path, line: str, words: str
) -> None:
    data.scenario()
    loader(data, tmp_path)
    path = tmp_path / "d.jsonl"
    path.write_text(path.read_text() + (path.read_text() if line == "twice" else line))
    with pytest.raises(InputError, match=rf"d\.jsonl:2: .*{words}"):
        LoCoBenchLoader(path)


def test_task_directory_holds_what_harbor_needs(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario()
    task = generate(data, tmp_path)
    assert sorted(tree(task)) == sorted(
        [
            "instruction.md", "task.toml", "environment/Dockerfile", "tests/test.sh", "tests/verify.py",
            "tests/locobench/reading.py",
            "tests/ground_truth.json", "tests/task_metadata.json", "solution/solve.sh", "solution/solution.md",
            *(f"environment/project/{path}" for path in FILES),
        ]
    )  # fmt: skip
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["task"]["name"] == f"locobench/{task.name.replace('_', '-')}"
    assert config["metadata"]["language"] == "python"
    assert config["artifacts"] == ["/app/solution.md"]
    assert config["verifier"]["environment_mode"] == "separate"
    assert os.access(task / "tests" / "test.sh", os.X_OK)
    assert os.access(task / "solution" / "solve.sh", os.X_OK)


def test_a_task_can_be_generated_alone_into_a_new_folder(data: Data, tmp_path: Path) -> None:
    data.project()
    scenario = data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path / "new" / "tasks", data.folder)
    assert adapter.generate_task(scenario).status == "written"
    assert tree(adapter.output_dir / scenario) == tree(generate(data, tmp_path))


def test_a_task_can_have_a_folder_of_another_name(data: Data, tmp_path: Path) -> None:
    """Harbor's adapters give it as the second argument."""
    data.project()
    scenario = data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path / "tasks", data.folder)
    assert adapter.generate_task(scenario, "local-1").status == "written"
    assert [path.name for path in adapter.output_dir.iterdir()] == ["local-1"]
    assert adapter.generate_task(scenario, "local-1").status == "unchanged"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x"])
def test_a_name_that_is_no_folder_writes_nothing(data: Data, tmp_path: Path, name: str) -> None:
    data.project()
    scenario = data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path / "tasks", data.folder)
    with pytest.raises(InputError, match=f"^'{re.escape(name)}': not a valid folder name"):
        adapter.generate_task(scenario, name)
    assert not adapter.output_dir.exists()


@pytest.mark.parametrize(("kept", "size"), [(5, 5), (MAX_ANSWER_BYTES + 1, MAX_ANSWER_BYTES), (3 << 30, 1 << 18)])
def test_no_more_of_an_answer_than_the_verifier_reads_is_collected(
    data: Data, tmp_path: Path, kept: int, size: int
) -> None:
    answer = tmp_path / "solution.md"
    with answer.open("wb") as stream:
        stream.truncate(kept)
    collect(data, tmp_path, answer)
    assert answer.stat().st_size == size


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(__file__), lambda path: None])
def test_what_is_no_file_is_not_collected(data: Data, tmp_path: Path, make: Callable[[Path], object]) -> None:
    answer = tmp_path / "solution.md"
    make(answer)
    collect(data, tmp_path, answer)
    assert not os.path.lexists(answer)


def collect(data: Data, tmp_path: Path, answer: Path) -> None:
    """Run the end of a task's collect hook, on `answer` instead of the container's."""
    data.project()
    data.scenario()
    (hook,) = tomllib.loads((generate(data, tmp_path) / "task.toml").read_text())["verifier"]["collect"]
    assert hook["user"] == "root"
    # The rest is for a container: it would stop this machine's processes and remove its rewards.
    _, mark, bounding = hook["command"].rpartition("answer=/app/solution.md\n")
    assert mark
    subprocess.run(["bash", "-c", f"answer={answer}\n{bounding}"], check=True)


def test_agent_sees_nothing_of_the_truth_the_approach_or_the_criteria(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario(
        ground_truth=TRUTH + " zanzibar",
        expected_approach="zanzibar approach",
        evaluation_criteria=["zanzibar criterion"],
    )
    task = generate(data, tmp_path)
    seen = {path: text for path, text in tree(task).items() if path.partition("/")[0] not in ("tests", "solution")}
    assert [path for path, text in seen.items() if b"zanzibar" in text] == []
    visible = [seen[path] for path in seen if path != "task.toml"]
    assert not any(b"locobench" in text.lower() for text in visible)


def test_hints_show_approach_and_criteria_but_never_the_truth(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario(ground_truth=TRUTH + " zanzibar")
    instruction = (generate(data, tmp_path, include_hints=True) / "instruction.md").read_text()
    assert "Follow the price" in instruction
    assert "Names the comparison" in instruction
    assert "zanzibar" not in instruction


def test_names_in_the_hints_are_given_only_where_they_are_shown(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario(expected_approach="`zanzibar_first` it is.", evaluation_criteria=["mentions MadagascarPlan"])
    for shown in (False, True):
        task = generate(data, tmp_path / str(shown), include_hints=shown)
        given = set(json.loads((task / "tests" / "ground_truth.json").read_text())["key"]["given"])
        assert {"zanzibarfirst", "madagascarplan"} & given == ({"zanzibarfirst", "madagascarplan"} if shown else set())


@pytest.mark.parametrize("prompt", [HOSTILE, HOSTILE * 1200], ids=["short", "200 KB"])
def test_text_of_the_scenario_arrives_unchanged(data: Data, tmp_path: Path, prompt: str) -> None:
    data.project()
    data.scenario(task_prompt=prompt, title=HOSTILE, description=HOSTILE, ground_truth=HOSTILE + TRUTH)
    task = generate(data, tmp_path)
    assert prompt.encode() in (task / "instruction.md").read_bytes()
    assert (task / "solution" / "solution.md").read_bytes().startswith((HOSTILE + TRUTH).encode())
    assert tomllib.loads((task / "task.toml").read_text())["metadata"]["title"] == HOSTILE


@pytest.mark.parametrize("closed_book", [False, True])
def test_the_instruction_says_that_the_prompts_form_counts_and_its_file_does_not(
    data: Data, tmp_path: Path, closed_book: bool
) -> None:
    data.project()
    data.scenario(task_prompt="Write no code. Put your findings into `docs/review.md`.")
    instruction = (generate(data, tmp_path, closed_book=closed_book) / "instruction.md").read_text()
    asked = instruction.index("fenced blocks")
    settled = instruction.index("Where the task asks for another form, or for no code, do as it says.")
    assert asked < settled < instruction.index("Write no code.")
    assert "names another file for the answer, the\nanswer still goes into `/app/solution.md`" in instruction


def test_instruction_does_not_begin_with_a_line_that_harbor_may_strip(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario(title="The canary deployment")
    assert not (generate(data, tmp_path) / "instruction.md").read_text().startswith(("#", "<!--"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_dockerfiles_differ_only_in_their_language_layer(language: str, data: Data, tmp_path: Path) -> None:
    data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path, data.folder, Options(base_image="debian:12"))
    text, other = adapter._generate_dockerfile(language), adapter._generate_dockerfile("python")
    assert text.startswith("FROM debian:12 AS language\n")
    assert "curl |" not in text
    layers, others = text.split("\n\n"), other.split("\n\n")
    assert layers[:2] == others[:2]
    assert layers[3:] == others[3:]
    assert layers[-1].splitlines() == ["COPY project/ /app/project/", "WORKDIR /app/project"]


def test_an_output_folder_that_does_not_exist_yet_is_made(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario()
    tasks = loader(data, tmp_path)
    (outcome,) = LoCoBenchAdapter(tasks, tmp_path / "not/yet/there", data.folder).generate(tasks.all_ids())
    assert outcome.status == "written", outcome.reason
    assert (tmp_path / "not/yet/there" / outcome.task_id / "task.toml").is_file()


def test_unknown_project_folder_fails_that_task_only(data: Data, tmp_path: Path) -> None:
    data.project()
    good, lost = data.scenario(), data.scenario(project="c_os_medium_002")
    tasks = loader(data, tmp_path)
    (tmp_path / "tasks").mkdir()
    outcomes = {
        o.task_id: o for o in LoCoBenchAdapter(tasks, tmp_path / "tasks", data.folder).generate(tasks.all_ids())
    }
    assert outcomes[good].status == "written"
    assert outcomes[lost].status == "failed"
    assert "c_os_medium_002: No such file" in outcomes[lost].reason


@pytest.mark.parametrize(
    "truth",
    [
        TRUTH,
        {"cause": TRUTH, "culprit_files": [{"file": "shop/src/basket.py", "line": 3}], "fixed_code": ["a_b = c_d()"]},
        ["`lookup_price` is stale", {"file": "shop/src/price_cache.py"}],
        "Look at shop/src/basket.py, shop/src/orders.py, shop/src/shipping.py, shop/README.md: zanzibar.",
        "Zanzibar.",
        "An unfinished fence names warm_start\n```\nwarm_start()",
    ],
    ids=["text", "object", "list", "most files", "one word", "open fence"],
)  # fmt: skip
def test_oracle_scores_exactly_one_and_silence_exactly_nothing(data: Data, tmp_path: Path, truth: Any) -> None:
    data.project()
    data.scenario(ground_truth=truth)
    task = generate(data, tmp_path)
    assert local_reward(task, tmp_path / "oracle", None) == 1.0
    assert local_reward(task, tmp_path / "blank", " \n\n") == 0.0


def test_a_code_base_without_a_name_is_refused_with_the_way_out(data: Data, tmp_path: Path) -> None:
    data.project({"notes.txt": "one two three\n"})
    data.scenario(context_files=["shop/notes.txt"])
    tasks = loader(data, tmp_path)
    (outcome,) = LoCoBenchAdapter(tasks, tmp_path, data.folder).generate(tasks.all_ids())
    assert outcome.status == "failed"
    assert "no identifier of the code base can be scored" in outcome.reason
    assert "--scoring published" in outcome.reason


def test_real_scenarios_oracle_and_empty_answer(real_data: Path, tmp_path: Path) -> None:
    extract(real_data, tmp_path / "d.jsonl")
    tasks = LoCoBenchLoader(tmp_path / "d.jsonl")
    (tmp_path / "tasks").mkdir()
    outcomes = list(LoCoBenchAdapter(tasks, tmp_path / "tasks", real_data).generate(tasks.all_ids()))
    assert len(outcomes) == 28
    assert {outcome.status for outcome in outcomes} == {"written"}
    for outcome in outcomes:
        task = tmp_path / "tasks" / outcome.task_id
        assert local_reward(task, tmp_path / outcome.task_id / "oracle", None) == 1.0
        assert local_reward(task, tmp_path / outcome.task_id / "blank", "") == 0.0


def test_project_of_the_scenario_is_the_folder_named_like_the_ids_beginning(data: Data, tmp_path: Path) -> None:
    scenario = data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path, data.folder)
    assert adapter._get_project_dir(scenario) == data.folder / "generated" / PROJECT
