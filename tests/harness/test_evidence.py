"""The evidence pack that judges are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.graders import service
from harness.runner.regrade import JudgedTask
from tests.support.judged_job import ANSWER, make_task


def test_the_pack_says_what_the_code_knows_of_an_answer(tmp_path: Path) -> None:
    assert "`charge`: defined pay.py:1" in JudgedTask.load(make_task(tmp_path, "a")).pack(ANSWER)


@pytest.mark.parametrize("variable", ["JUDGE_API_KEY", "OPENAI_API_KEY"])
def test_each_kind_of_service_has_its_own_variables(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "JUDGE_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "mine")
    made = service.Service.of_environment("openai")
    assert (made.key, made.base_url) == ("mine", "https://api.openai.com")
    assert "mine" not in repr(made)
