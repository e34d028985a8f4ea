"""The one command of docs/WITH_AND_WITHOUT.md, on two tasks; and the same server with the real claude CLI."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.executor import ClaudeExecutor
from harness.models import Config, Outcome, Task
from harness.runner import EvalRunner
from tests.e2e.conftest import REPOSITORY, harbor_environment, script
from tests.support.stand_in.messages_api import MessagesAPI, Reply, Request, Text, ToolUse

pytestmark = pytest.mark.e2e

SEARCH = "mcp__code-search__search"


@pytest.fixture(scope="module")
def walked(provided: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder that looks like the checkout, in which the command was run, and what it printed."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in REPOSITORY.iterdir():
        if path.name not in ("demo", ".git", ".cache", ".venv"):
            (folder / path.name).symlink_to(path)
    # The page means the default image; here it is the one that can be had.
    command = ["examples/code-search/run.sh", "--base_image", provided["BASE_IMAGE"], "--limit", "2"]
    tools = os.pathsep.join(
        [str(Path(sys.executable).parent), str(Path(provided["HARBOR"]).parent), os.environ["PATH"]]
    )
    environment = {**harbor_environment(), "PATH": tools}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    # 2: two tasks are not enough for a verdict; the reports are written all the same.
    assert done.returncode in (0, 2), done.stdout + done.stderr
    assert "wrote demo/search/report.md" in done.stdout, done.stdout + done.stderr
    return folder / "demo/search", done.stdout


def trials(folder: Path, job: str) -> dict[str, Path]:
    """The trials' folders of a job, by the name of the task."""
    found = (path.parent for path in (folder / "jobs" / job).glob("*/result.json"))
    return {Path(read(trial / "result.json")["task_id"]["path"]).name: trial for trial in found}


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def reward(trial: Path) -> float:
    result = read(trial / "result.json")
    assert result["exception_info"] is None, result["exception_info"]
    return float(result["verifier_result"]["rewards"]["reward"])


def test_every_task_earns_more_with_the_server(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    without, with_ = trials(folder, "no-search"), trials(folder, "search")

    assert without.keys() == with_.keys() == {path.name for path in (folder / "tasks").iterdir() if path.is_dir()}
    assert len(without) == 2
    for task, trial in without.items():
        assert reward(trial) == 0 < reward(with_[task])


def test_the_jobs_differ_in_the_server_alone(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    without, with_ = trials(folder, "no-search"), trials(folder, "search")

    for task, trial in without.items():
        bare, treated = read(trial / "result.json"), read(with_[task] / "result.json")
        assert bare["task_checksum"] == treated["task_checksum"]
        (server,) = treated["config"]["agent"].pop("mcp_servers")
        assert bare["config"]["agent"].pop("mcp_servers", []) == []
        assert (server["name"], server["transport"]) == ("code-search", "streamable-http")
        assert bare["config"]["agent"] == treated["config"]["agent"]
        assert bare["config"]["environment"] == treated["config"]["environment"]


def test_the_answer_quotes_what_the_search_returned(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    for task, trial in trials(folder, "search").items():
        steps = read(trial / "agent/trajectory.json")["steps"]
        searches = [s for s in steps for call in s.get("tool_calls", []) if call["function_name"] == SEARCH]
        returned = "\n".join(step["observation"]["results"][0]["content"] for step in searches)
        (answer,) = trial.glob("artifacts/**/solution.md")
        quoted = answer.read_text(encoding="utf-8").split("```")[1].strip().splitlines()
        project = folder / "tasks" / task / "environment/project"
        code = "\n".join(path.read_text(errors="replace") for path in project.rglob("*") if path.is_file())

        assert len(quoted) >= 3
        assert [line for line in quoted if line not in returned or line not in code] == []


def test_the_comparison_sees_the_difference_and_that_the_tool_was_used(walked: tuple[Path, str]) -> None:
    folder, printed = walked

    assert "whether search is better or worse than no-search" in printed
    assert re.search(r"score +0\.0\D+[1-9]\d*\.\d", printed)
    assert "never used" not in printed
    assert SEARCH in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "report.md").stat().st_size > 0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of the server over one mirrored project."""
    sample, dataset, repos = REPOSITORY / "data/sample", tmp_path / "dataset.jsonl", tmp_path / "repos"
    assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
    task = "rust_system_messaging_hard_041_architectural_understanding_hard_01"
    made = script(
        *("run_adapter.py", "--data_dir", sample, "--dataset_path", dataset, "--task_ids", task),
        *("--output_dir", tmp_path / "tasks", "--mirror_repos", repos),
    )
    assert made.returncode == 0, made.stderr
    command = [sys.executable, str(REPOSITORY / "examples/code-search/server.py"), str(repos), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.communicate(timeout=20)


def test_the_real_claude_searches_and_gets_lines_of_the_project(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = Path(os.environ.get("HARNESS_E2E_CLAUDE", REPOSITORY / ".cache/e2e/claude"))

    def model(request: Request) -> Reply:
        """Search first, then repeat what the tool returned."""
        if not request.is_main:
            return Text("Title")
        if request.turn == 0:
            return ToolUse(SEARCH, {"pattern": r"pub fn \w+", "path": "src/queue.rs", "limit": 3})
        (result,) = [part for part in request.body["messages"][-1]["content"] if part["type"] == "tool_result"]
        return Text(f"Found: {json.dumps(result['content'])}")

    task = {"id": "t", "category": "exploration", "description": "d", "prompt": "What does the queue offer?"}
    servers = {"mcpServers": {"code-search": {"type": "http", "url": server}}}
    with MessagesAPI(model) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-stand-in")
        monkeypatch.setenv("IS_SANDBOX", "1")
        runner = EvalRunner(ClaudeExecutor(str(claude), grace_seconds=2.0))
        result = runner.run_single(Task.model_validate(task), Config(name="search", mcp_config=servers))

    assert result.outcome is Outcome.COMPLETED
    # In the first request already: a tool that the model must look up first is another treatment.
    tools = {tool["name"] for tool in api.main_requests[0].body["tools"]}
    assert {name for name in tools if name.startswith("mcp__")} == {
        f"mcp__code-search__{name}" for name in ("list_repos", "search", "read_file")
    }
    (call,) = result.trace.tool_calls
    assert (call.name, call.error) == (SEARCH, None)
    project = REPOSITORY / "data/sample/generated/rust_system_messaging_hard_041"
    (source,) = project.rglob("queue.rs")
    lines = [line.split(":", 2)[2] for line in (call.output or "").splitlines()[1:]]
    assert len(lines) == 3
    assert set(lines) <= set(source.read_text(encoding="utf-8").splitlines())
    assert json.dumps(lines[0])[1:-1] in result.trace.result
