"""Tasks without the code, and what their rewards change in the selection."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from locobench.harbor.mcp import McpServer
from locobench.selection.criteria import Candidate
from locobench.selection.measured import with_closed_rewards
from locobench.selection.select import select
from locobench.shared.errors import InputError
from select_tasks import default_criteria, read_runs
from tests.conftest import Script
from tests.pipeline.test_adapter import generate, local_reward
from tests.support.data_builder import FILES, Data, tree


def both(data: Data, tmp_path: Path, **options: Any) -> tuple[Path, Path]:
    """The same task with and without the code."""
    data.project()
    data.scenario()
    return (
        generate(data, tmp_path / "open", **options),
        generate(data, tmp_path / "closed", closed_book=True, **options),
    )


def test_no_line_of_the_code_is_in_the_agents_image(data: Data, tmp_path: Path) -> None:
    _, closed = both(data, tmp_path)
    context = tree(closed / "environment")

    assert list(context) == ["Dockerfile"]
    assert b"COPY" not in context["Dockerfile"]
    assert not any(content in (closed / "instruction.md").read_text() for content in FILES.values())
    assert not (closed / "tests/project").exists(), "verify.py has its index"
    assert tomllib.loads((closed / "task.toml").read_text())["metadata"]["closed_book"] is True


def test_the_question_is_the_same_and_says_that_there_is_no_code(data: Data, tmp_path: Path) -> None:
    opened, closed = ((task / "instruction.md").read_text() for task in both(data, tmp_path))

    assert opened[opened.index("# Old prices") :] == closed[closed.index("# Old prices") :]
    assert "not in this container" in closed
    assert "/app/project" not in closed
    assert "tools" not in closed
    assert "not in this container" not in opened


def test_with_a_server_the_agent_is_told_of_its_tools(data: Data, tmp_path: Path) -> None:
    server = McpServer(name="code-search", transport="streamable-http", url="http://search:8000/mcp")
    _, closed = both(data, tmp_path, mcp_servers=(server,))

    assert "through your tools alone (code-search)" in (closed / "instruction.md").read_text()


def test_it_is_graded_alike(data: Data, tmp_path: Path) -> None:
    opened, closed = both(data, tmp_path)

    assert (opened / "tests/ground_truth.json").read_bytes() == (closed / "tests/ground_truth.json").read_bytes()
    assert local_reward(closed, tmp_path / "root", None) == 1.0


def trial(job: Path, number: int, name: str, reward: float | None) -> None:
    folder = job / f"{name[:30]}__{number}"
    folder.mkdir(parents=True)
    rewards = None if reward is None else {"rewards": {"reward": reward}}
    result = {"trial_name": folder.name, "task_name": f"locobench/{name}", "verifier_result": rewards}
    (folder / "result.json").write_text(json.dumps(result))


def closed_rewards(names: Iterable[str], job: Path) -> list[Candidate]:
    return with_closed_rewards(map(candidate, names), read_runs(job, closed=True), job)


def candidate(name: str) -> Candidate:
    return Candidate(name, "bug_investigation", "hard", "python", 100_000, 50)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    for number, (name, reward) in enumerate([("a-b", 0.2), ("a-b", 0.6), ("a-b", None), ("a-c", 0.1), ("a-d", None)]):
        trial(folder, number, name, reward)
    (folder / "result.json").write_text("{}")
    return folder


def test_the_reward_of_a_task_is_the_mean_of_its_graded_trials(job: Path) -> None:
    rewards = [task.closed_reward for task in closed_rewards(("a_b", "a_c", "a_d"), job)]

    assert rewards == [pytest.approx(0.4), 0.1, None]


def test_what_can_be_answered_without_reading_is_left_out_and_what_is_unknown_stays(job: Path) -> None:
    tasks = closed_rewards(("a_b", "a_c", "a_d"), job)

    assert [task.id for _, task in select(tasks, default_criteria(max_closed=0.3)).selected] == ["a_c", "a_d"]
    assert len(select(tasks, default_criteria(max_closed=0.4)).selected) == 3
    assert len(select(tasks, default_criteria()).selected) == 3


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"task_name": "a/b", "verifier_result": {"rewards": {"reward": 2}}}',
     '{"task_name": "a/b", "verifier_result": {"rewards": {"reward": "1"}}}',
     '{"task_name": "a/b", "verifier_result": 1}'],
)  # fmt: skip
def test_a_job_that_is_none_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "job/trial").mkdir(parents=True)
    (tmp_path / "job/trial/result.json").write_text(content)
    with pytest.raises(InputError, match="job"):
        closed_rewards(["b"], tmp_path / "job")


def test_a_job_of_tasks_with_the_code_is_refused(data: Data, tmp_path: Path) -> None:
    opened, closed = both(data, tmp_path)
    folder = tmp_path / "job/a"
    folder.mkdir(parents=True)
    result = {
        "trial_name": "a",
        "task_name": f"locobench/{opened.name.replace('_', '-')}",
        "task_id": {"path": str(closed)},
        "verifier_result": {"rewards": {"reward": 0.5}},
    }
    (folder / "result.json").write_text(json.dumps(result))
    assert closed_rewards([opened.name], tmp_path / "job")[0].closed_reward == 0.5

    (folder / "result.json").write_text(json.dumps({**result, "task_id": {"path": str(opened)}}))
    with pytest.raises(InputError, match="of a task with the code"):
        closed_rewards([opened.name], tmp_path / "job")


def test_a_job_of_other_tasks_is_refused(job: Path) -> None:
    with pytest.raises(InputError, match="no measured run of any task of the dataset"):
        closed_rewards(["other"], job)


@pytest.fixture
def dataset(data: Data, tmp_path: Path, script: Script) -> Path:
    data.project()
    for number in (1, 2):
        data.scenario(number=number)
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    return tmp_path / "d.jsonl"


def test_select_tasks_reads_a_job_and_tells_of_which_tasks_it_says_nothing(
    dataset: Path, tmp_path: Path, script: Script
) -> None:
    ids = [json.loads(line)["id"] for line in dataset.read_text().splitlines()]
    trial(tmp_path / "job", 1, ids[0].replace("_", "-"), 0.9)
    files = ["--dataset_path", dataset, "--output", tmp_path / "s.json", "--closed_book", tmp_path / "job"]

    done = script("select_tasks.py", *files, "--max_closed", "0.5")

    assert done.returncode == 0
    selection = json.loads((tmp_path / "s.json").read_text())
    assert [task["id"] for task in selection["tasks"]] == ids[1:]
    assert selection["selection_criteria"]["max_closed"] == 0.5
    assert "has no result of 1 of the selected tasks" in done.stderr


@pytest.mark.parametrize(
    "flags", [["--max_closed", "0.5"], ["--closed_book", "x", "--max_closed", "50"], ["--closed_book", "x"]]
)
def test_a_limit_without_its_job_and_a_job_that_is_none_are_wrong_use(
    dataset: Path, tmp_path: Path, script: Script, flags: list[str]
) -> None:
    done = script("select_tasks.py", "--dataset_path", dataset, "--output", tmp_path / "s.json", *flags)
    assert done.returncode == 2
    assert not (tmp_path / "s.json").exists()
