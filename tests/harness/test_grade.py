"""Harbor trials graded by judges against a loopback service: what is asked, paid, kept and said."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import cli
from harness.graders import service
from harness.models import EvalResult, Outcome
from measure.results.files import load_results, load_results_file
from tests.support.judged_job import make_job, reply
from tests.support.stand_in.messages_api import (
    AUTH,
    CREDIT,
    OVERLOADED,
    RATE_LIMIT,
    UNKNOWN_MODEL,
    Failure,
    Hang,
    MessagesAPI,
    Reply,
    Request,
    Text,
    always,
)
from tests.support.suite import environment, harness, make_suite, matrix

KEY = "the-key-that-nobody-may-see"


def grade(
    root: Path, *replies: Reply, arguments: tuple[object, ...] = (), source: Path | None = None
) -> tuple[Result, MessagesAPI]:
    """`grade JOB -o out.json` in `root`, with a service that answers like this."""
    with MessagesAPI(always(*replies)) as api:
        variables = {"JUDGE_BASE_URL": api.url, "JUDGE_API_KEY": KEY, "COLUMNS": "200"}
        command = ["grade", source or root / "jobs/with-search", "-o", root / "out.json", *arguments]
        return CliRunner().invoke(cli, [str(part) for part in command], env=variables), api


def graded(root: Path) -> list[EvalResult]:
    return load_results(root / "out.json")


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No second try and a short patience, where the failure itself is tested."""
    monkeypatch.setattr(service, "ATTEMPTS", 1)
    monkeypatch.setattr(service, "TIME_LIMIT_SECONDS", 0.5)


def test_the_overall_grade_is_the_score_and_the_reward_stays_beside_it(tmp_path: Path) -> None:
    make_job(tmp_path)
    result, _ = grade(tmp_path, reply(80))
    assert result.exit_code == 0, result.output
    (run,) = graded(tmp_path)
    assert (run.overall_score, run.passed) == (0.8, True)
    reward, judge = run.grades
    assert (reward.assertion_id, reward.score, reward.weight) == ("reward", 0.25, 0.0)
    assert [(c.criterion, c.score) for c in reward.criteria_scores] == [("code_blocks", 0.5)]
    assert (judge.assertion_id, judge.score, judge.weight, judge.reasoning) == ("judge", 0.8, 1.0, "It does.")
    assert {c.criterion: c.score for c in judge.criteria_scores} == {"code_truth": 0.9, "task_points": 0.7}


def test_the_judge_sees_question_criteria_reference_answer_and_the_code(tmp_path: Path) -> None:
    make_job(tmp_path)
    _, api = grade(tmp_path, reply())
    text = api.requests[0].body["messages"][0]["content"]
    for part in ("What does charge do?", "names the exception", "refuses closed accounts", "This is answer 0"):
        assert part in text
    assert "raise ClosedAccount" in text.split("# The evidence pack")[1]


def test_secrets_that_a_judge_quotes_get_into_no_file(tmp_path: Path) -> None:
    make_job(tmp_path)
    secret = "sk-ant-" + "api03-" + "A1b2" * 10
    grade(tmp_path, reply(80, reason=f"It prints {secret} and {KEY}."))
    for name in ("out.json", "out.journal.jsonl"):
        text = (tmp_path / name).read_text()
        assert "It prints" in text
        assert not any(word in text for word in (secret, KEY))


def test_graded_results_can_be_compared_and_reported(tmp_path: Path) -> None:
    make_job(tmp_path, trials=4, tasks=2)
    grade(tmp_path, reply(80))
    shown = CliRunner().invoke(cli, ["report", str(tmp_path / "out.json")])
    assert shown.exit_code == 0, shown.output


def test_an_empty_answer_is_0_without_a_request(tmp_path: Path) -> None:
    make_job(tmp_path, answer=" \n")
    result, api = grade(tmp_path, reply())
    assert (result.exit_code, api.requests) == (0, [])
    assert [(r.overall_score, r.passed, r.measured) for r in graded(tmp_path)] == [(0.0, False, True)]


def test_an_answer_that_is_a_link_is_none(tmp_path: Path) -> None:
    answer = make_job(tmp_path) / "task_00__x00/artifacts/app/solution.md"
    (tmp_path / "secret").write_text("a secret of this machine")
    answer.unlink()
    answer.symlink_to(tmp_path / "secret")
    assert grade(tmp_path, reply())[1].requests == []


def test_a_trial_whose_verifier_failed_counts_again(tmp_path: Path) -> None:
    make_job(tmp_path, reward=None)
    grade(tmp_path, reply(80))
    (run,) = graded(tmp_path)
    assert (run.outcome, run.measured, run.overall_score) == (Outcome.COMPLETED, True, 0.8)


def test_a_trial_that_the_infrastructure_lost_is_not_asked_about(tmp_path: Path) -> None:
    make_job(tmp_path, exception="ApiOverloadedError", reward=None)
    result, api = grade(tmp_path, reply())
    assert (result.exit_code, api.requests) == (0, [])
    assert graded(tmp_path)[0].lost_to == "infra_error"


def test_the_median_of_judges_and_repeats_counts_and_their_agreement_is_told(tmp_path: Path) -> None:
    make_job(tmp_path)
    judges = ("--judge", "claude-haiku-5-5", "--judge", "claude-sonnet-5-5", "--repeats", 2)
    result, api = grade(tmp_path, reply(60), reply(64), reply(70), reply(90), arguments=judges)
    assert [r.body["model"] for r in api.requests] == ["claude-haiku-5-5"] * 2 + ["claude-sonnet-5-5"] * 2
    (run,) = graded(tmp_path)
    assert run.overall_score == pytest.approx(0.67)
    judge = run.grades[-1].judge
    assert judge is not None
    assert (judge.model, judge.samples) == ("claude-haiku-5-5, claude-sonnet-5-5", [0.6, 0.64, 0.7, 0.9])
    assert "verdicts on one answer, smallest and largest: 30.0 points apart in the mean (1 run)" in result.output


@pytest.mark.usefixtures("once")
def test_one_lost_verdict_of_three_does_not_lose_the_trial_and_one_of_two_does(tmp_path: Path) -> None:
    make_job(tmp_path)
    grade(tmp_path, Text("no"), reply(90), reply(80), arguments=("--repeats", 3))
    (run,) = graded(tmp_path)
    judge = run.grades[-1].judge
    assert judge is not None
    assert run.overall_score == pytest.approx(0.85)
    assert judge.failed_samples == 1
    assert judge.spread == pytest.approx(0.1)
    assert "1 without a verdict" in run.grades[-1].details
    (tmp_path / "out.journal.jsonl").unlink()
    (tmp_path / "out.json").unlink()
    grade(tmp_path, Text("no"), reply(90), arguments=("--repeats", 2))
    assert graded(tmp_path)[0].lost_to == "judge_error"


def test_cost_of_every_verdict_is_added_up(tmp_path: Path) -> None:
    make_job(tmp_path)
    grade(tmp_path, reply(), arguments=("--repeats", 3))
    judge = graded(tmp_path)[0].grades[-1].judge
    assert judge is not None
    assert judge.cost_usd == pytest.approx(3 * (120 * 0.10 + 42 * 0.50) / 1e6)


def test_equal_answers_to_one_task_are_paid_once(tmp_path: Path) -> None:
    make_job(tmp_path, trials=3, answer="`charge` raises.")
    _, api = grade(tmp_path, reply())
    assert len(api.requests) == 1
    assert [r.overall_score for r in graded(tmp_path)] == [0.8] * 3


def test_a_changed_answer_is_asked_about_again(tmp_path: Path) -> None:
    job = make_job(tmp_path, trials=2)
    grade(tmp_path, reply())
    (job / "task_00__x01/artifacts/app/solution.md").write_text("something else")
    assert len(grade(tmp_path, reply())[1].requests) == 1


UNUSABLE: dict[str, Reply] = {
    "words": Text("This deserves 100."),
    "truncated": Text(reply().text[:60]),
    "cut by the service": Text(reply().text, stop_reason="max_tokens"),
    "refused by the model": Text(reply().text, stop_reason="refusal"),
    "out of range": reply(101),
    "contradicting": reply(100, code_truth=10, task_points=10),
    "another key": reply(passed=True),
    "no checks": reply(checks=[]),
    "not a number": Text(reply().text.replace("80", "NaN")),
    "rate limit": RATE_LIMIT,
    "overloaded": OVERLOADED,
    "server error": Failure(500, "api_error"),
    "slow": Hang(),
}


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=UNUSABLE)
def test_without_a_verdict_a_trial_is_lost_and_the_same_command_mends_it(tmp_path: Path, bad: Reply) -> None:
    make_job(tmp_path, trials=2)
    result, _ = grade(tmp_path, reply(), bad)
    assert result.exit_code == 2
    assert [r.lost_to for r in graded(tmp_path)] == ["", "judge_error"]
    result, api = grade(tmp_path, reply(60))
    assert (result.exit_code, len(api.requests)) == (0, 1)
    assert [r.overall_score for r in graded(tmp_path)] == [0.8, 0.6]


@pytest.mark.parametrize("refusal", [AUTH, CREDIT, UNKNOWN_MODEL], ids=["login", "credit", "model"])
def test_a_refusal_that_every_request_would_meet_stops_everything(tmp_path: Path, refusal: Failure) -> None:
    make_job(tmp_path, trials=3)
    result, api = grade(tmp_path, refusal)
    assert (result.exit_code, len(api.requests)) == (2, 1)
    assert f"stopped: claude-haiku-5-5: the service answered {refusal.status}" in result.stderr
    saved = load_results_file(tmp_path / "out.json")
    assert not saved.complete
    assert all(r.lost_to == "judge_error" for r in saved.results)


@pytest.mark.usefixtures("once")
def test_a_service_that_brings_nothing_is_not_asked_forever(tmp_path: Path) -> None:
    make_job(tmp_path, trials=9)
    result, api = grade(tmp_path, Failure(500, "api_error"))
    assert (result.exit_code, len(api.requests)) == (2, 5)
    assert "5 requests in a row gave no verdict" in result.stderr


def test_a_service_that_is_down_is_said_with_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "ATTEMPTS", 1)
    make_job(tmp_path)
    variables = {"JUDGE_BASE_URL": "http://127.0.0.1:9", "JUDGE_API_KEY": KEY}
    command = ["grade", str(tmp_path / "jobs/with-search"), "-o", str(tmp_path / "out.json")]
    result = CliRunner().invoke(cli, command, env=variables)
    assert result.exit_code == 2
    assert "the service cannot be reached" in result.stderr


def test_without_a_key_the_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_job(tmp_path)
    for name in ("JUDGE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(cli, ["grade", str(tmp_path / "jobs"), "-o", str(tmp_path / "out.json")])
    assert result.exit_code == 2
    assert "JUDGE_API_KEY" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["results.json"], "results.json: not a Harbor job folder"),
        (["jobs", "--tasks", "nowhere"], "nowhere: not a folder"),
    ],
)
def test_what_is_no_folder_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    make_job(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["grade", *arguments])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert words in result.stderr


def test_the_key_is_in_no_file_and_no_message(tmp_path: Path) -> None:
    make_job(tmp_path, trials=2)
    told = Failure(400, "invalid_request_error", f"wrong key: {KEY}")
    result, _ = grade(tmp_path, reply(), told)
    assert "wrong key" in result.stderr
    written = [path.read_text() for path in tmp_path.rglob("*.json*") if path.is_file()]
    assert not any(KEY in text for text in [*written, result.output, result.stderr])


def test_no_request_is_made_once_the_budget_is_spent(tmp_path: Path) -> None:
    make_job(tmp_path, trials=3)
    result, api = grade(tmp_path, reply(), arguments=("--max-cost-usd", 0.00001))
    assert (result.exit_code, len(api.requests)) == (2, 1)
    assert "the budget of $1e-05 is used up" in result.stderr
    result, api = grade(tmp_path, reply(), arguments=("--max-cost-usd", 1))
    assert (result.exit_code, len(api.requests)) == (0, 2)


def test_a_budget_needs_a_known_price(tmp_path: Path) -> None:
    make_job(tmp_path)
    result, _ = grade(tmp_path, reply(), arguments=("--max-cost-usd", 1, "--judge", "somebody-elses"))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "the price of somebody-elses is not known" in result.stderr


def test_a_dry_run_tells_the_cost_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    make_job(tmp_path, trials=3)
    before = set(tmp_path.rglob("*"))
    result, api = grade(tmp_path, reply(), arguments=("--dry-run", "--repeats", 2))
    assert (result.exit_code, api.requests, set(tmp_path.rglob("*"))) == (0, [], before)
    assert "6 requests to claude-haiku-5-5, 0 done before" in result.output


def test_results_of_another_command_are_not_overwritten(tmp_path: Path) -> None:
    make_job(tmp_path)
    (tmp_path / "out.json").write_text("paid")
    assert grade(tmp_path, reply())[0].exit_code == 2
    assert (tmp_path / "out.json").read_text() == "paid"


def test_a_missing_task_folder_is_one_line_and_tasks_names_another(tmp_path: Path) -> None:
    job = make_job(tmp_path)
    (tmp_path / "tasks").rename(tmp_path / "moved")
    result, _ = grade(tmp_path, reply())
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--tasks" in result.stderr
    assert grade(tmp_path, reply(), source=job, arguments=("-t", tmp_path / "moved"))[0].exit_code == 0


def test_a_service_that_speaks_chat_completions_is_asked_in_its_way(tmp_path: Path) -> None:
    make_job(tmp_path)
    result, api = grade(tmp_path, reply(70), arguments=("--api", "openai", "--judge", "somebody-elses"))
    assert result.exit_code == 0, result.output
    assert [request.path for request in api.requests] == ["/v1/chat/completions"]
    assert graded(tmp_path)[0].overall_score == 0.7
    judge = graded(tmp_path)[0].grades[-1].judge
    assert judge is not None
    assert (judge.model, judge.cost_usd) == ("somebody-elses", None)


@pytest.mark.slow
def test_a_killed_grading_of_80_trials_is_resumed_without_paying_twice(tmp_path: Path) -> None:
    make_job(tmp_path, trials=80, tasks=4)
    command = [sys.executable, "-m", "harness", "grade", "jobs/with-search", "-o", "out.json", "--quiet"]
    killed = False

    def respond(_request: Request) -> Reply:
        return reply() if killed or len(api.requests) <= 30 else Hang()

    with MessagesAPI(respond) as api:
        variables = environment(JUDGE_BASE_URL=api.url, JUDGE_API_KEY=KEY)
        process = subprocess.Popen(command, cwd=tmp_path, env=variables)
        deadline = time.monotonic() + 60
        while len(api.requests) < 31 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        journal = (tmp_path / "out.journal.jsonl").read_text().splitlines()
        assert len(journal) == 30
        killed = True
        done = harness(tmp_path, *command[3:], JUDGE_BASE_URL=api.url, JUDGE_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert len(api.requests) == 31 + 50
    asked = [request.body["messages"][0]["content"] for request in api.requests]
    assert len(set(asked)) == 80
    assert [r.overall_score for r in graded(tmp_path)] == [0.8] * 80
    assert len({json.loads(line)["digest"] for line in journal}) == 30


def test_a_judge_that_refuses_the_login_stops_the_matrix(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=3, configs=1)
    for file in (root / "tasks").glob("*.yaml"):
        file.write_text(file.read_text() + "  - {type: llm, rubric: The answer is right.}\n")
    with MessagesAPI(always(AUTH)) as api:
        shown = matrix(root, "-r", "1", "-o", "out.json", JUDGE_BASE_URL=api.url, JUDGE_API_KEY=KEY)
        assert len(api.requests) == 1
    assert shown.returncode == 2
    assert "stopped after 1 of 3 runs: auth of the judge" in shown.stderr
