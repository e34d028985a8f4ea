"""What the commands print, write and exit with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness.models import EvalResult
from locobench.shared.command_line import script
from measure.results.files import load_results_file
from measure.results.journal import read_journal
from tests.conftest import default_signals, shown_on_a_terminal
from tests.support.fake_claude import FakeClaude, calls
from tests.support.suite import TASK, environment, harness, make_suite, matrix, matrix_command


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    files = ("-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml", "--claude", "bin/claude")
    return harness(root, "run", *files, *arguments)


def without_times(result: EvalResult) -> dict[str, Any]:
    """What must be equal in two runs of the same content."""
    data = result.model_dump(mode="json", exclude={"timestamp": True, "started_at": True})
    del data["trace"]["duration_seconds"]
    for grade in data["grades"]:
        del grade["duration_seconds"]
    return data


def test_help_names_every_command_and_imports_none(tmp_path: Path) -> None:
    code = "import sys; sys.argv[1:] = ['--help']\n"
    code += "from harness.cli import cli\ntry: cli()\nexcept SystemExit: print(*sys.modules)"
    env = environment()
    shown = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert "env-status" in shown
    assert not {"pydantic", "rich", "yaml", "harness.models", "anthropic", "scipy"} & set(shown.split())


@pytest.mark.parametrize(("answer", "code", "verdict"), [("right", 0, "PASS"), ("wrong", 1, "FAIL")])
def test_run_says_whether_it_passed(tmp_path: Path, answer: str, code: int, verdict: str) -> None:
    root = make_suite(tmp_path / "s", fake=FakeClaude(writes={"answer.txt": answer}))
    shown = run(root, "-o", "out.json")
    assert shown.returncode == code
    assert f"| {verdict} |" in shown.stdout
    assert f"saved to {root / 'out.json'}" in shown.stdout
    assert [r.passed for r in load_results_file(root / "out.json").results] == [code == 0]


def test_run_that_could_not_be_measured_exits_with_2(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=FakeClaude("credit_400_stream.stdout", code=1))
    shown = run(root, "-o", "out.json")
    assert shown.returncode == 2
    assert "INFRA_ERROR" in shown.stdout
    assert "Credit balance is too low" in shown.stdout


def test_results_without_a_path_go_to_evals_results(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    assert run(root).returncode == 0
    assert len(list((root / "evals/results").glob("results_*.json"))) == 1


def test_matrix_prints_a_line_per_run_and_a_summary(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert shown.returncode == 0
    assert "[4/4] t1 | c1 |" in shown.stdout
    assert "c0 (claude-sonnet-5-5): 2 of 2 passed, $0.04" in shown.stdout
    saved = load_results_file(root / "out.json")
    assert (saved.complete, saved.num_results, len(saved.results)) == (True, 4, 4)


def test_quiet_matrix_prints_only_where_the_results_are(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    shown = matrix(root, "-r", "1", "-o", "out.json", "--quiet")
    assert shown.stdout == f"saved to {root / 'out.json'}\n"


def test_matrix_takes_models(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    matrix(root, "-r", "1", "-m", "m1, m2", "-o", "out.json")
    results = load_results_file(root / "out.json").results
    assert {(r.task_id, r.model) for r in results} == {("t0", "m1"), ("t0", "m2")}


def test_dry_run_shows_the_plan_and_runs_nothing(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    shown = matrix(root, "--dry-run", "-r", "5", "-o", "out.json")
    assert shown.returncode == 0
    assert "20 runs: 2 tasks x 2 configs and models x 5 runs" in shown.stdout
    assert calls(root / "bin/claude") == []
    assert not (root / "out.json").exists()


def test_results_that_exist_are_not_overwritten(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    matrix(root, "-r", "1", "-o", "out.json")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert shown.returncode == 2
    assert "continue it with --resume" in shown.stderr
    assert len(calls(root / "bin/claude")) == 1


def test_resume_without_a_journal_is_bad_input(tmp_path: Path) -> None:
    shown = matrix(make_suite(tmp_path / "s"), "--resume", "-o", "out.json")
    assert shown.returncode == 2
    assert "no journal to resume" in shown.stderr


def test_resume_with_more_runs_adds_them(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    matrix(root, "-r", "1", "-o", "out.json")
    shown = matrix(root, "-r", "3", "-o", "out.json", "--resume")
    assert shown.returncode == 0
    assert len(calls(root / "bin/claude")) == 3
    assert len(load_results_file(root / "out.json").results) == 3


def test_resume_with_fewer_runs_says_which_are_not_in_the_results(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    matrix(root, "-r", "3", "-o", "out.json")
    shown = matrix(root, "-r", "1", "-o", "out.json", "--resume")
    assert "2 runs of" in shown.stderr, shown.stderr
    assert "will not be in the results, since this command does not make them" in shown.stderr


def test_a_folder_is_no_results_file(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    (root / "out").mkdir()
    shown = matrix(root, "-o", "out")
    assert shown.returncode == 2
    assert shown.stderr.endswith("out: a folder; name a file with -o\n")


@pytest.mark.slow
def test_ctrl_c_ends_validate_without_waiting_for_its_checks(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=0, configs=1)
    begun = tmp_path / "begun"
    head = TASK.format(name="slow").partition("    check:")[0]
    check = f"    check: command_succeeds\n    command: touch {begun}; sleep 90\n"
    (root / "tasks/slow.task.yaml").write_text(head + check)
    command = [sys.executable, "-m", "harness", "validate", "--nop", "-t", "tasks/*.yaml"]
    process = subprocess.Popen(command, cwd=root, env=environment(), preexec_fn=default_signals)
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130


def test_matrix_stopped_by_an_error_tells_how_to_go_on(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=FakeClaude("not_logged_in_stream.stdout", code=1))
    shown = matrix(root, "-o", "out.json")
    assert shown.returncode == 2
    assert "stopped after 1 of 12 runs: auth: Not logged in" in shown.stderr
    assert "continue with: python -m harness matrix" in shown.stderr
    assert "--resume" in shown.stderr
    saved = load_results_file(root / "out.json")
    assert (saved.complete, saved.num_results) == (False, 1)


@pytest.mark.slow
def test_ctrl_c_saves_and_tells_how_to_go_on(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=FakeClaude(writes={"answer.txt": "right"}, delay=0.2))
    process = _start(root, "-r", "10", "-o", "out.json")
    _wait_for_lines(root / "out.journal.jsonl", 6, process)  # each run is there twice
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "--resume" in stderr
    saved = load_results_file(root / "out.json")
    assert not saved.complete
    assert saved.num_results == len(read_journal(root / "out.journal.jsonl")) >= 3


@pytest.mark.slow
def test_a_killed_matrix_is_resumed_without_losing_or_repeating_a_run(tmp_path: Path) -> None:
    fake = FakeClaude(writes={"answer.txt": "right"}, delay=0.1)
    root = make_suite(tmp_path / "s", tasks=2, configs=1, fake=fake)
    process = _start(root, "-r", "4", "-j", "2", "-o", "out.json")
    _wait_for_lines(root / "out.journal.jsonl", 6, process)
    process.kill()
    process.communicate()
    journal = (root / "out.journal.jsonl").read_bytes()
    finished = journal[: journal.rfind(b"\n") + 1]
    kept = len(read_journal(root / "out.journal.jsonl"))
    assert 3 <= kept < 8

    shown = matrix(root, "-r", "4", "-j", "2", "-o", "out.json", "--resume")
    assert shown.returncode == 0, shown.stderr
    after = root / "out.journal.jsonl"
    assert after.read_bytes().startswith(finished)
    keys = [(r.task_id, r.config_name, r.run_index) for r in read_journal(after)]
    assert len(keys) == len(set(keys)) == 8
    in_flight_when_killed = 2
    assert len(calls(root / "bin/claude")) <= 8 + in_flight_when_killed

    undisturbed = make_suite(tmp_path / "u", tasks=2, configs=1, fake=fake)
    matrix(undisturbed, "-r", "4", "-j", "2", "-o", "out.json")
    expected = load_results_file(undisturbed / "out.json").results
    resumed = load_results_file(root / "out.json").results
    assert [without_times(r) for r in resumed] == [without_times(r) for r in expected]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("validate", "-t", "nothing/*.yaml"), "error: nothing/*.yaml: no file matches"),
        (("validate",), "error: no suite here ("),
        (("repot",), "error: unknown command 'repot'; did you mean report?"),
        (("report", "--jsn", "r.json", "a"), "error: No such option '--jsn'. Did you mean '--json'? (see `python -m"),
        (("validate", "-t", "a", "b"), "error: Got unexpected extra argument (b)"),
        (
            ("validate", "-c", "bad.yaml"),
            "error: bad.yaml:2: max_turn: unknown key; did you mean max_turns?",
        ),
        (("-e", "none.env", "env-status"), "error: none.env: no such env file"),
    ],
    ids=["glob", "no suite", "command", "option", "expanded glob", "config", "env"],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "bad.yaml").write_text("name: x\nmax_turn: 3\n")
    shown = harness(tmp_path, *arguments)
    assert shown.returncode == 2
    assert shown.stderr.startswith(message)
    assert shown.stderr.count("\n") == 1


def test_a_glob_that_the_shell_expanded_is_recognised(tmp_path: Path) -> None:
    for command, hinted in ((("validate", "-t", "a", "b"), True), (("env-status", "b"), False)):
        assert ("; quote a glob, or the shell" in harness(tmp_path, *command).stderr) is hinted


def test_a_scaffold_runs_as_it_is(tmp_path: Path) -> None:
    made = harness(tmp_path, "scaffold", "deep/mine")
    assert made.stdout == "wrote deep/mine; try it without an agent:\n  OUT=try deep/mine/run.sh --executor echo -r 1\n"
    tools = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OUT": "try"}
    command = [str(tmp_path / "deep/mine/run.sh"), "--executor", "echo", "-r", "1"]
    shown = subprocess.run(command, env=environment(**tools), capture_output=True, text=True)
    assert shown.returncode == 2, shown.stderr  # two tasks are too few for a verdict
    assert "4 of 4 checks passed" in shown.stdout
    assert "Not enough data to say whether skill is better or worse than no-skill" in shown.stdout
    assert (tmp_path / "deep/mine/try.html").is_file()


def test_a_scaffold_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    shown = harness(tmp_path, "scaffold", "mine")
    assert (shown.returncode, shown.stderr) == (2, "error: mine exists; name another folder\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_validate_accepts_good_files(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    shown = harness(root, "validate", "--static", "-t", "tasks/*", "-c", "configs/*/config.yaml").stdout
    assert "ok: t0 (coding, medium): 1 code and 0 LLM" in shown
    assert "ok: c1 (" in shown
    # Nothing but configs was asked for.
    assert "t0" not in harness(root, "validate", "-c", "configs/*/config.yaml").stdout


def test_validate_finds_a_task_without_a_solution(tmp_path: Path) -> None:
    shown = harness(make_suite(tmp_path / "s", tasks=1), "validate", "-t", "tasks/*")
    assert shown.returncode == 1
    assert "WRONG: oracle t0: no solution_path in the task file" in shown.stdout
    assert "ok: nop t0" in shown.stdout


def test_validate_finds_a_task_that_passes_untouched(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1)
    (root / "fixture/answer.txt").write_text("right")
    shown = harness(root, "validate", "-t", "tasks/*", "--nop")
    assert shown.returncode == 1
    assert "WRONG: nop t0: the untouched fixture passes" in shown.stdout


def test_validate_tells_a_check_that_was_not_carried_out_from_a_failed_one(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=2)
    tool = TASK.format(name="t0").replace("file_contains", "command_succeeds\n    command: no-such-tool")
    (root / "tasks/t0.task.yaml").write_text(tool.replace("    file: answer.txt\n    pattern: right\n", ""))
    (root / "links").mkdir()
    (root / "links/away").symlink_to("/nowhere")
    (root / "tasks/t1.task.yaml").write_text(TASK.format(name="t1").replace("../fixture", "../links"))
    shown = harness(root, "validate", "-t", "tasks/*", "--nop")
    assert shown.returncode == 1
    assert "the untouched fixture fails" not in shown.stdout
    assert (
        "WRONG: nop t0: code_0_command_succeeds: grading failed: no-such-tool: no-such-tool is not inst" in shown.stdout
    )
    assert "WRONG: nop t1: fixture: fixture" in shown.stdout


def test_env_status_shows_no_key_material(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    shown = harness(root, "env-status", ANTHROPIC_API_KEY="sk-ant-very-secret", IS_SANDBOX="1").stdout
    assert "ANTHROPIC_API_KEY: set" in shown
    assert "sk-ant" not in shown
    assert "cret" not in shown


def test_env_file_gives_keys_that_the_environment_lacks_and_says_so(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    (root / ".env").write_text("ANTHROPIC_API_KEY=from-file\nCLAUDE_CODE_OAUTH_TOKEN=from-file\n")
    (root / ".env.local").write_text("JUDGE_API_KEY=x\n")
    shown = harness(root, "env-status", CLAUDE_CODE_OAUTH_TOKEN="from-environment")
    assert "env file: .env\n" in shown.stdout
    assert "ANTHROPIC_API_KEY: set" in shown.stdout
    assert shown.stderr == "ANTHROPIC_API_KEY taken from .env; --env-file .env takes all of it\n"


def test_an_env_file_that_nobody_named_sets_no_address_and_runs_no_code(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    variables = ("ANTHROPIC_BASE_URL", "HTTPS_PROXY", "LD_PRELOAD", "PATH", "HARNESS_CLAUDE", "PYTHONPATH")
    (root / ".env").write_text("".join(f"{name}=http://wrong\n" for name in variables))
    shown = harness(root, "env-status")
    assert "wrong" not in shown.stdout + shown.stderr


def test_commands_that_need_no_key_read_no_env_file_that_nobody_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=from-file\n")
    assert "taken from" not in harness(tmp_path, "report", "none.json").stderr


def test_a_named_env_file_is_read_alone(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    (root / ".env").write_text("ANTHROPIC_BASE_URL=http://wrong\n")
    (root / "my.env").write_text("ANTHROPIC_BASE_URL=http://right\n")
    shown = harness(root, "env-status", EVAL_ENV_FILE="my.env").stdout
    assert "http://right" in shown


def test_mcp_servers_can_be_given_on_the_command_line(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    servers = {"mcpServers": {"search": {"command": "x"}}}
    (root / "mcp.json").write_text(json.dumps(servers))
    matrix(root, "-r", "1", "--mcp-config", "mcp.json", "-o", "out.json")
    (call,) = calls(root / "bin/claude")
    assert call["mcp"] == servers


@pytest.mark.slow
def test_a_terminal_shows_a_bar_with_passes_and_cost(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=2, configs=1)
    command = matrix_command(root, "-r", "1", "-o", "out.json")
    shown = shown_on_a_terminal(command, cwd=root, env=environment(TERM="xterm"))
    assert b"2 of 2 passed, $0.04" in shown
    assert b"2/2" in shown


def test_runs_of_the_matrix_are_isolated_from_each_other(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    matrix(root, "-r", "3", "-j", "3", "-o", "out.json")
    seen = calls(root / "bin/claude")
    assert len({call["env"]["HOME"] for call in seen}) == 3
    assert all(call["files"] == ["code.py"] for call in seen)
    assert not [path for path in {call["cwd"] for call in seen} if Path(path).exists()]


def _start(root: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        matrix_command(root, *arguments),
        cwd=root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )


def _wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
        os.sched_yield()


def test_an_answer_that_is_not_given_is_an_interruption() -> None:
    @script("Asks.")
    def ask() -> int:
        raise click.Abort

    assert CliRunner().invoke(ask).exit_code == 130
