"""How a run of the CLI ends, against recorded outputs played by a fake."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.models import Config, ErrorKind, Outcome
from tests.support.fake_claude import RECORDED, FakeClaude, parse_recorded, play

OUTCOMES = [
    ("ok_stream", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("ok_json", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("ok_json_verbose_list", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("permission_denied_stream", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("max_turns_stream", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    ("max_turns_json", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    ("budget_stream", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    ("not_logged_in_stream", 1, Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("auth_401_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("model_404_stream", 1, Outcome.INFRA_ERROR, ErrorKind.MODEL_NOT_FOUND),
    ("credit_400_stream", 1, Outcome.INFRA_ERROR, ErrorKind.CREDIT),
    ("rate_limit_429_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    ("overloaded_529_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    ("root_refused", 1, Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED),
    ("unknown_flag", 1, Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED),
]


@pytest.mark.parametrize(("name", "code", "outcome", "kind"), OUTCOMES, ids=[row[0] for row in OUTCOMES])
def test_recorded_output_played_by_the_cli_has_its_outcome(
    tmp_path: Path, name: str, code: int, outcome: Outcome, kind: ErrorKind
) -> None:
    stderr = RECORDED / f"{name}.stderr"
    fake = FakeClaude(f"{name}.stdout", code=code, stderr=stderr.read_text() if stderr.exists() else "")
    trace = play(tmp_path, fake)
    assert (trace.outcome, trace.error_kind) == (outcome, kind)
    assert trace.is_error == (outcome is not Outcome.COMPLETED)


KILLED = [
    ("auth_401_killed_stream", Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("rate_limit_429_killed_stream", Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    ("overloaded_529_killed_stream", Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    ("hang_sigterm_stream", Outcome.INFRA_ERROR, ErrorKind.SILENT),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "outcome", "kind"), KILLED, ids=[row[0] for row in KILLED])
def test_recorded_output_of_a_run_that_hangs_has_its_outcome(
    tmp_path: Path, name: str, outcome: Outcome, kind: ErrorKind
) -> None:
    trace = play(tmp_path, FakeClaude(f"{name}.stdout", hang=True), timeout=1)
    assert (trace.outcome, trace.error_kind) == (outcome, kind)


def test_every_recorded_file_is_played() -> None:
    played = {row[0] for row in OUTCOMES} | {row[0] for row in KILLED}
    assert {path.stem for path in RECORDED.iterdir()} == played


def test_empty_output_with_exit_code_1_is_an_error_with_the_reason_of_stderr(tmp_path: Path) -> None:
    """A refused start used to count as a finished run, graded on the untouched fixture."""
    stderr = (RECORDED / "root_refused.stderr").read_text()
    trace = play(tmp_path, FakeClaude("", code=1, stderr=stderr))
    assert trace.is_error
    assert "root/sudo" in trace.error
    assert "set IS_SANDBOX=1" in trace.error
    assert trace.stderr == stderr


def test_a_missing_login_tells_how_to_give_one_to_isolated_runs() -> None:
    assert "set ANTHROPIC_API_KEY or" in parse_recorded("not_logged_in_stream.stdout", 1).error


def test_a_run_that_finishes_with_its_last_turn_did_not_hit_the_limit(tmp_path: Path) -> None:
    """Counting turns called every run a hit that used exactly as many as it had."""
    trace = play(tmp_path, config=Config(name="c", max_turns=3))
    assert trace.num_turns == 3
    assert not trace.hit_turn_limit


def test_the_turn_limit_is_hit_when_the_cli_says_so(tmp_path: Path) -> None:
    trace = play(tmp_path, FakeClaude("max_turns_stream.stdout", code=1), Config(name="c", max_turns=2))
    assert trace.hit_turn_limit
    assert trace.num_turns == 3


def test_missing_executable_is_an_infra_error(tmp_path: Path) -> None:
    trace = ClaudeExecutor(str(tmp_path / "nothing")).run("p", Config(name="c"), tmp_path)
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED)


@pytest.mark.parametrize("more", [b"", b"a stray line\n"])
def test_a_cli_that_stays_after_its_result_is_ended_and_counts(tmp_path: Path, more: bytes) -> None:
    trace = play(tmp_path, FakeClaude(hang=True, extra_stdout=more), timeout=60, grace_seconds=0.2)
    assert trace.outcome is Outcome.COMPLETED
    assert (trace.duration_seconds or 0) < 30


def test_a_cli_that_prints_nothing_is_ended_by_the_watchdog(tmp_path: Path) -> None:
    trace = play(tmp_path, FakeClaude("hang_sigterm_stream.stdout", hang=True), timeout=60, silence_seconds=0.5)
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.SILENT)


def test_a_cli_that_prints_nothing_until_the_time_is_up_did_not_reach_the_agent(tmp_path: Path) -> None:
    trace = play(tmp_path, FakeClaude("", hang=True), timeout=1)
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.SILENT)


def test_no_result_line_is_an_infra_error_even_with_exit_code_0(tmp_path: Path) -> None:
    trace = play(tmp_path, FakeClaude("hang_sigterm_stream.stdout", code=0))
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.NO_RESULT)


def test_an_exit_code_after_a_good_result_is_not_ignored(tmp_path: Path) -> None:
    trace = play(tmp_path, FakeClaude(code=137))
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.NO_RESULT)


def test_a_rejected_usage_limit_tells_when_to_come_back() -> None:
    result = {
        "type": "result",
        "is_error": True,
        "subtype": "success",
        "api_error_status": 429,
        "result": "limit",
    }
    info = {"status": "rejected", "resetsAt": time.time() + 600}
    event = {"type": "rate_limit_event", "rate_limit_info": info}
    trace = ClaudeExecutor()._parse_output(f"{json.dumps(event)}\n{json.dumps(result)}", 1)
    assert trace.error_kind is ErrorKind.RATE_LIMIT
    assert 500 < (trace.retry_after_seconds or 0) <= 600


TWO_RESULTS = """#!/bin/sh
cat > /dev/null
cat "{first}"
sleep {pause}
cat "{second}"
"""


@pytest.mark.parametrize(("started", "grace_seconds"), [(False, 5.0), (True, 0.1)])
def test_a_background_task_that_ends_later_starts_the_agent_again_and_the_last_result_counts(
    tmp_path: Path, started: bool, grace_seconds: float
) -> None:
    """While the CLI has said that a task runs, even the grace period does not begin."""
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines()
    result = json.loads(lines[-1])
    task = {"type": "system", "subtype": "task_started", "task_id": "b1"}
    told = {"type": "system", "subtype": "task_notification", "task_id": "b1"}
    cost = result["total_cost_usd"] + 1
    last = json.dumps({**result, "result": "the last answer", "total_cost_usd": cost})
    first = [*lines[:-1], *([json.dumps(task)] if started else []), lines[-1]]
    (tmp_path / "first").write_text("\n".join(first) + "\n")
    (tmp_path / "second").write_text("\n".join([json.dumps(told), last]) + "\n")
    script = TWO_RESULTS.format(first=tmp_path / "first", second=tmp_path / "second", pause=0.6)
    (tmp_path / "claude").write_text(script)
    (tmp_path / "claude").chmod(0o755)
    executor = ClaudeExecutor(str(tmp_path / "claude"), grace_seconds=grace_seconds)
    trace = executor.run("do it", Config(name="c"), tmp_path, 20)
    assert (trace.outcome, trace.result, trace.cost_usd) == (Outcome.COMPLETED, "the last answer", cost)
