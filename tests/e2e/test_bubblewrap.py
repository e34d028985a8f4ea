"""--sandbox bubblewrap with the real claude CLI: the work passes, and agents reach nothing but their project."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.results.files import load_results
from harness.sandbox.bubblewrap import works
from harness.suite.load import load_tasks
from tests.e2e.claude_runs import attacks, bash, by_prompt, prompt_key, solving
from tests.support.stand_in.messages_api import MessagesAPI, Reply, Responder, Text
from tests.support.suite import REPOSITORY, environment

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or may make no namespaces here"),
]

SUITE = REPOSITORY / "evals"


def matrix(root: Path, tasks: str, claude: Path, server: MessagesAPI) -> subprocess.CompletedProcess[str]:
    """One run of each task with the plain config."""
    config = SUITE / "configs/baseline/config.yaml"
    command = [sys.executable, "-m", "harness", "matrix", "-t", tasks, "-c", str(config), "--claude", str(claude)]
    command += ["--sandbox", "bubblewrap", "-r", "1", "-j", "2", "-o", "out.json"]
    env = environment(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="sk-ant-stand-in", IS_SANDBOX="1")
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)


def test_the_bundled_suite_passes_without_sight_of_its_answers(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    pattern = str(SUITE / "tasks/**/*.task.yaml")
    scripts: dict[str, list[Reply]] = {}
    for task in load_tasks(pattern):
        look = f"ls {task.hidden_path} {task.solution_path} | grep -vE ':$|^$' | wc -l; ls /proc | grep -c '^[0-9]'"
        touch = f"touch /etc/written-by-an-agent {Path.home()}/written-by-an-agent 2>&1 | grep -c Read-only"
        scripts[prompt_key(task.prompt)] = [bash(f"{look}; {touch}"), solving(task), Text("Done.")]
    shown = matrix(tmp_path, pattern, claude, api(by_prompt(scripts)))
    assert shown.returncode == 0, shown.stdout + shown.stderr
    results = load_results(tmp_path / "out.json")
    assert len(results) == 8
    assert [r.task_id for r in results if not r.passed] == []
    for result in results:
        files, processes, refused = map(int, (result.trace.tool_calls[0].output or "").split())
        assert (files, refused) == (0, 2)
        assert processes < 12
    assert not Path("/etc/written-by-an-agent").exists()


def test_no_attack_passes(tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    shown = matrix(tmp_path, "*.task.yaml", claude, api(by_prompt(attacks(tmp_path))))
    assert shown.returncode == 0, shown.stdout + shown.stderr
    results = load_results(tmp_path / "out.json")
    assert len(results) == 8
    assert [(r.task_id, r.passed) for r in results if r.passed or not r.measured] == []
