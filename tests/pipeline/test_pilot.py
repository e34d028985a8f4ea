"""What a pilot changes in the selection, and how its runs travel into the tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapter import LoCoBenchAdapter, LoCoBenchLoader, Options
from locobench.dataset.scenario import Derived
from locobench.harbor.task import TaskFolder
from locobench.selection.candidates import Candidate, Pilot, read_candidates, with_pilot
from locobench.selection.select import Selection, select
from locobench.shared.errors import InputError
from select_tasks import default_criteria, read_runs
from tests.conftest import Script
from tests.measure.test_harbor import write_trial
from tests.support.data_builder import Data, extract

FACTS = {"kind": "importers", "tier": "syntax", "checked": True, "control_group": False, "grep_f1": 0.2}


def question(
    name: str,
    *,
    kind: str = "users_in_steps",
    repository: str = "r",
    language: str = "python",
    control: bool = False,
    items: tuple[str, ...] = (),
    mean: float | None = None,
) -> Candidate:
    facts = Derived.model_validate(FACTS | {"kind": kind, "control_group": control})
    pilot = None if mean is None else Pilot(mean, (f"run-{name}",))
    answer = frozenset(items or (f"{name}.py: f",))
    return Candidate(
        name, "code_structure", "unknown", language, 60_000, 9, repository, facts, exact_items=answer, pilot=pilot
    )


def chosen(tasks: list[Candidate], top_n: int) -> Selection:
    return select(tasks, default_criteria(top_n=top_n))


def ids(tasks: list[Candidate], top_n: int) -> list[str]:
    return [task.id for _, task in chosen(tasks, top_n).selected]


def test_tasks_at_the_ceiling_or_the_floor_come_last_and_unmeasured_ones_between() -> None:
    tasks = [question("full", mean=1.0), question("none", mean=0.0), question("new"), question("some", mean=0.9)]
    assert ids(tasks, 4)[:2] == ["some", "new"]
    assert set(ids(tasks, 4)[2:]) == {"full", "none"}


def test_of_one_kind_the_task_that_was_half_solved_comes_first() -> None:
    assert ids([question("high", mean=0.95), question("half", mean=0.5)], 1) == ["half"]


def test_repositories_languages_and_kinds_take_turns() -> None:
    many = [question(f"a{n}", repository="large") for n in range(20)]
    few = [question(f"b{n}", repository="small", kind="importers", language="go") for n in range(3)]
    found = chosen([*many, *few], 6).selected
    assert sum(task.repository == "small" for _, task in found) == 3
    kinds = [question(f"k{n}", kind=kind) for n, kind in enumerate(["x"] * 9 + ["y"] * 3)]
    assert sum(task.kind == "y" for _, task in chosen(kinds, 6).selected) == 3


def test_the_control_group_keeps_its_share_whatever_is_taken_from_the_top() -> None:
    tasks = [question(f"t{n}") for n in range(91)] + [question(f"c{n}", control=True, mean=1.0) for n in range(19)]
    found = [task.derived.control_group for _, task in chosen(tasks, 50).selected if task.derived]
    assert sum(found) == 9
    assert all(abs(sum(found[:n]) - n * 19 / 110) <= 1 for n in range(51))


def test_a_question_that_shares_its_answer_with_a_chosen_one_is_left_out() -> None:
    one, other = ("a: f", "b: f", "c: f", "d: f", "e: f"), ("a: f", "b: f", "c: f", "x: f", "y: f")
    near = chosen([question("one", items=one), question("near", items=other)], 2)
    assert (len(near.selected), near.nearly_same) == (1, 1)
    half = ("a: f", "b: f", "w: f", "x: f", "y: f")
    assert len(ids([question("one", items=one), question("half", items=half)], 2)) == 2
    elsewhere = question("near", items=other, repository="another")
    assert len(ids([question("one", items=one), elsewhere], 2)) == 2


def test_difficulty_is_what_the_pilot_measured_else_unknown_and_facts_stay() -> None:
    told = chosen([question("new"), question("some", mean=0.25)], 2).as_json()["tasks"]
    assert {task["id"]: task["difficulty"] for task in told} == {"some": "between", "new": "unknown"}
    assert told[0]["pilot"] == {"mean": 0.25, "runs": ("run-some",)}
    assert told[0]["derived"]["grep_f1"] == 0.2
    assert "score" not in told[0]


def test_without_a_pilot_the_published_selection_is_by_score_alone() -> None:
    tasks = [
        Candidate(name, "bug_investigation", "hard", "python", size, 9) for name, size in (("a", 60_000), ("b", 90_000))
    ]
    found = chosen(tasks, 2)
    assert [task.id for _, task in found.selected] == ["b", "a"]
    assert "left_out_as_nearly_same" not in found.as_json()["statistics"]


def test_a_pilot_of_other_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no measured run of any task of the dataset"):
        with_pilot([question("a")], {tmp_path: {"b": Pilot(1.0, ())}})


def test_the_pilot_of_a_task_is_the_mean_of_its_graded_trials_by_the_name_that_a_registry_gives(tmp_path: Path) -> None:
    for number, (name, reward) in enumerate([("a-b", 0.2), ("a-b", 0.6), ("a-b", None), ("a-c", 0.1), ("a-d", None)]):
        folder = tmp_path / "job" / f"{name}__{number}"
        folder.mkdir(parents=True)
        rewards = None if reward is None else {"rewards": {"reward": reward}}
        result = {"trial_name": folder.name, "task_name": f"locobench/{name}", "verifier_result": rewards}
        (folder / "result.json").write_text(json.dumps(result))
    (tmp_path / "job/result.json").write_text("{}")
    tasks = with_pilot([question("a_b"), question("a_c"), question("a_d")], {tmp_path: read_runs(tmp_path / "job")})
    assert [task.pilot and task.pilot.mean for task in tasks] == [pytest.approx(0.4), 0.1, None]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"task_name": "a/b", "verifier_result": {"rewards": {"reward": 2}}}',
     '{"task_name": "a/b", "verifier_result": {"rewards": {"reward": "1"}}}',
     '{"task_name": "a/b", "verifier_result": 1}'],
)  # fmt: skip
def test_a_pilot_that_is_no_job_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "job/trial").mkdir(parents=True)
    (tmp_path / "job/trial/result.json").write_text(content)
    with pytest.raises(InputError, match="job"):
        with_pilot([question("b")], {tmp_path / "job": read_runs(tmp_path / "job")})


def test_a_pilot_of_each_arm_counts_alike(data: Data, tmp_path: Path, script: Script) -> None:
    ids = [data.scenario(number=number) for number in (1, 2, 3)]
    extract(data.folder, tmp_path / "d.jsonl")
    for arm, rewards in {"a": (0.0, 1.0, 1.0), "b": (1.0, 1.0, 1.0)}.items():
        rows = (f"{name},{arm},{reward}" for name, reward in zip(ids, rewards, strict=True))
        (tmp_path / f"{arm}.csv").write_text("\n".join(["task,arm,reward", *rows]))
    select_ = ["select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json"]
    done = script(*select_, "--pilot", tmp_path / "a.csv", tmp_path / "b.csv")
    assert "favour" not in done.stderr
    first = json.loads((tmp_path / "s.json").read_text())["tasks"][0]
    assert (first["id"], first["pilot"]["mean"]) == (ids[0], 0.5)
    assert f"{tmp_path / 'a.csv'}: its runs have no ids" in done.stderr
    assert f"{tmp_path / 'b.csv'}: its runs have no ids" in done.stderr
    assert "favour another that fails elsewhere" in script(*select_, "--pilot", tmp_path / "a.csv").stderr


def test_an_exact_question_is_read_with_its_answer_and_without_a_difficulty(data: Data, tmp_path: Path) -> None:
    data.scenario()
    extract(data.folder, tmp_path / "d.jsonl")
    record = json.loads((tmp_path / "d.jsonl").read_text())
    record |= {"derived": {**FACTS, "repository": "mine"}, "difficulty": "unknown"}
    record |= {"ground_truth": {"measure": "f1", "items": ["a.py", "b.py"]}}
    (tmp_path / "d.jsonl").write_text(json.dumps(record))
    (task,) = read_candidates(tmp_path / "d.jsonl")
    assert (task.difficulty, task.kind, task.repository) == ("unknown", "importers", "mine")
    assert task.exact_items == {"a.py", "b.py"}


def test_a_pilot_whose_runs_have_no_ids_is_warned_of(data: Data, tmp_path: Path, script: Script) -> None:
    scenario, dataset = data.scenario(), tmp_path / "d.jsonl"
    extract(data.folder, dataset)
    (tmp_path / "pilot.csv").write_text(f"task,arm,reward\n{scenario},a,0.5\n")
    select_ = ["select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json"]
    done = script(*select_, "--pilot", tmp_path / "pilot.csv")
    assert done.returncode == 0
    assert "its runs have no ids" in done.stderr


def test_the_pilots_runs_go_with_the_selection_into_the_tasks_and_leave_their_content(
    data: Data, tmp_path: Path, script: Script
) -> None:
    data.project()
    for number in (1, 2):
        data.scenario(number=number)
    dataset, selection = tmp_path / "d.jsonl", tmp_path / "s.json"
    extract(data.folder, dataset)
    first, second = (json.loads(line)["id"] for line in dataset.read_text().splitlines())
    write_trial(tmp_path / "jobs", job="pilot", name="p", task=first, reward=1.0, id="run-1")
    generate = ["run_adapter.py", "--data_dir", data.folder, "--dataset_path", dataset]
    select_ = ["select_tasks.py", "--dataset_path", dataset, "--output", selection]
    assert script(*generate, "--output_dir", tmp_path / "before").returncode == 0

    done = script(*select_, "--pilot", tmp_path / "jobs/pilot")
    assert done.returncode == 0, done.stderr
    assert [task["id"] for task in json.loads(selection.read_text())["tasks"]] == [second, first]
    chosen = [*generate, "--selected_tasks", selection]
    assert script(*chosen, "--output_dir", tmp_path / "after").returncode == 0
    assert script(*chosen, "--task_ids", first, "--output_dir", tmp_path / "alone").returncode == 0

    before, after, alone = (TaskFolder.read(tmp_path / name / first) for name in ("before", "after", "alone"))
    assert after == alone
    assert (before.toml.metadata.pilot_runs, after.toml.metadata.pilot_runs) == ((), ("run-1",))
    assert TaskFolder.read(tmp_path / "after" / second).toml.metadata.pilot_runs == ()
    assert before.content == after.content
    assert before.digest != after.digest
    assert {before.toml.metadata.difficulty, after.toml.metadata.difficulty} == {"easy"}


def test_the_difficulty_of_an_exact_question_is_what_the_pilot_measured(data: Data, tmp_path: Path) -> None:
    data.project()
    truth = {"measure": "f1", "items": ["src/basket.py"]}
    scenario = data.scenario(difficulty="unknown", derived=FACTS, ground_truth=truth)
    extract(data.folder, tmp_path / "d.jsonl")
    for name, pilots in (("before", {}), ("after", {scenario: (("run-1",), "between")})):
        loader, options = LoCoBenchLoader(tmp_path / "d.jsonl"), Options(pilots=pilots)
        adapter = LoCoBenchAdapter(loader, tmp_path / name, data.folder, options)
        assert adapter.generate_task(scenario).status == "written"
    before, after = (TaskFolder.read(tmp_path / name / scenario) for name in ("before", "after"))
    assert (before.toml.metadata.difficulty, after.toml.metadata.difficulty) == ("unknown", "between")
    assert before.content == after.content
