"""Several arms against the first, and the metric that is compared when nobody chose one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from harness.cli import cli
from harness.models import EvalResult
from locobench.shared.errors import InputError
from measure.compare.comparison import compare, compare_arms
from measure.compare.verdicts import Verdict
from measure.report.console import print_table
from measure.report.grids import pairs_grid
from measure.report.tables import grid_table
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


def test_each_arm_is_compared_with_the_first_and_the_others_with_each_other() -> None:
    found = compare_arms([("base", moved(0)), ("t1", moved(6)), ("t2", moved(12)), ("t3", moved(12))])
    assert [(c.label_b, c.label_a) for c in found.comparisons] == [("t1", "base"), ("t2", "base"), ("t3", "base")]
    assert [(c.label_b, c.label_a) for c in found.between] == [("t2", "t1"), ("t3", "t1"), ("t3", "t2")]


def test_holms_method_gives_each_pair_its_level_and_interval_and_p_agree() -> None:
    found = compare_arms([("base", scored(0)), ("t1", scored(0.02)), ("t2", scored(0.1)), ("t3", scored(0.1))])
    pairs = [*found.comparisons, *found.between]
    levels = sorted(1 - pair.confidence for pair in pairs)
    assert levels[0] == pytest.approx(0.05 / 6)
    for pair in pairs:
        assert pair.decision.interval is None or (pair.adjusted_p <= 0.05) == pair.verdict.decided
    assert compare(scored(0), scored(0.1)).confidence == pytest.approx(0.95)


def test_costs_of_several_arms_have_p_values_and_intervals_that_agree() -> None:
    dear = [run(t, passed=False, score=0.5, cost=0.01 * (1 + (i % 5) / 4)) for i, t in enumerate(TASKS)]
    others = [(f"t{n}", scored(0)) for n in (2, 3)]
    for more, changed in (([*dear[:10], *scored(0)[10:]], False), (dear, True)):
        cost = compare_arms([("base", scored(0)), ("t1", more), *others]).comparisons[0].cost_named("cost")
        assert cost is not None
        assert cost.p * 5 <= 0.05  # for the five quantities of one pair
        assert (cost.changed, cost.adjusted_p <= 0.05) == (changed, changed)


def test_what_only_one_of_many_arms_shows_weakly_is_no_evidence() -> None:
    few = moved(8)
    assert compare(moved(0), few).verdict is Verdict.IMPROVEMENT
    found = compare_arms([("plain", moved(0)), ("few", few), *((f"same{i}", moved(0)) for i in range(5))])
    assert {c.verdict for c in found.comparisons} == {Verdict.NO_EVIDENCE}


def test_two_arms_are_not_corrected() -> None:
    (only,) = compare_arms([("A", scored(0)), ("B", scored(0.1))]).comparisons
    assert only == compare(scored(0), scored(0.1))


def test_each_arm_is_a_point_of_score_and_cost() -> None:
    found = compare_arms([("a", scored(0)), ("b", scored(0.1)), ("c", scored(0.2))])
    assert [*found.arms] == ["a", "b", "c"]
    assert found.arms["a"] is not None
    assert found.arms["a"].mean == pytest.approx(0.495)
    assert found.arms["a"].cost == pytest.approx(0.01)


def test_the_table_of_all_pairs_fits_a_terminal_and_shows_nothing_untested() -> None:
    grid = pairs_grid(compare_arms([(name, scored(shift)) for name, shift in (("a", 0), ("bb", 0.1), ("cc", -0.1))]))
    assert grid.columns == ("", "points", "interval", "verdict", "level", "p (Holm)")
    out = io.StringIO()
    print_table(Console(file=out, width=80), grid_table(grid))
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_two_arms_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="different names"):
        compare_arms([("a", scored(0)), ("a", scored(0.1))])


def test_the_command_compares_three_paths(tmp_path: Path) -> None:
    for name, shift in (("a", 0.0), ("b", 0.1), ("c", -0.1)):
        (tmp_path / f"{name}.json").write_text(results_json(scored(shift)))
    out = tmp_path / "out.json"
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    labels = ["--label", "base", "--label", "good", "--label", "bad"]
    outputs = ["--json", str(out), "--markdown", str(tmp_path / "d.md")]
    result = CliRunner().invoke(cli, ["compare", *paths, *labels, *outputs])
    assert result.exit_code == 1
    assert "| bad against good |" in (tmp_path / "d.md").read_text()
    text = " ".join(result.output.split())
    assert "good is better than base: +7.5 points (" in text
    assert "bad is worse than base" in text
    assert "bad against good" in text
    assert "p (Holm)" in text
    data = json.loads(out.read_text())
    assert [arm["label"] for arm in data["arms"]] == ["base", "good", "bad"]
    assert [(c["label_b"], c["label_a"]) for c in data["between"]] == [("bad", "good")]
    assert [c["comparisons"] for c in data["comparisons"]] == [3, 3]


def test_a_tool_that_is_worse_than_another_alone_is_no_regression(tmp_path: Path) -> None:
    for name, shift in (("base", 0.0), ("good", 0.2), ("same", 0.0)):
        (tmp_path / f"{name}.json").write_text(results_json(scored(shift)))
    paths = [str(tmp_path / f"{name}.json") for name in ("base", "good", "same")]
    result = CliRunner().invoke(cli, ["compare", *paths])
    assert "same against good" in result.output
    assert result.exit_code == 0


@pytest.mark.parametrize("more", [["--label", "x"], ["--config-a", "x"]])
def test_options_that_do_not_fit_several_arms_are_refused(tmp_path: Path, more: list[str]) -> None:
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(results_json(scored(0)))
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    result = CliRunner().invoke(cli, ["compare", *paths, *more])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_the_p_value_of_the_verdicts_metric_is_the_one_that_decided() -> None:
    arms = [(name, scored(shift)) for name, shift in (("base", 0), ("t1", 0.02), ("t2", 0.1))]
    arms[1][1].append(run(TASKS[0], passed=False, outcome="infra_error", index=1))
    for pair in compare_arms(arms).comparisons:
        assert pair.primary is not None
        assert (pair.primary.p, pair.primary.adjusted_p) == (pair.decision.p, pair.adjusted_p)
    alone = compare(*(results for _, results in arms[:2])).metrics
    assert all(metric.adjusted_p == metric.p for metric in alone)
