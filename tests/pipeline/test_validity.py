"""The verifier's promises on the bundled sample, and its agreement with expert readers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from locobench.shared.installation import REPOSITORY
from tests.conftest import SAMPLE
from tools.bench import agreement, answers, judge_agreement
from tools.bench.answers import Case
from tools.bench.validity import SHARE_OF_LARGER, changes_of, frauds_that_pay, large_changes, load_cases, measure


@cache
def sample_cases() -> list[Case]:
    return load_cases(SAMPLE)


def some_cases() -> list[Case]:
    """A task of each project, of changing categories; `make validity` measures all."""
    return [case for number, case in enumerate(sample_cases()) if number % 8 == number // 8 % 8]


@pytest.mark.slow
def test_frauds_do_not_pay() -> None:
    scores = measure(some_cases()[::2], lambda case: {kind: [text] for kind, text in answers.frauds(case).items()})
    assert frauds_that_pay(scores) == []


@pytest.mark.slow
def test_a_small_change_of_an_answer_changes_its_reward_little() -> None:
    changes = changes_of("sample", some_cases()[::5], None)
    assert set(changes) > {"a sentence removed", "a true sentence added", "two paragraphs merged"}
    assert large_changes(changes) <= SHARE_OF_LARGER


@pytest.mark.slow
def test_other_presentations_of_the_oracles_answer_cost_little() -> None:
    for case in some_cases():
        rewards = {kind: case.reward(text) for kind, text in answers.presentations(case).items()}
        assert min(rewards.values()) > 0.9, rewards


@pytest.mark.slow
def test_rewards_agree_with_expert_readers_on_real_scenarios(tmp_path: Path) -> None:
    kit, real = agreement.kit_folder(), os.environ.get("LOCOBENCH_REAL")
    if not kit or not real:
        pytest.skip("no graded answers to real scenarios here, or LOCOBENCH_REAL names no folder with them")
    command = [sys.executable, str(Path(real) / "materialize.py"), str(tmp_path / "data"), "--real-code"]
    subprocess.run(command, check=True, capture_output=True)
    cases = load_cases(tmp_path / "data")
    assert {case.reward(case.grading.oracle) for case in cases} == {1.0}
    assert max(_key_size(case) for case in cases) <= 0.1
    found = agreement.kit_answers(cases, kit)
    assert [name for name, measured, least in agreement.PROMISES if measured(found) < least] == []


def _key_size(case: Case) -> float:
    """The whole key as a share of the code base."""
    return len(json.dumps(case.grading.key)) / sum(map(len, case.index.texts.values()))


@pytest.mark.slow
def test_rewards_agree_with_expert_readers() -> None:
    found = agreement.sample_answers(sample_cases())
    assert len(found) == 240
    assert [name for name, measured, least in agreement.PROMISES if measured(found) < least] == []
    page = (REPOSITORY / "docs" / "VERIFIER.md").read_text(encoding="utf-8")
    table = page.partition("<!-- agreement -->")[2].partition("<!-- end")[0]
    rows = (line.split(" | ") for line in table.splitlines() if line.startswith("| "))
    shown = {cells[0].removeprefix("| "): cells[2] for cells in rows if len(cells) > 2}
    for name, measured, _ in agreement.PROMISES:
        assert shown[name] == f"{abs(measured(found)):.2f}", name


@pytest.mark.slow
def test_the_page_has_todays_agreement_of_the_judge() -> None:
    page = judge_agreement.DOCUMENT.read_text(encoding="utf-8")
    assert judge_agreement.table(*judge_agreement.compare()) in page


@pytest.mark.slow
def test_measurement_would_notice_a_verifier_that_pays_for_anything() -> None:
    found = agreement.sample_answers(sample_cases(), lambda case, answer: 1.0)
    assert any(measured(found) < least for _, measured, least in agreement.PROMISES)
    assert frauds_that_pay({"project, fenced": [0.0, 0.0, 0.2]}) == ["project, fenced"]


@pytest.mark.slow
def test_parts_of_the_truth_are_drawn_the_same_way_every_time() -> None:
    case = sample_cases()[0]
    assert answers.part_of_oracle(case, 0.5) == answers.part_of_oracle(case, 0.5)
    assert len(answers.units(answers.part_of_oracle(case, 0.5))) < len(answers.units(case.grading.oracle))
