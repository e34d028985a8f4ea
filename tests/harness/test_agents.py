"""Agents beside Claude Code: any program, none, and a class of somebody's own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from harness.executor import Executor
from harness.executor.command import CommandExecutor
from harness.models import Config, ErrorKind, EvalResult, ExecutionTrace, Outcome
from harness.runner import EvalRunner
from locobench.shared.errors import InputError
from measure.results.files import load_results
from tests.support.suite import harness, make_suite

AGENT = """\
import json, os, pathlib, sys
prompt = sys.stdin.read()
pathlib.Path("answer.txt").write_text("right")
print(prompt, os.environ["HARNESS_MODEL"], os.environ["CONFIG_NAME"])
if file := os.environ.get("HARNESS_MCP_CONFIG"):
    print(*json.loads(pathlib.Path(file).read_text())["mcpServers"])
"""


class Raising(Executor):
    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        if prompt == "Task t0":
            raise RuntimeError("lost its way")
        (working_dir / "answer.txt").write_text("right")
        return ExecutionTrace(result="done")


def matrix(root: Path, *arguments: str, output: str = "out.json") -> tuple[list[EvalResult], str, int]:
    done = harness(root, "matrix", "-t", "tasks/*", "-c", "configs/*/*", "-r", "1", "-o", output, *arguments)
    return (load_results(root / output) if (root / output).exists() else []), done.stderr, done.returncode


def program(root: Path, text: str = AGENT) -> str:
    (root / "agent.py").write_text(text)
    return shlex.join([sys.executable, str(root / "agent.py")])


def test_any_program_gets_prompt_model_servers_and_folder(tmp_path: Path) -> None:
    make_suite(tmp_path, tasks=1)
    servers = '{"mcpServers": {"search": {"command": "x"}}}'
    (tmp_path / "configs/c1/config.yaml").write_text(
        f"name: c1\nmodel: m\nmcp_config: {servers}\nenv: {{CONFIG_NAME: c1}}"
    )
    results, errors, code = matrix(tmp_path, "--executor", "command", "--command", program(tmp_path))
    assert code == 0, errors
    plain, served = results
    assert (plain.passed, served.passed) == (True, True)
    assert served.trace.result == "Task t0 m c1\nsearch"
    assert plain.trace.offered.servers == {}
    assert served.trace.offered.servers == {"search": ""}
    assert plain.conditions.agent == Path(sys.executable).name
    # Nobody counted them.
    assert (plain.trace.tool_count, plain.trace.usage, plain.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "outcome", "kind", "error"),
    [
        ("import sys; sys.exit('no key')", Outcome.INFRA_ERROR, ErrorKind.EXECUTOR, "ended with exit code 1; no key"),
        ("import time; time.sleep(60)", Outcome.TIMEOUT, ErrorKind.TIME_LIMIT, "the task's time limit was reached"),
    ],
)
def test_a_program_that_cannot_work_is_a_lost_run_and_one_without_end_is_out_of_time(
    tmp_path: Path, text: str, outcome: Outcome, kind: ErrorKind, error: str
) -> None:
    (tmp_path / "agent.py").write_text(text)
    executor = CommandExecutor([sys.executable, str(tmp_path / "agent.py")], grace_seconds=0.1)
    trace = executor.run("p", Config(name="c"), tmp_path, timeout=1)
    assert (trace.outcome, trace.error_kind) == (outcome, kind)
    assert error in trace.error
    assert not trace.may_be_retried


def test_a_program_that_is_not_there_ends_the_matrix(tmp_path: Path) -> None:
    make_suite(tmp_path)
    results, errors, code = matrix(tmp_path, "--executor", "command", "--command", "/nowhere/agent -x")
    assert code == 2, errors
    assert "/nowhere/agent cannot be started (No such file or directory)" in errors
    assert len(results) == 1


def test_a_field_that_the_agent_cannot_honor_is_refused_before_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config c: .+ does not support allowed_tools; remove it"):
        CommandExecutor(["agent"]).resolve(Config(name="c", allowed_tools=["Read"]))


def test_the_echo_agent_tries_a_suite_without_a_model(tmp_path: Path) -> None:
    make_suite(tmp_path)
    results, _, code = matrix(tmp_path, "--executor", "echo")
    assert code == 0
    assert [result.trace.result for result in results] == ["Task t0", "Task t0", "Task t1", "Task t1"]
    assert not any(result.passed for result in results)
    assert {(result.conditions.agent, result.cost_usd) for result in results} == {("echo", 0.0)}


def test_an_executor_that_raises_is_one_lost_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_suite(tmp_path, configs=1)
    runner = EvalRunner(Raising(), results_dir=tmp_path / "results")
    tasks = runner.load_tasks_from_glob(f"{root}/tasks/*")
    results = runner.run_matrix(tasks, runner.load_configs_from_glob(f"{root}/configs/*/*"), None, 1)
    assert [result.passed for result in results] == [False, True]
    lost = results[0].trace
    assert (lost.outcome, lost.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.EXECUTOR)
    assert lost.error == "the executor raised RuntimeError: lost its way"
    assert "RuntimeError: lost its way" in capsys.readouterr().err


def test_runs_of_one_agent_do_not_stand_for_those_of_another(tmp_path: Path) -> None:
    make_suite(tmp_path, tasks=1, configs=1)
    matrix(tmp_path, "--executor", "echo")
    results, errors, code = matrix(tmp_path, "--executor", "command", "--command", program(tmp_path), "--resume")
    assert code == 0
    assert [result.passed for result in results] == [True]
    assert "the agent, the sandbox or this harness changed" in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--executor", "command"], "--executor command and --command 'PROGRAM …' go together; add the other one"),
        (["--command", "x"], "--executor command and --command 'PROGRAM …' go together; add the other one"),
        (["--executor", "command", "--command", "'x"], "No closing quotation; write a program and its arguments"),
        (["--executor", "nobody"], "'nobody' is not one of 'claude', 'codex', 'command', 'echo'"),
    ],
)
def test_an_agent_that_is_none_is_refused_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    make_suite(tmp_path)
    results, errors, code = matrix(tmp_path, *arguments)
    assert (results, code) == ([], 2)
    assert said in errors
    assert errors.count("\n") == 1


def test_results_name_the_agent_so_that_two_agents_are_a_warning(tmp_path: Path) -> None:
    make_suite(tmp_path, configs=1)
    matrix(tmp_path, "--executor", "echo", output="a.json")
    matrix(tmp_path, "--executor", "command", "--command", program(tmp_path))
    shown = harness(tmp_path, "compare", "a.json", "out.json")
    assert "The agent differs between the arms: echo against" in " ".join(shown.stdout.split()), shown.stderr
