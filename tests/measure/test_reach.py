"""How an answer was reached: the files that an agent saw on its way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from locobench.harbor.agent_log import Call
from measure.compare.comparison import compare, compare_arms
from measure.records import EvalResult
from measure.report.exports import comparison_markdown
from measure.report.html import render
from measure.report.timeline import timelines
from measure.results.harbor import load_jobs
from measure.results.reach import reach_of
from tests.measure.test_harbor import write_trial
from tests.support.results import run
from tests.support.suite import harness

FILES = ["src/core/parser.py", "src/core/lexer.py", "src/cli/main.py", "lib/main.py", "Makefile"]
KEY = ["src/core/parser.py", "src/cli/main.py"]


def call(output: str | None = "", error: str | None = None, **given: Any) -> Call:
    return Call("Bash", arguments=given, output=output, error=error)


def test_calls_are_counted_until_the_first_file_of_the_key_is_seen() -> None:
    reach = reach_of([call("lib/main.py"), call("./src/core/parser.py:12: def parse"), call("done")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.precision) == (2, 0.5, 0.5)


@pytest.mark.parametrize(
    "seen",
    [
        call("", command="cat src/core/parser.py\ncat src/cli/main.py"),
        call(json.dumps({"result": "src/core/parser.py\nsrc/cli/main.py\n"})),
        call(json.dumps({"result": "\tsrc\\core\\parser.py\r\n\tsrc\\cli\\main.py"})),
    ],
)
def test_files_in_json_are_told_apart(seen: Call) -> None:
    assert reach_of([seen], KEY, FILES).recall == 1.0  # type: ignore[union-attr]


def test_a_file_that_is_opened_by_its_path_in_the_container_is_seen() -> None:
    reach = reach_of([call("def parse", file_path="/app/project/src/core/parser.py")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.precision) == (1, 1.0)


def test_a_server_puts_the_repository_s_name_before_a_path() -> None:
    found = call("go_prometheus_hard_001/src/core/parser.py:12: def parse\nother/Makefile:1: all")
    reach = reach_of([found], KEY, FILES)
    assert reach is not None
    assert (reach.recall, reach.precision) == (0.5, 1.0)


def test_the_end_of_a_path_names_a_file_only_if_one_file_has_it() -> None:
    assert reach_of([call("core/parser.py")], KEY, FILES).recall == 0.5  # type: ignore[union-attr]
    assert reach_of([call("main.py: no such name")], KEY, FILES).recall == 0.0  # type: ignore[union-attr]


def test_a_path_in_a_failed_call_was_not_seen() -> None:
    reach = reach_of([call(None, "permission denied", file_path="src/cli/main.py")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.precision) == (None, 0.0, None)


def test_a_path_that_is_written_into_the_answer_was_not_seen_by_that() -> None:
    reach = reach_of([call("ok", file_path="/app/solution.md", content="src/cli/main.py: run")], KEY, FILES)
    assert reach is not None
    assert reach.recall == 0.0


def test_what_tools_returned_is_counted_in_bytes() -> None:
    reach = reach_of([call("é"), call(None, "no")], KEY, FILES)
    assert reach is not None
    assert reach.bytes_read == 4


def test_an_agent_that_called_no_tool_saw_nothing() -> None:
    reach = reach_of([], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.bytes_read) == (None, 0.0, 0)


def test_calls_without_recorded_text_say_nothing() -> None:
    assert reach_of([call(None), call(None)], KEY, FILES) is None


def test_without_the_code_base_the_share_of_what_was_seen_is_not_known() -> None:
    reach = reach_of([call("src/core/parser.py and src/core/lexer.py")], KEY, ())
    assert reach is not None
    assert (reach.recall, reach.precision) == (0.5, None)


def exact_task(root: Path, number: int = 0) -> Path:
    """A task whose key names two of three files."""
    task = root / f"tasks/t{number}"
    for path in ("a.py", "lib/b.py", "lib/c.py"):
        (task / "environment/project" / path).parent.mkdir(parents=True, exist_ok=True)
        (task / "environment/project" / path).write_text("x = 1\n")
    (task / "tests").mkdir()
    (task / "task.toml").write_text("")
    key = {"measure": "f1", "items": ["lib/b.py: f", "lib/c.py: C.g"]}
    (task / "tests/ground_truth.json").write_text(json.dumps({"ground_truth": {}, "key": key}))
    return task


def walked(root: Path, task: Path, job: str, *returned: str) -> Path:
    """A trial in whose trajectory one call after the other returned these texts."""
    trial = write_trial(
        root / "jobs", job=job, name=f"{task.name}__1", task_id={"path": str(task)}, id=f"{job}{task.name}"
    )
    steps = [
        {
            "source": "agent",
            "tool_calls": [{"tool_call_id": str(n), "function_name": "Bash", "arguments": {"command": "ls"}}],
            "observation": {"results": [{"source_call_id": str(n), "content": text}]},
        }
        for n, text in enumerate(returned)
    ]
    (trial / "agent").mkdir()
    (trial / "agent/trajectory.json").write_text(json.dumps({"steps": steps}))
    return trial


def reach_in(root: Path, *returned: str) -> Any:
    walked(root, exact_task(root), "job", *returned)
    return load_jobs(root / "jobs")[0].trace.reach


def test_a_harbor_trial_tells_how_the_key_was_reached_and_keeps_no_text(tmp_path: Path) -> None:
    reach = reach_in(tmp_path, "a.py", "lib/b.py:1: f()", "no more")
    assert (reach.calls_to_first, reach.recall, reach.precision, reach.bytes_read) == (2, 0.5, 0.5, 26)
    assert [call.output for call in load_jobs(tmp_path / "jobs")[0].trace.tool_calls] == [None] * 3


def test_a_subagents_calls_count(tmp_path: Path) -> None:
    trial = walked(tmp_path, exact_task(tmp_path), "job", "a.py")
    inner = json.loads((trial / "agent/trajectory.json").read_text())
    inner["steps"][0]["observation"]["results"][0]["content"] = "lib/b.py lib/c.py"
    inner["steps"][0]["tool_calls"][0]["tool_call_id"] = "inner"
    inner["steps"][0]["observation"]["results"][0]["source_call_id"] = "inner"
    outer = json.loads((trial / "agent/trajectory.json").read_text()) | {"subagent_trajectories": [inner]}
    (trial / "agent/trajectory.json").write_text(json.dumps(outer))
    reach = load_jobs(tmp_path / "jobs")[0].trace.reach
    assert reach is not None
    assert (reach.calls_to_first, reach.recall) == (2, 1.0)


@pytest.mark.parametrize("broken", ["{", '{"key": []}', '{"key": {"items": 3}}', '{"ground_truth": "text"}'])
def test_a_key_that_names_no_files_tells_nothing(tmp_path: Path, broken: str) -> None:
    task = exact_task(tmp_path)
    (task / "tests/ground_truth.json").write_text(broken)
    walked(tmp_path, task, "job", "lib/b.py")
    assert load_jobs(tmp_path / "jobs")[0].trace.reach is None


def test_a_trial_without_a_trajectory_tells_nothing(tmp_path: Path) -> None:
    task = exact_task(tmp_path)
    write_trial(tmp_path / "jobs", job="job", task_id={"path": str(task)})
    assert load_jobs(tmp_path / "jobs")[0].trace.reach is None


def arm(first: int | None, recall: float, count: int = 8) -> list[EvalResult]:
    reach = {"calls_to_first": first, "recall": recall, "precision": 0.5, "bytes_read": 1000}
    return [run(f"t{n}", trace={"reach": reach}) for n in range(count)]


def test_arms_are_compared_by_how_they_reached_the_files() -> None:
    rows = {row.name: row for row in compare(arm(6, 0.5), arm(2, 1.0)).reach}
    assert (rows["calls to the first file"].difference, rows["files found"].difference) == (-4.0, 0.5)
    assert rows["calls to the first file"].changed
    assert not rows["bytes read"].changed


def test_a_run_that_saw_no_file_of_the_key_has_no_first_call() -> None:
    rows = {row.name: row for row in compare(arm(None, 0.0), arm(2, 1.0)).reach}
    assert "calls to the first file" not in rows
    assert rows["files found"].tasks == 8


def test_without_keys_that_name_files_there_is_no_such_table() -> None:
    found = compare([run("t")], [run("t")])
    assert found.reach == ()
    assert "files of the answer" not in comparison_markdown(found)


def test_the_files_are_in_every_report(tmp_path: Path) -> None:
    for n in range(6):
        task = exact_task(tmp_path, n)
        walked(tmp_path, task, "without", "a.py", "a.py", "lib/b.py")
        walked(tmp_path, task, "with", "lib/b.py lib/c.py")
    files = ("--html", "c.html", "--markdown", "c.md", "--json", "c.json")
    done = harness(tmp_path, "compare", "jobs/without", "jobs/with", *files)
    row = next(line for line in done.stdout.splitlines() if "calls to the first file" in line)
    assert row.split()[5:8] == ["3.0", "1.0", "-2.0"]
    told = {one["name"]: one for one in json.loads((tmp_path / "c.json").read_text())["reach"]}
    assert (told["files found"]["mean_a"], told["files found"]["mean_b"]) == (0.5, 1.0)
    assert "calls to the first file" in (tmp_path / "c.html").read_text()
    assert "calls to the first file" in (tmp_path / "c.md").read_text()


def test_a_page_draws_runs_of_five_tasks_from_the_fewest_calls_beside_the_baseline_to_the_most() -> None:
    def runs(counts: list[int]) -> list[EvalResult]:
        return [
            run(f"t{n}", tools=["Bash"] * calls, trace={"reach": {"found_at": [1, calls], "recall": 1.0}})
            for n, calls in enumerate(counts)
        ]

    a, b = runs([10] * 9), runs([30, 1, 20, 5, 8, 40, 10, 15, 50])
    shown = timelines(a, b)
    assert [(task, of_b.trace.tool_count) for task, (_, of_b) in shown] == [
        ("t1", 1), ("t4", 8), ("t7", 15), ("t0", 30), ("t8", 50)
    ]  # fmt: skip
    page = render([("a", a), ("b", b)], compare_arms([("a", a), ("b", b)]), "page")
    assert 'x2="100.0%"' in page
    assert 'x2="16.0%"' in page
    assert 'aria-label="b: 8 calls, files of the answer first seen after 1, 8"' in page
    assert "a mark is a call" not in render([("a", a), ("b", a[:0])], compare_arms([("a", a), ("b", b)]), "page")


def test_a_file_that_several_calls_show_counts_where_it_was_seen_first() -> None:
    calls = [call("src/cli/main.py"), call("src/cli/main.py"), call("src/core/parser.py")]
    assert reach_of(calls, KEY, FILES).found_at == (1, 3)  # type: ignore[union-attr]
