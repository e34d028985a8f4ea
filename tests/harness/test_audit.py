"""References of tasks rated by judges, and the evidence pack on its own."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import cli
from harness.graders import service
from harness.report.html import Arm, render
from harness.results import judged_task
from harness.results.harbor import load_jobs
from harness.results.judged_task import pack_for
from tests.harness.test_html_report import pages
from tests.support.judged_job import ANSWER, audit_reply, make_job, make_task
from tests.support.stand_in.messages_api import AUTH, MessagesAPI, Reply, Text, always


def audit(root: Path, *replies: Reply, arguments: tuple[object, ...] = ()) -> tuple[Result, MessagesAPI]:
    """`audit tasks -o audit.jsonl` in `root`, with a service that answers like this."""
    with MessagesAPI(always(*replies)) as api:
        command = ["audit", root / "tasks", "-o", root / "audit.jsonl", *arguments]
        variables = {"JUDGE_BASE_URL": api.url, "JUDGE_API_KEY": "test"}
        return CliRunner().invoke(cli, [str(part) for part in command], env=variables), api


def lines(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "audit.jsonl").read_text().splitlines()]


def test_each_task_gets_a_line_with_its_truth_and_the_checks(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_task(tmp_path, name)
    result, api = audit(tmp_path, audit_reply(40), audit_reply(90))
    assert result.exit_code == 0, result.output
    assert [(line["id"], line["truth"], line["judge"]) for line in lines(tmp_path)] == [
        ("a", 40, "claude-haiku-5-5"),
        ("b", 90, "claude-haiku-5-5"),
    ]
    assert lines(tmp_path)[0]["checks"][0]["evidence"] == "pay.py:2"
    text = api.requests[0].body["messages"][0]["content"]
    assert "charge refuses closed accounts." in text
    assert list(api.requests[0].body["output_config"]["format"]["schema"]["properties"]) == [
        "checks",
        "truth",
        "reason",
    ]


def test_of_several_verdicts_the_median_counts(tmp_path: Path) -> None:
    make_task(tmp_path, "a")
    audit(tmp_path, audit_reply(20), audit_reply(90), audit_reply(60), arguments=("--repeats", 3))
    assert [(line["truth"], line["truths"]) for line in lines(tmp_path)] == [(60, [20, 90, 60])]


def test_a_high_truth_without_a_true_claim_is_no_verdict(tmp_path: Path) -> None:
    make_task(tmp_path, "a")
    result, _ = audit(tmp_path, audit_reply(95, verdict="invented"))
    assert (result.exit_code, lines(tmp_path)) == (2, [])
    assert "no claim was found true" in result.stderr


def test_what_has_a_verdict_is_not_asked_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_task(tmp_path, name)
    assert audit(tmp_path, audit_reply(40), Text("no"))[0].exit_code == 2
    assert [line["id"] for line in lines(tmp_path)] == ["a"]
    result, api = audit(tmp_path, audit_reply(50))
    assert (result.exit_code, len(api.requests)) == (0, 1)
    assert [line["id"] for line in lines(tmp_path)] == ["a", "b"]


def test_a_refused_login_stops_the_audit(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        make_task(tmp_path, name)
    result, api = audit(tmp_path, AUTH)
    assert (result.exit_code, len(api.requests)) == (2, 1)
    assert "stopped: " in result.stderr


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    make_task(tmp_path, "a")
    result, api = audit(tmp_path, audit_reply(), arguments=("--dry-run",))
    assert (result.exit_code, api.requests) == (0, [])
    assert "1 request to claude-haiku-5-5" in result.output
    assert not (tmp_path / "audit.jsonl").exists()


def test_a_folder_without_tasks_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    result, _ = audit(tmp_path, audit_reply())
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_evidence_prints_the_pack_of_a_task_or_of_any_folder(tmp_path: Path) -> None:
    task = make_task(tmp_path, "a")
    (tmp_path / "answer.md").write_text(ANSWER)
    for folder in (task, task / "environment/project"):
        shown = CliRunner().invoke(cli, ["evidence", str(folder), str(tmp_path / "answer.md")])
        assert "`charge`: defined pay.py:1" in shown.output
    piped = CliRunner().invoke(cli, ["evidence", str(task), "-"], input=ANSWER)
    assert piped.output == shown.output


def endless(root: Path) -> tuple[Path, str]:
    """A task whose project has many names in many lines, and an answer that names them all."""
    task = make_task(root, "a")
    names = [f"name_{number}" for number in range(800)]
    (task / "environment/project/many.py").write_text("\n".join(f"def {name}(): {names[0]}()" for name in names) * 40)
    return task, " ".join(f"`{name}`" for name in names)


def test_an_answer_that_takes_too_long_to_look_up_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged_task, "PACK_SECONDS", 0.05)
    task, answer = endless(tmp_path)
    started = time.monotonic()
    shown = CliRunner().invoke(cli, ["evidence", str(task), "-"], input=answer)
    assert time.monotonic() - started < 10
    assert (shown.exit_code, shown.stderr.count("\n")) == (2, 1)
    assert "took more than 0.05 s" in shown.stderr


def test_what_takes_too_long_to_look_up_has_no_verdict_and_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_task, "PACK_SECONDS", 0.05)
    task, answer = endless(tmp_path)
    whole = {"ground_truth": answer, "key": {}}
    (task / "tests/ground_truth.json").write_text(json.dumps(whole))
    make_task(tmp_path, "b")
    result, api = audit(tmp_path, audit_reply(40))
    assert (result.exit_code, len(api.requests)) == (2, 1)
    assert [line["id"] for line in lines(tmp_path)] == ["b"]
    assert "took more than 0.05 s" in result.stderr


def test_secrets_that_a_judge_quotes_get_into_no_file(tmp_path: Path) -> None:
    make_task(tmp_path, "a")
    secret = "sk-ant-" + "api03-" + "A1b2" * 10
    said = {"claim": f"the key is {secret}", "verdict": "true", "evidence": "pay.py:2"}
    audit(tmp_path, Text(json.dumps({"checks": [said], "truth": 40, "reason": f"It prints {secret}"})))
    assert lines(tmp_path)[0]["truth"] == 40
    assert secret not in (tmp_path / "audit.jsonl").read_text() + (tmp_path / "audit.journal.jsonl").read_text()


def test_a_run_page_shows_the_pack_beside_the_answer(tmp_path: Path) -> None:
    (result,) = load_jobs(make_job(tmp_path))
    (page,) = pages(render([Arm("r", [result])], pack_for=pack_for))
    assert "defined pay.py:1" in page


def test_a_result_without_its_trial_has_no_pack(tmp_path: Path) -> None:
    (result,) = load_jobs(make_job(tmp_path))
    assert pack_for(result.model_copy(update={"source": ""})) is None
    assert pack_for(result.model_copy(update={"source": str(tmp_path / "gone")})) is None


@pytest.mark.parametrize("variable", ["JUDGE_API_KEY", "OPENAI_API_KEY"])
def test_each_kind_of_service_has_its_own_variables(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "JUDGE_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "mine")
    made = service.Service.of_environment("openai")
    assert (made.key, made.base_url) == ("mine", "https://api.openai.com")
    assert "mine" not in repr(made)
