"""What was paid for is kept, and nothing is paid for again without a word."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.models import ErrorKind, Outcome
from measure.results.files import load_results_file
from tests.conftest import default_signals
from tests.harness.test_llm_grader import verdict
from tests.support.fake_claude import FakeClaude, calls
from tests.support.ordinary import NEEDS_MODES, ordinary
from tests.support.stand_in.messages_api import Hang, MessagesAPI, always
from tests.support.suite import environment, harness, make_suite, matrix

pytestmark = pytest.mark.slow

ONE = ["-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml"]
RIGHT = FakeClaude(writes={"answer.txt": "right\n"})
COMMAND = "  - {{type: code, check: command_succeeds, command: {command}, timeout_seconds: 100}}\n"
JUDGED = '  - {type: llm, rubric: "Is it right?"}\n'


def started(root: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "harness", *arguments, "--claude", str(root / "bin/claude")]
    return subprocess.Popen(
        command, cwd=root, env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def add(root: Path, assertion: str, task: str = "t0") -> None:
    path = root / f"tasks/{task}.task.yaml"
    path.write_text(path.read_text() + assertion)


def rows(root: Path) -> int:
    path = root / "out.journal.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def paid(root: Path) -> int:
    return len(calls(root / "bin/claude"))


def test_runs_of_the_same_second_keep_their_results_apart(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    processes = [started(root, "run", *ONE) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * 2
    assert paid(root) == len(list((root / "evals/results").glob("results_*.json"))) == 2


def test_a_run_that_is_killed_while_it_is_graded_is_not_paid_again(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    flag = tmp_path / "flag"
    flag.touch()
    add(root, COMMAND.format(command=f"test ! -e answer.txt || test ! -e {flag} || sleep 60"))
    process = started(root, "run", *ONE, "-o", "out.json")
    wait_until(lambda: rows(root) == 1)
    process.kill()
    process.communicate()
    flag.unlink()
    shown = harness(root, "run", *ONE, "-o", "out.json", "--resume", "--claude", str(root / "bin/claude"))
    assert (shown.returncode, paid(root)) == (0, 1), shown.stderr
    assert "paid again" not in shown.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_judge_that_hangs_keeps_nobody_from_ending_and_loses_no_run(tmp_path: Path, number: signal.Signals) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    for task in ("t0", "t1"):
        add(root, JUDGED, task)
    command = ["matrix", "-t", "tasks/*.yaml", "-c", "configs/c0/config.yaml", "-r", "1", "-j", "2", "-o", "out.json"]
    with MessagesAPI(always(Hang())) as service:
        process = started(root, *command, JUDGE_API_KEY="k", JUDGE_BASE_URL=service.url)
        wait_until(lambda: len(service.requests) == 2)
        process.send_signal(number)
        process.communicate(timeout=20)  # it takes less than 5 s where nothing else runs; it once took ten minutes
    with MessagesAPI(always(verdict(1.0))) as service:
        variables = {"JUDGE_API_KEY": "k", "JUDGE_BASE_URL": service.url}
        shown = harness(root, *command, "--resume", "--claude", str(root / "bin/claude"), **variables)
    assert (shown.returncode, paid(root)) == (0, 2), shown.stderr
    assert [r.passed for r in load_results_file(root / "out.json").results] == [True, True]


def agent(root: Path, script: str) -> None:
    """Let the agent run a script of bash in its project, before it answers right."""
    claude = root / "bin/claude"
    claude.write_text(claude.read_text().replace(
        "memory = [", f"import subprocess\nsubprocess.run(['bash', '-c', {script!r}, prompt])\nmemory = [", 1
    ))  # fmt: skip


@NEEDS_MODES
def test_whatever_an_agent_does_to_its_folders_it_ends_its_own_run_alone(tmp_path: Path) -> None:
    scripts = [
        "chmod 000 ..",
        "chmod 000 $HARNESS_INSTRUCTIONS_LOG ../log",
        "truncate -s 3G $HARNESS_INSTRUCTIONS_LOG",
        "rm -f $HARNESS_INSTRUCTIONS_LOG; mkfifo $HARNESS_INSTRUCTIONS_LOG",
        "rm -rf ../log; ln -s /etc ../log",
        "cd ..; rm -rf project; ln -s project project",
        "cd ..; rm -rf project; touch project",
    ]
    root = make_suite(tmp_path / "s", tasks=len(scripts), configs=1, fake=FakeClaude(writes={"answer.txt": "right"}))
    cases = "".join(f"*t{number}*) {script};;\n" for number, script in enumerate(scripts))
    agent(root, f"case $0 in\n{cases}esac")
    command = [
        *ordinary(),
        sys.executable,
        "-m",
        "harness",
        "matrix",
        "-t",
        "tasks/*.yaml",
        "-c",
        "configs/*/config.yaml",
    ]
    command += ["-r", "1", "-o", "out.json", "--claude", str(root / "bin/claude")]
    (tmp_path / "tmp").mkdir()
    env = environment(TMPDIR=str(tmp_path / "tmp"))
    shown = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=60)
    assert shown.returncode in (0, 2), shown.stderr
    assert "Traceback" not in shown.stderr
    results = load_results_file(root / "out.json").results
    assert (len(results), paid(root)) == (len(scripts), len(scripts))
    assert all(r.verdict in ("fail", "lost") for r in results)
    assert not list((tmp_path / "tmp").iterdir())


def finished(tmp_path: Path, *, tasks: int = 1) -> Path:
    root = make_suite(tmp_path / "s", tasks=tasks, configs=1, fake=RIGHT)
    assert matrix(root, "-r", "1", "-o", "out.json").returncode == 0
    return root


def rewrite(root: Path, change: Callable[[dict[str, object]], None]) -> None:
    journal = root / "out.journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        change(line)
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_runs_of_another_version_are_told_before_they_are_paid_again(tmp_path: Path) -> None:
    root = finished(tmp_path)
    rewrite(root, lambda row: row["fingerprints"].update(task="of-an-older-version"))  # type: ignore[attr-defined]
    shown = matrix(root, "-r", "1", "-o", "out.json", "--resume")
    assert paid(root) == 2
    assert "1 finished run of" in shown.stderr
    assert "billed again: a task" in shown.stderr


def test_a_terminal_asks_before_it_pays_again(tmp_path: Path) -> None:
    root = finished(tmp_path)
    (root / "fixture/code.py").write_text("x = 2\n")
    command = [sys.executable, "-m", "harness", "matrix", "-t", "tasks/*.yaml", "-c", "configs/*/config.yaml"]
    command += ["-r", "1", "-o", "out.json", "--resume", "--claude", str(root / "bin/claude")]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=root, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, b"n\n")
    said = b""
    while chunk := _read(ours):
        said += chunk
    assert process.wait() == 2
    assert b"Pay for them again?" in said
    assert b"nothing was run" in said
    assert paid(root) == 1


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""


def test_files_that_are_gone_before_they_were_checked_are_told(tmp_path: Path) -> None:
    root = finished(tmp_path)
    journal = root / "out.journal.jsonl"
    first, _ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first)  # as it is between the agent's end and the grades
    shown = matrix(root, "-r", "1", "-o", "out.json", "--resume")
    assert paid(root) == 2
    assert "or files are gone" in shown.stderr


def test_verdicts_of_another_judge_are_refused(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1, fake=RIGHT)
    add(root, JUDGED)
    with MessagesAPI(always(verdict(1.0))) as service:
        variables = {"JUDGE_API_KEY": "k", "JUDGE_BASE_URL": service.url}
        assert matrix(root, "-r", "1", "-o", "out.json", **variables).returncode == 0
        shown = matrix(root, "-r", "2", "-o", "out.json", "--resume", "--judge-model", "other", **variables)
    assert (shown.returncode, paid(root)) == (2, 1)
    assert "started with the judge" in shown.stderr


def test_a_fixture_that_is_edited_meanwhile_stops_the_matrix(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=2, configs=1, fake=RIGHT)
    agent(root, f"echo y >> {root}/fixture/code.py")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert (shown.returncode, paid(root)) == (2, 1)
    assert "were changed since the matrix was planned" in shown.stderr


def test_a_command_that_is_not_there_is_found_by_validate(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    add(root, COMMAND.format(command="nosuchlint ."))
    shown = harness(root, "validate", "--static", "-t", "tasks/*.yaml")
    assert shown.returncode == 2
    assert "t0: nosuchlint .: nosuchlint is not installed" in shown.stderr


def test_a_task_whose_program_is_missing_costs_nothing_and_keeps_no_other_task_from_running(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=2, configs=1, fake=RIGHT)
    task = root / "tasks/t0.task.yaml"
    task.write_text(task.read_text() + COMMAND.format(command="nosuchlint ."))
    shown = matrix(root, "-r", "2", "-o", "out.json")
    assert (shown.returncode, paid(root)) == (2, 2)
    assert "SETUP_ERROR" in shown.stdout
    assert "t0: nosuchlint .: nosuchlint is not installed" in shown.stdout
    results = load_results_file(root / "out.json").results
    assert [(r.task_id, r.passed) for r in results if r.measured] == [("t1", True), ("t1", True)]


@pytest.mark.parametrize("command", ["validate", "matrix"])
def test_a_judge_without_a_key_is_found_before_anything_is_paid(tmp_path: Path, command: str) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    add(root, JUDGED)
    no_key = {"ANTHROPIC_API_KEY": "", "JUDGE_API_KEY": ""}
    arguments = ("--static", "-t", "tasks/*.yaml")
    shown = (
        harness(root, command, *arguments, **no_key) if command != "matrix" else matrix(root, "-o", "o.json", **no_key)
    )
    assert (shown.returncode, paid(root)) == (2, 0)
    assert "t0: no key for the judge" in shown.stderr


def test_a_budget_and_a_judge_without_a_known_price_do_not_go_together(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", fake=RIGHT)
    add(root, JUDGED)
    shown = matrix(root, "-o", "o.json", "--max-cost-usd", "5", "--judge-model", "unknown", JUDGE_API_KEY="k")
    assert (shown.returncode, paid(root)) == (2, 0)
    assert "price of the judge unknown" in shown.stderr


def test_an_agent_that_kills_what_started_it_is_paid_once(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1, fake=RIGHT)
    claude = root / "bin/claude"
    claude.write_text(
        claude.read_text().replace("memory = [", "os.kill(os.getppid(), 9)\ntime.sleep(60)\nmemory = [", 1)
    )
    shown = matrix(root, "-r", "1", "-o", "out.json")
    (result,) = load_results_file(root / "out.json").results
    assert (shown.returncode, paid(root)) == (2, 1)
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.KILLED)


def test_a_result_is_never_written_over(tmp_path: Path) -> None:
    root = finished(tmp_path)
    shutil.copy(root / "out.json", root / "before.json")
    shown = harness(root, "run", *ONE, "-o", "out.json", "--claude", str(root / "bin/claude"))
    assert shown.returncode == 2
    assert (root / "out.json").read_bytes() == (root / "before.json").read_bytes()
