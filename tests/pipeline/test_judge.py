"""Tasks that a judge grades: what its program reads, asks, writes and keeps to itself, run as their test.sh runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import smoke_test
from harness.run.judged_task import JudgedTask
from locobench.scoring.grader import JUDGE, JUDGE_FILES, grader_files
from locobench.scoring.grading import as_answer
from tests.conftest import Script
from tests.pipeline.test_adapter import generate
from tests.pipeline.test_judging import APIS, GRADE, KEY
from tests.support.data_builder import FILES, TRUTH, Data, tree
from tests.support.invariants import call
from tests.support.stand_in.messages_api import (
    AUTH,
    OUTPUT_TOKENS,
    USAGE,
    Failure,
    MessagesAPI,
    Reply,
    Text,
    always,
)

ANSWER = "`warm_start` in `src/price_cache.py` stores epochs, so no entry expires. `flush_daemon` does not exist.\n"
EMPTY_KEY = "the key is empty or contains characters that a header cannot (line ends, non-ASCII letters)"


@pytest.fixture
def task(data: Data, tmp_path: Path) -> Path:
    data.project()
    data.scenario()
    return generate(data, tmp_path, verifier="judge")


def verify(
    task: Path, root: Path, answer: str | None, url: str, **env: str
) -> tuple[float | None, dict[str, Any], str]:
    """Run the task's test.sh on an answer; return reward, metrics and all that was printed."""
    (root / "app").mkdir(parents=True)
    (root / "tests").symlink_to(task / "tests")
    if (task / "environment/project").exists():
        (root / "app/project").symlink_to(task / "environment/project")
    if answer is not None:
        (root / "app/solution.md").write_text(answer)
    settings = {"JUDGE_API": "anthropic", "JUDGE_MODEL": "claude-haiku-4-5", "JUDGE_BASE_URL": url}
    done = subprocess.run(
        ["bash", task / "tests/test.sh", root],
        env={**os.environ, **settings, "JUDGE_API_KEY": KEY, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    out = root / "logs/verifier"
    reward = json.loads((out / "reward.json").read_text())["reward"] if (out / "reward.json").exists() else None
    return reward, json.loads((out / "metrics.json").read_text()), done.stdout + done.stderr


@APIS
def test_the_reward_is_the_overall_grade(task: Path, tmp_path: Path, api: str) -> None:
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        reward, metrics, _ = verify(task, tmp_path / "root", ANSWER, service.url, JUDGE_API=api)

    assert reward == metrics["reward"] == 0.65
    assert metrics["components"] == {"code_truth": 0.8, "task_points": 0.6}
    judge = metrics["judge"]
    assert {name: judge[name] for name in GRADE} == GRADE
    assert (judge["api"], judge["model"]) == (api, "claude-haiku-4-5")
    tokens = {"input_tokens": USAGE["input_tokens"], "output_tokens": OUTPUT_TOKENS}
    assert judge["usage"] == tokens
    assert judge["cost_usd"] == pytest.approx((tokens["input_tokens"] + 5 * OUTPUT_TOKENS) / 1e6)
    assert 0 <= metrics["deterministic"]["reward"] < 1
    assert metrics["deterministic"]["components"]


def test_the_judge_sees_question_criteria_reference_answer_and_the_code(task: Path, tmp_path: Path) -> None:
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        verify(task, tmp_path / "root", ANSWER, service.url)

    (request,) = service.requests
    asked = request.body["messages"][0]["content"]
    shown = [
        (task / "instruction.md").read_text().strip(),
        "Names the comparison of two clocks",
        TRUTH.strip(),
        ANSWER.strip(),
    ]
    assert [part for part in shown if part not in asked] == []
    assert FILES["src/price_cache.py"].splitlines()[2].strip() in asked
    assert "`flush_daemon`" in asked.split("## Not in the code base")[1].split("##")[0]


def test_a_model_of_unknown_price_costs_nobody_knows_what(task: Path, tmp_path: Path) -> None:
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        _, metrics, _ = verify(task, tmp_path / "root", ANSWER, service.url, JUDGE_MODEL="someone-elses")

    assert metrics["judge"]["cost_usd"] is None


@pytest.mark.parametrize("answer", [None, "", " \n\t\n"])
def test_no_answer_is_zero_without_a_call(task: Path, tmp_path: Path, answer: str | None) -> None:
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        reward, metrics, _ = verify(task, tmp_path / "root", answer, service.url)

    assert reward == 0.0
    assert metrics["problem"].startswith("no answer")
    assert service.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "env", "problem"),
    [
        (AUTH, {}, "the service answered 401: invalid x-api-key"),
        (Failure(400, "invalid_request_error", "too long"), {}, "the service answered 400: too long"),
        (AUTH, {"JUDGE_API": "carrier pigeon"}, "JUDGE_API: 'carrier pigeon' is none of anthropic, openai"),
        (AUTH, {"JUDGE_MODEL": ""}, "JUDGE_MODEL: not set"),
        (AUTH, {"JUDGE_BASE_URL": "ftp://x"}, "the base URL is not valid: it needs http:// or https:// and a host"),
        (AUTH, {"JUDGE_API_KEY": ""}, EMPTY_KEY),
    ],
)  # fmt: skip
def test_without_a_grade_there_is_no_reward(
    task: Path, tmp_path: Path, reply: Reply, env: dict[str, str], problem: str
) -> None:
    with MessagesAPI(always(reply)) as service:
        reward, metrics, _ = verify(task, tmp_path / "root", ANSWER, service.url, **env)

    assert reward is None
    assert "reward" not in metrics
    assert (metrics["problem_kind"], metrics["problem"]) == ("judge", problem)
    assert "components" in metrics["deterministic"]


def test_a_missing_code_base_is_a_problem_and_no_zero(task: Path, tmp_path: Path) -> None:
    (task / "environment/project").rename(tmp_path / "away")
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        reward, metrics, _ = verify(task, tmp_path / "root", ANSWER, service.url)

    assert reward is None
    assert metrics["problem"] == "no code base to look the answer up in"


def test_a_reply_that_holds_the_key_is_written_without_it(task: Path, tmp_path: Path) -> None:
    reply = {**GRADE, "reason": f"Your key is {KEY}.", "checks": [{**GRADE["checks"][0], "claim": KEY}]}  # type: ignore[index]
    with MessagesAPI(always(Text(json.dumps(reply)))) as service:
        reward, metrics, printed = verify(task, tmp_path / "root", ANSWER, service.url)

    assert reward == 0.65
    assert metrics["judge"]["reason"] == "Your key is [key]."
    assert KEY not in printed
    assert not any(KEY.encode() in content for content in tree(tmp_path / "root" / "logs").values())


def test_an_earlier_reward_does_not_outlive_a_judge_that_fails(task: Path, tmp_path: Path) -> None:
    planted = tmp_path / "root/logs/verifier"
    planted.mkdir(parents=True)
    (planted / "reward.json").write_text('{"reward": 1}')
    (planted / "reward.txt").write_text("1")
    with MessagesAPI(always(AUTH)) as service:
        reward, _, _ = verify(task, tmp_path / "root", ANSWER, service.url)

    assert reward is None
    assert not (planted / "reward.txt").exists()


def test_the_harness_asks_about_a_plain_task_with_the_same_words(task: Path) -> None:
    words = json.loads((task / "tests/judge.json").read_text())
    (task / "tests/judge.json").unlink()
    asked = JudgedTask.load(task)
    assert {name: getattr(asked, name) for name in words} == words


def test_the_tests_hold_the_very_files_that_the_harness_asks_with(task: Path) -> None:
    modules = {"__init__.py", "asking.py", "code_base.py", "evidence.py", "judging.py", "prices.py"}
    judge = {f"tests/locobench/scoring/judge/{name}" for name in modules}
    assert set(JUDGE_FILES) == judge | {"tests/locobench/scoring/__init__.py"}
    for place, path in JUDGE_FILES.items():
        assert (task / place).read_bytes() == path.read_bytes()


def test_task_toml_takes_the_judge_from_the_environment_and_has_no_default_for_the_key(task: Path) -> None:
    config = tomllib.loads((task / "task.toml").read_text())

    env = config["verifier"]["env"]
    assert env["JUDGE_API_KEY"] == "${JUDGE_API_KEY}"
    assert all(env[name].startswith(f"${{{name}:-") for name in ("JUDGE_API", "JUDGE_MODEL", "JUDGE_BASE_URL"))
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["metadata"]["verifier"] == "judge"
    assert config["verifier"]["timeout_sec"] > 60 + 480 + 30


def test_the_smoke_test_holds_the_deterministic_part_to_its_promise_and_asks_no_judge(task: Path) -> None:
    code, output, _ = call(smoke_test.main, str(task), "--local")
    assert code == 0
    assert "1 tasks: 1 ok" in output


def test_tasks_without_the_code_give_it_to_the_judge_alone(data: Data, tmp_path: Path) -> None:
    data.project()
    data.scenario()
    task = generate(data, tmp_path, verifier="judge", closed_book=True)
    with MessagesAPI(always(Text(json.dumps(GRADE)))) as service:
        reward, _, _ = verify(task, tmp_path / "root", ANSWER, service.url)

    assert reward == 0.65
    assert FILES["src/price_cache.py"].splitlines()[2].strip() in service.requests[0].body["messages"][0]["content"]
    assert not (task / "environment/project").exists()


def test_run_adapter_writes_them(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    name = data.scenario()
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    flags = ["--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder, "--output_dir", tmp_path / "tasks"]

    assert script("run_adapter.py", *flags, "--verifier", "judge").returncode == 0
    assert (tmp_path / "tasks" / name / "tests/judge.py").is_file()


def test_beside_a_judge_an_exact_answer_is_measured_by_the_exact_verifier(tmp_path: Path) -> None:
    files = {**grader_files(JUDGE, "exact"), "app/project/a.py": b"def place(basket, order):\n    return order\n"}
    key = {"measure": "f1", "items": ["a.py: place"], "names": {"a.py": ["place"]}, "grep": []}
    files["tests/ground_truth.json"] = json.dumps({"key": key}).encode()
    files["app/solution.md"] = as_answer(["a.py: place", "a.py: other"]).encode()
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "logs/verifier").mkdir(parents=True)
    subprocess.run([sys.executable, "-I", "-S", tmp_path / "tests/judge.py", tmp_path], check=True, capture_output=True)
    metrics = json.loads((tmp_path / "logs/verifier/metrics.json").read_text())
    assert metrics["deterministic"]["reward"] == pytest.approx(2 / 3, abs=1e-6)
    assert "JUDGE_API" in metrics["problem"]
