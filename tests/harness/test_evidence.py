"""The evidence pack on its own, and beside an answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import cli
from harness.graders import service
from harness.report.html import Arm, render
from harness.results import judged_task
from harness.results.harbor import load_jobs
from harness.results.judged_task import pack_for
from tests.harness.test_grade import grade, graded
from tests.harness.test_html_report import pages
from tests.support.judged_job import ANSWER, make_job, make_task, reply


def test_evidence_prints_the_pack_of_a_task_or_of_any_folder(tmp_path: Path) -> None:
    task = make_task(tmp_path, "a")
    (tmp_path / "answer.md").write_text(ANSWER)
    for folder in (task, task / "environment/project"):
        shown = CliRunner().invoke(cli, ["evidence", str(folder), str(tmp_path / "answer.md")])
        assert "`charge`: defined pay.py:1" in shown.output
    piped = CliRunner().invoke(cli, ["evidence", str(task), "-"], input=ANSWER)
    assert piped.output == shown.output


def endless(task: Path) -> str:
    """Give a task's project many names in many lines; return an answer that names them all."""
    names = [f"name_{number}" for number in range(800)]
    (task / "environment/project/many.py").write_text("\n".join(f"def {name}(): {names[0]}()" for name in names) * 40)
    return " ".join(f"`{name}`" for name in names)


def test_an_answer_that_takes_too_long_to_look_up_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged_task, "PACK_SECONDS", 0.05)
    task = make_task(tmp_path, "a")
    answer = endless(task)
    started = time.monotonic()
    shown = CliRunner().invoke(cli, ["evidence", str(task), "-"], input=answer)
    assert time.monotonic() - started < 10
    assert (shown.exit_code, shown.stderr.count("\n")) == (2, 1)
    assert "took more than 0.05 s" in shown.stderr


def test_what_takes_too_long_to_look_up_has_no_verdict_and_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_job(tmp_path, trials=2, tasks=2)
    monkeypatch.setattr(judged_task, "PACK_SECONDS", 0.05)
    slow = tmp_path / "jobs/with-search/task_00__x00/artifacts/app/solution.md"
    slow.write_text(endless(tmp_path / "tasks/task_00"))
    result, api = grade(tmp_path, reply())
    assert (result.exit_code, len(api.requests)) == (2, 1)
    assert [run.measured for run in graded(tmp_path)] == [False, True]
    assert "took more than 0.05 s" in result.stderr


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
