"""Which trials are measured, which are lost, and which are zeros: the table of docs/HARBOR_JOBS.md."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from measure.records import ErrorKind, EvalResult, Outcome
from measure.results.harbor import load_jobs
from tests.measure.test_harbor import trajectory, write_trial
from tests.support.fake_claude import RECORDED

NO_TOKENS = {"n_input_tokens": 0, "n_cache_tokens": 0, "n_output_tokens": 0, "cost_usd": None}


def zero(jobs: Path, output: str = "", log: str = "", agent: str = "claude-code", **more: Any) -> EvalResult:
    """Read a trial with a reward of 0, with what its tests printed and the end of its agent's log."""
    trial = {"reward": 0.0, "agent": {"name": agent}, "agent_info": {"name": agent}, **more}
    folder = write_trial(jobs, **trial)
    (folder / "agent").mkdir()
    (folder / "verifier/test-stdout.txt").write_text(output)
    (folder / f"agent/{agent}.txt").write_text(log)
    return load_jobs(jobs)[0]


UNITTEST = """F
======================================================================
FAIL: test_sum (test_a.SumTest.test_sum)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/tests/test_a.py", line 5, in test_sum
    self.assertEqual(f(), 3)
    ~~~~~~~~~~~~~~~~^^^^^^^^
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 1 test in 0.001s

FAILED (failures=1)
"""
DJANGO = (
    UNITTEST.replace("AssertionError: 2 != 3", "KeyError: 'x'") + "Destroying test database for alias 'default'...\n"
)
PYTEST = """=================================== FAILURES ===================================
Traceback (most recent call last):
  File "/tests/test_outputs.py", line 3, in test_it
ValueError: no
=========================== short test summary info ============================
FAILED ../tests/test_outputs.py::test_it - ValueError: no
============================== 1 failed in 0.02s ===============================
"""
PROGRAM = """running the program
Traceback (most recent call last):
  File "/app/main.py", line 1, in <module>
ZeroDivisionError: division by zero
"""
NO_FILE = """Traceback (most recent call last):
  File "/tests/check.py", line 1, in <module>
    open("/app/out.txt")
FileNotFoundError: [Errno 2] No such file or directory: '/app/out.txt'
"""
WRONG = NO_FILE.replace("FileNotFoundError: [Errno 2] No such file or directory: '/app/out.txt'", "AssertionError")
GO = "--- FAIL: TestIt (0.00s)\n    it_test.go:5: 2 != 3\nFAIL\nFAIL\texample.com/it\t0.002s\n"
NPM = "npm ERR! network tunnelling socket\n\nTests:       1 failed, 2 passed, 3 total\n"
LATE = "curl: (6) Could not resolve host: example.com\n============ 1 failed in 0.02s ============\n"
MEASURED = [UNITTEST, DJANGO, PYTEST, PROGRAM, NO_FILE, WRONG, GO, NPM, LATE, "", "ok\n", "./server: No such file\n"]


@pytest.mark.parametrize("output", MEASURED)
def test_tests_that_failed_are_a_measured_zero(tmp_path: Path, output: str) -> None:
    result = zero(tmp_path, output)
    assert (result.measured, result.trace.doubt) == (True, "")


NEVER_STARTED = [
    "curl: (6) Could not resolve host: astral.sh\n/tests/test.sh: line 20: uvx: command not found\n",
    "/tests/test.sh: 9: uv: not found\n",
    "Err:1 http://mirror.example bookworm InRelease\n  Temporary failure resolving 'mirror.example'\n",
    "ERROR: No matching distribution found for pytest==8.4.1\n",
    "/usr/bin/python3: No module named pytest\n",
    "npm ERR! network request failed\n",
    "bash: line 1: pytest: command not found\n\n",
]


@pytest.mark.parametrize("output", NEVER_STARTED)
def test_tests_that_never_started_lose_the_run_which_is_called_a_guess(tmp_path: Path, output: str) -> None:
    result = zero(tmp_path, output)
    assert (result.measured, result.trace.error_kind) == (False, ErrorKind.GRADING)
    assert "judging by their output" in result.trace.error


def test_a_sign_of_it_before_other_output_is_a_doubt_and_the_zero_counts(tmp_path: Path) -> None:
    result = zero(tmp_path, "curl: (6) Could not resolve host: astral.sh\nsomething else\n")
    assert result.measured
    assert "Could not resolve host" in result.trace.doubt


def test_a_reward_above_0_is_no_doubt_whatever_the_tests_printed(tmp_path: Path) -> None:
    result = zero(tmp_path, NEVER_STARTED[0], reward=0.5)
    assert (result.measured, result.trace.doubt) == (True, "")


CLAUDE = [
    ("not_logged_in_stream", ErrorKind.AUTH),
    ("auth_401_exhausted_stream", ErrorKind.AUTH),
    ("auth_401_killed_stream", ErrorKind.AUTH),
    ("credit_400_stream", ErrorKind.CREDIT),
    ("model_404_stream", ErrorKind.MODEL_NOT_FOUND),
    ("rate_limit_429_exhausted_stream", ErrorKind.RATE_LIMIT),
    ("rate_limit_429_killed_stream", ErrorKind.RATE_LIMIT),
    ("overloaded_529_exhausted_stream", ErrorKind.OVERLOADED),
    ("overloaded_529_killed_stream", ErrorKind.OVERLOADED),
]


@pytest.mark.parametrize("exception", [None, "AgentTimeoutError", "NonZeroAgentExitCodeError"])
@pytest.mark.parametrize(("name", "kind"), CLAUDE, ids=[name for name, _ in CLAUDE])
def test_claude_codes_log_ends_with_an_error_of_the_service_so_the_run_is_lost(
    tmp_path: Path, name: str, kind: ErrorKind, exception: str | None
) -> None:
    """Whether Harbor saw it or not, as it is in `harness run`."""
    result = zero(tmp_path, log=(RECORDED / f"{name}.stdout").read_text(), exception=exception)
    assert (result.measured, result.trace.error_kind) == (False, kind)


@pytest.mark.parametrize("name", ["ok_stream", "permission_denied_stream", "max_turns_stream", "budget_stream"])
def test_claude_codes_own_limits_are_no_loss(tmp_path: Path, name: str) -> None:
    result = zero(tmp_path, log=(RECORDED / f"{name}.stdout").read_text())
    assert result.measured
    assert (result.outcome is Outcome.AGENT_ERROR) == (name in ("max_turns_stream", "budget_stream"))


LOGS = [
    ("codex", {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}}, ErrorKind.AUTH),
    ("codex", {"type": "error", "message": "stream disconnected before completion"}, ErrorKind.API_ERROR),
    ("opencode", {"type": "error", "error": {"name": "APIError", "data": {"message": "x", "statusCode": 429}}},
     ErrorKind.RATE_LIMIT),
    ("goose", {"type": "error", "error": "Authentication error: invalid key"}, ErrorKind.API_ERROR),
    ("cursor-cli", {"type": "result", "subtype": "error", "is_error": True, "result": "no quota"}, ErrorKind.API_ERROR),
    ("gemini-cli", {"type": "result", "status": "error", "error": {"message": "code 429: too many"}},
     ErrorKind.RATE_LIMIT),
    ("copilot-cli", {"type": "session.error", "data": {"message": "too many requests"}}, ErrorKind.API_ERROR),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "last", "kind"), LOGS)
def test_an_error_event_at_the_end_of_any_agents_log_loses_the_run(
    tmp_path: Path, agent: str, last: dict[str, Any], kind: ErrorKind
) -> None:
    result = zero(tmp_path, log=json.dumps({"type": "started"}) + "\n" + json.dumps(last) + "\n", agent=agent)
    assert (result.measured, result.trace.error_kind) == (False, kind)


@pytest.mark.parametrize(
    "message", ["context_length_exceeded", "reached the maximum turns", "blocked by content filter"]
)
def test_an_agent_that_ended_by_its_own_doing_is_measured(tmp_path: Path, message: str) -> None:
    log = json.dumps({"type": "turn.failed", "error": {"message": message}})
    assert zero(tmp_path, log=log, agent="codex").outcome is Outcome.AGENT_ERROR


def test_an_error_that_the_agent_got_over_is_none(tmp_path: Path) -> None:
    log = '{"type": "error", "message": "reconnecting 1/5"}\n{"type": "turn.completed", "usage": {}}\n'
    assert zero(tmp_path, log=log, agent="codex").outcome is Outcome.COMPLETED


def test_an_error_in_plain_text_is_a_doubt_and_the_zero_counts(tmp_path: Path) -> None:
    result = zero(tmp_path, log="thinking\nAPI Error: 529 overloaded\n", agent="aider")
    assert result.measured
    assert "API Error: 529" in result.trace.doubt


@pytest.mark.parametrize("steps", [None, [{"source": "user"}], [{"source": "agent", "model_name": "<synthetic>"}]])
@pytest.mark.parametrize("exception", [None, "AgentTimeoutError", "NonZeroAgentExitCodeError"])
def test_an_agent_with_no_token_and_no_turn_never_ran(
    tmp_path: Path, steps: list[dict[str, Any]] | None, exception: str | None
) -> None:
    """Claude Code writes the message about a failed login under a model's name of its own."""
    folder = write_trial(tmp_path, reward=0.0, agent_result=NO_TOKENS, exception=exception)
    if steps is not None:
        trajectory(folder, *steps)
    result = load_jobs(tmp_path)[0]
    assert not result.measured
    assert result.trace.error == "the agent never ran: no token and no turn"


@pytest.mark.parametrize("log", ["", "Invalid API key · Please run /login\n"])
def test_an_agent_whose_log_has_no_event_never_ran(tmp_path: Path, log: str) -> None:
    """Harbor then counts no tokens, and writes no trajectory."""
    assert not zero(tmp_path, log=log, agent_result={}).measured
    shutil.rmtree(tmp_path / "with-search")
    folder = write_trial(tmp_path, reward=0.0, agent_result={})
    assert load_jobs(tmp_path)[0].measured, "without the log nothing is known"
    (folder / "agent").mkdir()
    (folder / "agent/claude-code.txt").write_text('{"type": "assistant", "message": {}}\n')
    assert load_jobs(tmp_path)[0].measured


def test_an_agent_that_counts_no_tokens_is_not_taken_for_one_that_never_ran(tmp_path: Path) -> None:
    """No count is None; and one from outside Harbor that counts 0 by mistake has run if it earned something."""
    own = {"import_path": "mine:Agent"}
    cases: dict[str, dict[str, Any]] = {
        "none": {"agent_result": None},
        "turns": {"agent_result": NO_TOKENS},
        "own": {"agent_result": NO_TOKENS, "agent": own, "reward": 1.0},
        "oracle": {"agent_result": NO_TOKENS, "agent": {"name": "oracle"}},
    }
    for job, more in cases.items():
        given: dict[str, Any] = {"reward": 0.0, **more}
        folder = write_trial(tmp_path, job=job, **given)
        if job == "turns":
            trajectory(folder, {"source": "agent"})
        assert load_jobs(tmp_path / job)[0].measured, job


@pytest.mark.parametrize("exception", ["AgentTimeoutError", "ContextWindowExceededError", "NonZeroAgentExitCodeError"])
@pytest.mark.parametrize(("reward", "passed"), [(1.0, True), (0.4, False)])
def test_an_agent_that_ended_early_keeps_the_reward_that_it_earned(
    tmp_path: Path, exception: str, reward: float, passed: bool
) -> None:
    write_trial(tmp_path, exception=exception, reward=reward)
    (result,) = load_jobs(tmp_path)
    assert (result.measured, result.overall_score, result.passed) == (True, reward, passed)


STEP = {"step_name": "one", "agent_result": {"n_input_tokens": 5, "n_output_tokens": 5}}


@pytest.mark.parametrize(
    ("exception", "outcome"),
    [
        ("ApiRateLimitError", Outcome.INFRA_ERROR),
        ("RuntimeError", Outcome.INFRA_ERROR),
        ("HealthcheckError", Outcome.SETUP_ERROR),
        ("AgentTimeoutError", Outcome.TIMEOUT),
    ],
)
def test_what_ended_a_step_ended_the_trial(tmp_path: Path, exception: str, outcome: Outcome) -> None:
    """Harbor records it with the step alone, and averages the rewards of the other steps."""
    failed = {**STEP, "step_name": "two", "exception_info": {"exception_type": exception, "exception_message": ""}}
    write_trial(tmp_path, reward=0.5, agent_result=None, step_results=[STEP, failed])
    assert load_jobs(tmp_path)[0].outcome is outcome


def test_a_steps_own_files_are_read(tmp_path: Path) -> None:
    folder = write_trial(tmp_path, reward=0.0, agent_result=None, step_results=[STEP, {**STEP, "step_name": "two"}])
    for step in ("one", "two"):
        (folder / f"steps/{step}/verifier").mkdir(parents=True)
        (folder / f"steps/{step}/verifier/test-stdout.txt").write_text(f"{step}\n")
        trajectory(folder / "steps" / step, {"source": "agent", "tool_calls": [{"function_name": step}]})
    (result,) = load_jobs(tmp_path)
    assert [call.name for call in result.trace.tool_calls] == ["one", "two"]
    assert result.grades[0].full_output == "one\n\ntwo\n"
    (folder / "steps/two/agent/claude-code.txt").write_text((RECORDED / "credit_400_stream.stdout").read_text())
    assert load_jobs(tmp_path)[0].trace.error_kind is ErrorKind.CREDIT


def test_harbors_policy_decides_where_it_is_recorded(tmp_path: Path) -> None:
    """Since 0.26; `override_error_policy` in a job lets a reward count, or not."""
    for name, told, measured in (
        ("AgentTimeoutError", {"policy": {"has_valid_reward": False}}, False),
        ("ApiRateLimitError", {"policy_override": {"has_valid_reward": True}}, True),
        ("SomethingNew", {"policy": {"has_valid_reward": True}}, False),
    ):
        job = f"{name}-job"
        write_trial(tmp_path, job=job, exception_info={"exception_type": name, "exception_message": "", **told})
        assert load_jobs(tmp_path / job)[0].measured is measured, name


def test_a_reward_under_another_key_alone_is_lost_and_its_keys_are_named(tmp_path: Path) -> None:
    write_trial(tmp_path, name="a")
    for name, exception in (("b", None), ("c", "AgentTimeoutError")):
        write_trial(tmp_path, name=name, exception=exception, verifier_result={"rewards": {"score": 0.5}})
    lost = [result for result in load_jobs(tmp_path) if not result.measured]
    assert [result.trace.error_kind for result in lost] == [ErrorKind.GRADING] * 2
    assert "its keys are 'score'" in lost[0].trace.error


def test_nothing_in_a_trial_is_a_trial(tmp_path: Path) -> None:
    """Agents leave files of any name among their artifacts."""
    folder = write_trial(tmp_path)
    for inside in ("artifacts", "artifacts/jobs/run__1", "agent", "steps/one"):
        (folder / inside).mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "result.json", folder / inside / "result.json")
        (folder / inside / "config.json").write_text('{"trial_name": "run__1"}')
    for path in (tmp_path, tmp_path / "with-search", folder):
        assert len(load_jobs(path)) == 1


def test_a_trial_that_was_killed_before_its_result_is_lost(tmp_path: Path) -> None:
    folder = write_trial(tmp_path)
    other = write_trial(tmp_path, name="task_b__x")
    (other / "config.json").write_text(json.dumps({"trial_name": "task_b__x", "task": {"path": "tasks/task_b"}}))
    (other / "result.json").unlink()
    with pytest.warns(UserWarning, match="result.json: missing"):
        results = load_jobs(folder.parent)
    assert [(result.task_id, result.measured) for result in results] == [("task_a", True), ("task_b", False)]
