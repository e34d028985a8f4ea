"""The evidence pack that judges are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.graders import service
from harness.runner import judged_task
from harness.runner.judged_task import JudgedTask
from tests.harness.test_grade import grade, graded
from tests.support.judged_job import ANSWER, make_job, make_task, reply


def test_the_pack_says_what_the_code_knows_of_an_answer(tmp_path: Path) -> None:
    assert "`charge`: defined pay.py:1" in JudgedTask.load(make_task(tmp_path, "a")).pack(ANSWER)


def endless(task: Path) -> str:
    """Give a task's project many names in many lines; return an answer that names them all."""
    names = [f"name_{number}" for number in range(800)]
    (task / "environment/project/many.py").write_text("\n".join(f"def {name}(): {names[0]}()" for name in names) * 40)
    return " ".join(f"`{name}`" for name in names)


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


@pytest.mark.parametrize("variable", ["JUDGE_API_KEY", "OPENAI_API_KEY"])
def test_each_kind_of_service_has_its_own_variables(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "JUDGE_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "mine")
    made = service.Service.of_environment("openai")
    assert (made.key, made.base_url) == ("mine", "https://api.openai.com")
    assert "mine" not in repr(made)
