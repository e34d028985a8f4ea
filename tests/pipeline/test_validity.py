"""The verifier's promises on the bundled sample, and its agreement with expert readers."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from locobench.scoring.verifier import verifier
from tests.conftest import SAMPLE
from tools.bench import agreement, answers
from tools.bench.answers import Case
from tools.bench.validity import check, load_cases, measure


@cache
def sample_cases() -> list[Case]:
    return load_cases(SAMPLE)


@pytest.mark.slow
def test_every_promise_is_kept_on_an_eighth_of_the_sample() -> None:
    """A task of each project, of changing categories; `make validity` measures all."""
    cases = [case for number, case in enumerate(sample_cases()) if number % 8 == number // 8 % 8]
    scores = measure(cases)
    assert [bound for bound in check(cases, scores) if not bound.kept] == []


@pytest.mark.slow
def test_rewards_agree_with_expert_readers_on_real_scenarios(tmp_path: Path) -> None:
    kit, real = agreement.kit_folder(), os.environ.get("LOCOBENCH_REAL")
    if not kit or not real:
        pytest.skip("no graded answers to real scenarios here, or LOCOBENCH_REAL names no folder with them")
    command = [sys.executable, str(Path(real) / "materialize.py"), str(tmp_path / "data"), "--real-code"]
    subprocess.run(command, check=True, capture_output=True)
    cases = load_cases(tmp_path / "data")
    assert {verifier().score(case.grading.oracle, case.grading.key)["reward"] for case in cases} == {1.0}
    found = agreement.kit_answers(cases, kit)
    assert [name for name, measured, least in agreement.PROMISES if measured(found) < least] == []


@pytest.mark.slow
def test_rewards_agree_with_expert_readers() -> None:
    found = agreement.sample_answers(sample_cases())
    assert len(found) == 240
    for half in ({"tuned"}, {"first look", "second look"}):
        part = [answer for answer in found if answer.half in half]
        assert [name for name, measured, least in agreement.PROMISES if measured(part) < least] == [], half


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blank", "anything said"])
def test_measurement_would_notice_a_verifier_that_pays_for_anything(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of two projects: the ranker learns from one of them.
    cases = sample_cases()[4:12]
    monkeypatch.setattr(verifier(), "score", lambda answer, key: {"reward": 1.0 if answer or kind == "blank" else 0.0})
    assert any(not bound.kept for bound in check(cases, measure(cases)))


def test_parts_of_the_truth_are_drawn_the_same_way_every_time() -> None:
    case = sample_cases()[0]
    assert answers.part_of_oracle(case, 0.5) == answers.part_of_oracle(case, 0.5)
    assert len(answers.units(answers.part_of_oracle(case, 0.5))) < len(answers.units(case.grading.oracle))
