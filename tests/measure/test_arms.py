"""Several arms against the first, and the metric that is compared when nobody chose one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import cli
from harness.errors import InputError
from harness.models import EvalResult
from measure.compare.comparison import compare, compare_arms
from measure.compare.verdicts import Verdict
from tests.support.results import arm, results_json, run

TASKS = [f"t{i:02}" for i in range(20)]


def scored(shift: float, tasks: int = 20) -> list[EvalResult]:
    return [run(t, passed=False, score=0.4 + shift * (i % 4 > 0) + i / 100) for i, t in enumerate(TASKS[:tasks])]


def moved(better: int) -> list[EvalResult]:
    """The first `better` tasks 10 points up, one of the others 10 points down."""
    return [
        run(t, passed=False, score=0.5 + (0.1 if i < better else -0.1 if i == better else 0.0))
        for i, t in enumerate(TASKS)
    ]


def test_rewards_between_0_and_1_are_compared_by_score_and_passes_by_rate() -> None:
    assert compare(scored(0), scored(0.1)).metric == "score"
    assert compare(arm({"t": 1}, 3), arm({"t": 2}, 3)).metric == "pass_rate"
    assert compare(scored(0), scored(0.1), metric="pass_rate").metric == "pass_rate"


def test_scores_far_below_the_pass_mark_still_give_a_verdict() -> None:
    comparison = compare(scored(0), scored(0.1))
    assert comparison.verdict is Verdict.IMPROVEMENT
    assert comparison.decision.difference == pytest.approx(0.075)


def test_a_lost_run_does_not_choose_the_metric() -> None:
    lost = run("t", passed=False, score=0.5, outcome="infra_error")
    assert compare([*arm({"t": 1}, 3), lost], arm({"t": 2}, 3)).metric == "pass_rate"


def test_every_arm_is_compared_with_the_first_at_a_level_corrected_for_their_number() -> None:
    found = compare_arms([("plain", moved(0)), ("search", moved(6)), ("index", moved(12))])
    assert [(c.label_a, c.label_b) for c in found.comparisons] == [("plain", "search"), ("plain", "index")]
    assert [c.confidence for c in found.comparisons] == pytest.approx([0.99, 0.99])
    alone, several = compare(moved(0), moved(12)).decision.interval, found.comparisons[1].decision.interval
    assert alone is not None
    assert several is not None
    assert several.high - several.low > alone.high - alone.low


def test_what_only_one_of_many_arms_shows_weakly_is_no_evidence() -> None:
    few = moved(9)
    assert compare(moved(0), few).verdict is Verdict.IMPROVEMENT
    found = compare_arms([("plain", moved(0)), ("few", few), *((f"same{i}", moved(0)) for i in range(9))])
    assert [c.verdict for c in found.comparisons] == [Verdict.NO_EVIDENCE] * 10


def test_two_arms_are_not_corrected() -> None:
    (only,) = compare_arms([("A", scored(0)), ("B", scored(0.1))]).comparisons
    assert only == compare(scored(0), scored(0.1))


def test_each_arm_is_a_point_of_score_and_cost() -> None:
    found = compare_arms([("a", scored(0)), ("b", scored(0.1)), ("c", scored(0.2))])
    assert [point.label for point in found.arms] == ["a", "b", "c"]
    assert found.arms[0].mean == pytest.approx(0.495)
    assert found.arms[0].cost == pytest.approx(0.01)


def test_two_arms_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="different names"):
        compare_arms([("a", scored(0)), ("a", scored(0.1))])


def test_the_command_compares_three_paths(tmp_path: Path) -> None:
    for name, shift in (("a", 0.0), ("b", 0.1), ("c", -0.1)):
        (tmp_path / f"{name}.json").write_text(results_json(scored(shift)))
    out = tmp_path / "out.json"
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    result = CliRunner().invoke(cli, ["compare", *paths, "--json", str(out)])
    assert result.exit_code == 1
    assert "b against a: improvement" in result.output
    assert "c against a: regression" in result.output
    assert "99 % interval" in " ".join(result.output.split())
    data = json.loads(out.read_text())
    assert [arm["label"] for arm in data["arms"]] == ["a", "b", "c"]
    assert [c["comparisons"] for c in data["comparisons"]] == [2, 2]


def test_options_of_two_arms_are_refused_with_three(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(results_json(scored(0)))
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    result = CliRunner().invoke(cli, ["compare", *paths, "--label-a", "x"])
    assert result.exit_code == 2
