"""The examples that users of the harness were given: they run as they stand, in a folder like the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness as harness_package
from harness.models import EvalResult
from harness.runner import EvalRunner
from harness.suite.load import load_task
from tests.support.fake_claude import FakeClaude
from tests.support.stand_in.messages_api import AUTH, MessagesAPI, always
from tests.support.suite import REPOSITORY, harness

RUN = """\
from pathlib import Path

from harness.runner import EvalRunner

runner = EvalRunner()

# one task with one configuration
task = runner.load_task(Path("evals/tasks/coding/fix-auth-bypass.task.yaml"))
config = runner.load_config(Path("evals/configs/full/config.yaml"))
result = runner.run_single(task, config)

# everything with everything
tasks = runner.load_tasks_from_glob("evals/tasks/**/*.task.yaml")
configs = runner.load_configs_from_glob("evals/configs/*/config.yaml")
results = runner.run_matrix(tasks, configs, runs_per_combo=3)

runner.save_results(results, "results.json")
"""

ISOLATE = """\
from pathlib import Path

from harness.isolator import EnvironmentIsolator

isolator = EnvironmentIsolator()

with isolator.create_environment(
    fixture_path=Path("fixtures/sample-project"),
    claude_md="# Instructions...",
    skills_path=Path("~/.claude/skills"),
) as env:
    # what is worked with lies here, until the block ends
    found = sorted(str(path.relative_to(env.path)) for path in env.path.rglob("*") if path.is_file())
"""

TASK = """\
id: fix-auth-bypass
category: coding
description: Anybody can log in.
difficulty: medium
prompt: |
  Find the hole in the login and close it.
fixture_path: ../../../fixtures/sample-project
timeout_seconds: 300
assertions:
  - type: code
    check: tests_pass
    command: python3 -m unittest discover -s tests -t .
  - type: code
    check: file_contains
    file: shelf/auth.py
    pattern: compare_digest
  - type: llm
    rubric: Is the fix small?
scoring:
  tests_pass: 50
  file_contains: 20
  llm_quality: 30
"""

CONFIG = """\
name: full
description: Everything
claude_md: null
skills_path: null
agents_md: null
model: claude-sonnet-4-20250514
max_turns: 10
allowed_tools: [Read, Edit, Write, Bash, Grep, Glob]
"""

SOLVED = (REPOSITORY / "evals/solutions/fix-auth-bypass/shelf/auth.py").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The suite's one task that the examples name, two of its configs, and a `claude` on PATH that solves it."""
    for path in ("fixtures", "hidden/fix-auth-bypass", "skills", "tasks/coding/fix-auth-bypass.task.yaml"):
        source, copy = REPOSITORY / "evals" / path, tmp_path / "evals" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copyfile(source, copy)
    shutil.copytree(REPOSITORY / "evals/solutions/fix-auth-bypass", tmp_path / "evals/solutions/fix-auth-bypass")
    for name in ("baseline", "full"):
        shutil.copytree(REPOSITORY / "evals/configs" / name, tmp_path / "evals/configs" / name)
    shutil.copytree(REPOSITORY / "fixtures", tmp_path / "fixtures", symlinks=True)
    tools = ["Read", "Edit", "Write", "Bash", "Grep", "Glob", "Skill", "Task"]
    offered = {"skills": ["careful-fix"], "agents": ["reviewer"], "tools": tools}
    FakeClaude(writes={"shelf/auth.py": SOLVED}, patch_init=offered).install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_names_of_the_api_come_from_the_package_and_nothing_else_is_imported() -> None:
    code = "import sys, harness; assert 'pydantic' not in sys.modules; from harness import *; print(*sorted(vars()))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert {"EvalRunner", "Task", "Config", "EvalResult", "Executor", "CompositeGrader", "Reporter"} <= set(
        shown.stdout.split()
    )


def test_the_types_of_the_package_name_what_it_gives() -> None:
    stub = Path(harness_package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = [line.split() for line in stub.splitlines()]
    assert {name: module for _, module, _, name, *_ in lines} == vars(harness_package)["_MODULES"]


@pytest.mark.slow
def test_a_run_a_matrix_and_its_results_file(checkout: Path) -> None:
    names: dict[str, object] = {}
    exec(RUN, names)
    result = names["result"]
    assert isinstance(result, EvalResult)
    assert (result.task_id, result.config_name, result.passed) == ("fix-auth-bypass", "full", True)
    saved = EvalRunner.load_results(checkout / "evals/results/results.json")
    assert sorted((run.config_name, run.run_index) for run in saved if run.passed) == [
        (name, index) for name in ("baseline", "full") for index in range(3)
    ]


def test_an_isolated_environment(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "home/.claude/skills/greet").mkdir(parents=True)
    (checkout / "home/.claude/skills/greet/SKILL.md").write_text("---\nname: greet\n---\nSay hello.\n")
    monkeypatch.setenv("HOME", str(checkout / "home"))
    names: dict[str, object] = {}
    exec(ISOLATE, names)
    found = names["found"]
    assert isinstance(found, list)
    assert {"CLAUDE.md", ".claude/skills/greet/SKILL.md", "shelf/auth.py"} <= set(found)
    assert not names["env"].path.exists()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_task_with_all_its_keys_and_a_config_are_valid_and_run(checkout: Path) -> None:
    (checkout / "evals/tasks/coding/fix-auth-bypass.task.yaml").write_text(TASK)
    (checkout / "evals/configs/full/config.yaml").write_text(CONFIG)
    files = ("-t", "evals/tasks/coding/fix-auth-bypass.task.yaml"), ("-c", "evals/configs/full/config.yaml")
    judge = {"JUDGE_API_KEY": "k"}
    assert harness(checkout, "validate", "--static", *files[0], **judge).returncode == 0
    assert harness(checkout, "validate", *files[1]).returncode == 0
    with MessagesAPI(always(AUTH)) as service:
        judge["JUDGE_BASE_URL"] = service.url
        shown = harness(checkout, "run", *files[0], *files[1], "-o", "out.json", **judge)
    (run,) = json.loads((checkout / "out.json").read_text())["results"]
    grades = {grade["assertion_id"]: grade for grade in run["grades"]}
    assert {name: grade["weight"] for name, grade in grades.items()} == {
        "code_0_tests_pass": 50,
        "code_1_file_contains": 20,
        "llm_0": 30,
    }
    assert grades["code_0_tests_pass"]["passed"]
    assert grades["llm_0"]["status"] == "judge_error"
    assert shown.returncode == 2


def test_the_bundled_task_is_where_the_examples_look_for_it() -> None:
    task = load_task(REPOSITORY / "evals/tasks/coding/fix-auth-bypass.task.yaml")
    assert task.id == "fix-auth-bypass"
    assert (REPOSITORY / "fixtures/sample-project/shelf/auth.py").is_file()
