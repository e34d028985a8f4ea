"""Verdicts of `compare`: what is called, what is not, what is left out, and how often it errs."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from harness.models import EvalResult, Outcome
from locobench.shared.errors import InputError
from measure.compare.comparison import compare
from measure.compare.decision import decide
from measure.compare.pairing import by_unit, pair_units, pairing
from measure.compare.sentences import answer, verdict_sentence
from measure.compare.verdicts import Decision, Verdict
from measure.statistics import estimates
from measure.summary.noise import observed_noise
from tests.support.results import arm, judge_failed, run
from tools.bench.power_table import simulate
from tools.bench.verdict_table import Experiment, arms_of, decisions_of, made

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


def decision(experiment: Experiment, seed: int) -> Decision:
    """What `compare` decides about an experiment without lost runs; groups and prices would take most of the time."""
    a, b = arms_of(experiment, seed)
    key_of = pairing(a, b)
    return decide(pair_units(by_unit(a, key_of), by_unit(b, key_of), "score"))


@pytest.mark.slow
def test_an_unchanged_agent_is_called_worse_in_at_most_5_of_100_comparisons() -> None:
    for fixed_tasks in (False, True):
        rates = simulate(tasks=20, runs=3, baseline=0.8, change=0.0, repetitions=400, fixed_tasks=fixed_tasks)
        assert rates.regression + rates.improvement <= 0.05


@pytest.mark.slow
def test_a_drop_of_20_points_over_20_tasks_and_5_runs_is_found() -> None:
    rates = simulate(tasks=20, runs=5, baseline=0.8, change=-0.2, repetitions=400, fixed_tasks=True)
    assert rates.regression >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("others", [0.5, 0.8, 0.95])
def test_one_broken_task_of_20_is_named_at_6_runs(others: float) -> None:
    rates = simulate(tasks=20, runs=6, baseline=others, change=0.0, repetitions=300, broken=1)
    assert rates.broken_named >= 0.9


def test_a_drop_everywhere_is_a_regression_and_a_rise_an_improvement() -> None:
    assert compare(arm(same(5), 5), arm(same(3), 5)).verdict is Verdict.REGRESSION
    assert compare(arm(same(3), 5), arm(same(5), 5)).verdict is Verdict.IMPROVEMENT


def test_no_difference_is_no_evidence_and_says_what_could_have_been_seen() -> None:
    wobbling = {task: (2, 3, 3)[i % 3] for i, task in enumerate(TASKS)}
    comparison = compare(arm(same(3), 3), arm(wobbling, 3))
    assert compare(arm(same(3), 3), arm(same(3), 3)).verdict is Verdict.NO_EVIDENCE
    assert comparison.headroom is not None
    assert comparison.headroom.finds_fall is not None
    assert 0.05 < comparison.headroom.finds_fall < 0.3


def test_three_tasks_with_three_runs_are_not_enough_data_unless_all_of_them_broke() -> None:
    few = dict.fromkeys(TASKS[:3], 3)
    assert compare(arm(few, 3), arm(dict.fromkeys(few, 0) | {"t00": 1}, 3)).verdict is Verdict.NOT_ENOUGH_DATA


def test_one_task_with_many_runs_says_nothing_of_others_but_did_get_worse() -> None:
    comparison = compare(arm({"t": 10}, 10), arm({"t": 0}, 10))
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    assert comparison.got_worse
    assert compare(arm({"t": 10}, 10), arm({"t": 0}, 10), fixed_tasks=True).verdict is Verdict.REGRESSION


def test_four_moved_tasks_of_twenty_are_too_few_for_the_suite() -> None:
    moved = same(3) | dict.fromkeys(TASKS[:4], 2)
    assert compare(arm(same(3), 3), arm(moved, 3)).verdict is Verdict.NO_EVIDENCE


def test_no_results_are_not_enough_data() -> None:
    comparison = compare([], arm(same(1), 1))
    assert comparison.verdict is Verdict.NOT_ENOUGH_DATA
    assert comparison.primary is None


def test_a_change_below_the_threshold_is_never_called() -> None:
    a, b = arm(same(100), 100), arm(same(97), 100)
    assert compare(a, b).verdict is Verdict.REGRESSION
    below = compare(a, b, threshold=0.05)
    assert below.verdict is Verdict.NO_EVIDENCE
    told = answer(below)
    assert told.startswith(
        "No evidence that B is better or worse than A by more than 5 points: the effect lies between -3"
    )


def test_one_run_of_each_task_beside_ten_is_not_called_better_for_that() -> None:
    """Equal agents near the ceiling; by the sign-flip test alone, 8 of 40 are called."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        a, b = (arm(dict(zip(TASKS, rng.binomial(runs, 0.9, 12), strict=False)), runs) for runs in (10, 1))
        found = compare(a, b)
        assert not found.verdict.decided
        assert not any(part.changed for part in (*found.metrics, *found.slices))
        assert found.decision.p > 0.05


def test_unlike_numbers_of_runs_hide_no_large_effect() -> None:
    found = compare(arm(same(4), 10), arm(same(3), 3))
    assert found.verdict is Verdict.IMPROVEMENT
    assert found.decision.interval is not None
    assert found.decision.interval.low > 0


def test_both_metrics_are_shown_where_they_differ() -> None:
    passes, scores = (arm(same(2), 3), [run(t, score=0.8, passed=True) for t in TASKS])
    assert [m.name for m in compare(passes, arm(same(1), 3)).metrics] == ["pass_rate"]
    assert [m.name for m in compare(passes, scores).metrics] == ["pass_rate", "score"]


def test_one_repaired_task_is_no_improvement_of_tasks_that_fell() -> None:
    a = dict.fromkeys(TASKS[1:], 6) | {TASKS[0]: 0}
    b = {task: 5 if task < TASKS[14] else 6 for task in TASKS} | {TASKS[0]: 6}
    repaired = compare(arm(a, 6), arm(b, 6), fixed_tasks=True, threshold=0.05)
    assert repaired.decision.difference < 0
    assert repaired.verdict is Verdict.NO_EVIDENCE
    assert "Single tasks that changed by more than chance: t00 (improvement)" in verdict_sentence(repaired)


def test_one_broken_task_of_a_suite_that_rose_is_told_as_that() -> None:
    a = {task: 5 if task < TASKS[14] else 6 for task in TASKS} | {TASKS[0]: 6}
    b = dict.fromkeys(TASKS[1:], 6) | {TASKS[0]: 0}
    broken = compare(arm(a, 6), arm(b, 6), fixed_tasks=True, threshold=0.05)
    assert broken.verdict is Verdict.REGRESSION
    assert answer(broken) == "B is worse than A on t00; all tasks together changed by +5.8 points."


def test_lost_runs_are_outside_the_rates() -> None:
    b = [*arm(same(3), 3), judge_failed(TASKS[0], index=10)]
    b += [run(t, passed=False, outcome="infra_error", index=9) for t in TASKS[:2]]
    comparison = compare(arm(same(3), 3), b)
    assert comparison.decision.difference == 0
    assert comparison.loss.b.lost == 3


def test_an_arm_that_lost_many_runs_can_not_claim_no_evidence() -> None:
    lost = [run(t, passed=False, outcome="infra_error", index=9) for t in TASKS]
    assert compare(arm(same(3), 3), arm(same(3), 3) + lost).verdict is Verdict.NOT_ENOUGH_DATA


def test_timeouts_and_turn_limits_count_as_failures() -> None:
    b = [r.model_copy(update={"passed": False, "outcome": Outcome.TIMEOUT}) for r in arm(same(5), 5)]
    assert compare(arm(same(5), 5), b).verdict is Verdict.REGRESSION


def test_tasks_of_one_arm_only_are_listed_and_do_not_count() -> None:
    a = arm(same(3), 3) + arm({"only-a": 0}, 3)
    b = arm(same(3), 3) + arm({"only-b": 3}, 3)
    comparison = compare(a, b)
    assert (comparison.only_a, comparison.only_b) == (("only-a",), ("only-b",))
    assert comparison.decision.difference == 0


def test_different_configs_are_paired_by_task() -> None:
    comparison = compare(arm(same(5), 5, config="base"), arm(same(3), 5, config="search"))
    assert {unit.key.config for unit in comparison.decision.units} == {""}
    assert comparison.verdict is Verdict.REGRESSION


def test_shared_configs_are_each_paired_with_themselves() -> None:
    def both(full: int) -> list[EvalResult]:
        return arm(same(5), 5, config="base") + arm(same(full), 5, config="full")

    comparison = compare(both(5), both(0))
    assert {str(u.key) for u in comparison.decision.having(Verdict.REGRESSION)} == {f"{task} | full" for task in TASKS}


def test_runs_of_several_configs_of_one_task_do_not_multiply_the_tasks() -> None:
    few = dict.fromkeys(TASKS[:3], 1)
    configs = ["a", "b", "c", "d"]
    a = [r for name in configs for r in arm(few, 1, config=name)]
    b = [r for name in configs for r in arm(dict.fromkeys(few, 0), 1, config=name)]
    assert compare(a, b).verdict is Verdict.NOT_ENOUGH_DATA


def test_arms_that_mix_configs_are_pooled_and_shown_as_groups() -> None:
    a = arm(same(1), 1, config="x") + arm(same(1), 1, config="y")
    comparison = compare(a, arm(same(0), 1, config="z"))
    assert comparison.decision.units[0].groups["config_a"] == "x + y"


def test_configs_in_common_are_paired_with_themselves() -> None:
    both = arm(same(1), 1, config="x") + arm(same(1), 1, config="y")
    assert len(compare(both, both).decision.units) == 2 * len(TASKS)


def test_which_models_to_pair_must_be_clear() -> None:
    a = arm(same(1), 1, model="x") + arm(same(1), 1, model="y")
    with pytest.raises(InputError, match="no model in common and one has several: x, y against z; choose one for each"):
        compare(a, arm(same(1), 1, model="z"))


def test_the_score_can_be_what_the_verdict_is_about() -> None:
    a = [run(t, passed=False, score=0.60 + i / 100, index=i) for t in TASKS for i in range(3)]
    b = [run(t, passed=False, score=0.45 + i / 100, index=i) for t in TASKS for i in range(3)]
    assert compare(a, b, metric="pass_rate").verdict is Verdict.NO_EVIDENCE
    comparison = compare(a, b, metric="score")
    assert comparison.verdict is Verdict.REGRESSION
    assert comparison.decision.difference == pytest.approx(-0.15)


def test_the_same_results_give_the_same_comparison() -> None:
    a, b = arm(same(3), 5), arm(same(4), 5)
    assert compare(a, b) == compare(list(reversed(a)), list(reversed(b)))


def test_verdict_and_interval_never_disagree() -> None:
    for seed in range(60):
        found = decision(Experiment(tasks=12, change=0.08), seed)
        interval = found.interval
        assert interval is not None
        assert found.verdict.decided == (interval.low > 0 or interval.high < 0)


@pytest.mark.slow
def test_effects_that_differ_by_project_are_not_called_an_improvement() -> None:
    """Every project has an effect of its own, on average none; tasks of one project share it."""
    experiment = Experiment(projects=12, project_sd=0.3)
    told = [decision(experiment, seed) for seed in range(60)]
    assert sum(found.verdict.decided for found in told) <= 3
    assert {found.clusters for found in told} == {12}
    unnamed = [decision(replace(experiment, projects_named=False), seed) for seed in range(30)]
    assert sum(found.verdict.decided for found in unnamed) > 3


@pytest.mark.parametrize(("repositories", "about"), [(1, "this repository alone"), (6, "these 6 repositories alone")])
def test_a_few_repositories_get_an_answer_about_themselves(repositories: int, about: str) -> None:
    comparison = made(Experiment(projects=repositories, change=0.2), 1).comparisons[0]
    assert comparison.verdict is Verdict.IMPROVEMENT
    assert comparison.decision.clusters == 50
    assert f"the answer is about {about}" in verdict_sentence(comparison)


def test_seven_repositories_are_flipped_together_and_speak_for_others() -> None:
    comparison = made(Experiment(projects=7, change=0.2), 1).comparisons[0]
    assert comparison.decision.clusters == 7
    assert "the answer is about repositories like these 7" in verdict_sentence(comparison)


def test_a_repository_is_one_whatever_commit_a_question_is_about() -> None:
    def arm_of(shift: float) -> list[EvalResult]:
        return [
            run(f"t{i:02}", score=0.3 + 0.01 * i + shift, groups={"repository": "mine", "project_id": f"commit{i}"})
            for i in range(20)
        ]

    found = compare(arm_of(0), arm_of(0.2)).decision
    assert (found.repositories, found.clusters, found.verdict) == (1, 20, Verdict.IMPROVEMENT)


def test_arms_that_do_not_differ_are_as_good_and_those_a_margin_apart_are_not() -> None:
    tasks = [f"t{i:03}" for i in range(100)]
    a = arm(dict.fromkeys(tasks, 3), 3)
    wobble = arm({task: 2 if i in (3, 40) else 3 for i, task in enumerate(tasks)}, 3)
    worse = arm({task: 2 if i % 7 == 0 else 3 for i, task in enumerate(tasks)}, 3)
    assert compare(a, wobble).verdict is Verdict.AS_GOOD
    assert compare(a, worse, margin=0.03).verdict is not Verdict.AS_GOOD
    assert "is as good as A, within 5 points (90 % interval -" in answer(compare(a, wobble))


def test_an_arm_that_is_better_is_better_even_within_the_margin() -> None:
    assert compare(*(arm(same(count), 100) for count in (90, 93))).verdict is Verdict.IMPROVEMENT


def test_a_few_tasks_cannot_show_that_arms_are_as_good() -> None:
    """Of a twentieth of broken tasks, 40 hold none in one case of eight, however equal the others are."""
    few, enough = ([f"t{i:03}" for i in range(count)] for count in (40, 60))
    assert compare(*(arm(dict.fromkeys(few, 10), 10) for _ in "ab")).verdict is Verdict.NO_EVIDENCE
    assert compare(*(arm(dict.fromkeys(enough, 10), 10) for _ in "ab")).verdict is Verdict.AS_GOOD


def alike(repositories: int, each: int) -> list[EvalResult]:
    """Runs that all pass, of as many tasks of each repository."""
    names = [(f"r{r:02}", f"r{r:02}-{n}") for r in range(repositories) for n in range(each)]
    return [run(task, index=at, groups={"repository": name}) for name, task in names for at in range(3)]


def test_few_repositories_can_be_as_good_themselves_and_show_nothing_of_others() -> None:
    few, many = (compare(*(alike(count, 60 // count) for _ in "ab")) for count in (12, 30))
    assert few.verdict is many.verdict is Verdict.AS_GOOD
    assert answer(few).startswith("B is as good as A on these 12 repositories, within 5 points")
    told = "the answer is about these 12 repositories alone, since so few cannot show it of others."
    assert told in verdict_sentence(few)
    assert answer(many).startswith("B is as good as A, within 5 points")
    assert "the answer is about repositories like these 30." in verdict_sentence(many)


def test_equal_arms_are_not_shown_to_be_so_of_other_repositories_by_eight() -> None:
    """One repository in eight falls by 40 points, and 5 points on average; 34 of 100 sets of eight hold none."""
    spread = [-0.4 if r == 3 else 0.0 for r in range(8)]
    a, b = ([run(f"{r}-{n}", passed=False, score=0.5 + (d if at else 0.0), groups={"repo": f"r{r}"})
             for r, d in enumerate(spread) for n in range(8)] for at in range(2))  # fmt: skip
    without = [[r for r in results if r.groups["repo"] != "r3"] for results in (a, b)]
    assert compare(*without).decision.alone_here
    assert compare(a, b).verdict is Verdict.NO_EVIDENCE


def test_a_task_that_broke_counts_against_as_good_unless_there_are_many_others() -> None:
    """Of a twentieth of broken tasks, 60 hold one at most in one case of five, and 80 in one of eleven."""
    for count, verdict in ((60, Verdict.NO_EVIDENCE), (80, Verdict.AS_GOOD)):
        a = {f"t{i:03}": 3 for i in range(count)}
        assert compare(arm(a, 3), arm(a | {"t000": 0}, 3)).verdict is verdict


def test_an_arm_that_may_be_better_but_is_not_worse_is_told_in_words() -> None:
    tasks = [f"t{i:03}" for i in range(60)]
    a = arm({task: 1 + i % 2 for i, task in enumerate(tasks)}, 3)
    b = arm({task: 1 + i % 2 + (i % 6 == 0) - (i % 12 == 1) for i, task in enumerate(tasks)}, 3)
    comparison = compare(a, b, margin=0.04)
    assert comparison.verdict is Verdict.NO_EVIDENCE
    assert "it is not worse by more than 4 points (90 % interval" in answer(comparison)


def test_no_evidence_says_between_which_values_an_effect_would_lie() -> None:
    comparison = compare(arm(same(3), 5), arm({t: (2, 3, 4)[i % 3] for i, t in enumerate(TASKS)}, 5))
    interval = comparison.decision.interval
    assert interval is not None
    told = f"{100 * interval.low:+.1f} and {100 * interval.high:+.1f} points (95 % interval)."
    assert answer(comparison) == (
        f"No evidence that B is better or worse than A: if there is an effect, it lies between {told}"
    )


@pytest.mark.slow
def test_a_difference_of_the_size_that_a_design_finds_is_found_in_80_of_100_experiments() -> None:
    # One page estimates the spread from its own runs, so its figure varies by a tenth or so, and errs upwards.
    rooms = [made(Experiment(), seed).comparisons[0].headroom for seed in range(12)]
    rise = fmean(room.finds_rise for room in rooms if room is not None and room.finds_rise is not None)
    found = [decision(Experiment(change=rise), seed).verdict is Verdict.IMPROVEMENT for seed in range(100)]
    assert 70 <= sum(found) <= 92


def test_power_from_two_arms_says_what_their_comparison_says() -> None:
    a, b = arms_of(Experiment(tasks=40, change=0.1), 3)
    noise = observed_noise([*a, *b])
    assert noise is not None
    expected = estimates.minimal_detectable_effect(noise.sd(0.1, 3) / 40**0.5, 40)
    assert expected is not None
    room = compare(a, b).headroom
    assert room is not None
    assert room.finds_fall == pytest.approx(expected * estimates.above_spread(40))  # a page judges its own spread


def test_at_the_ceiling_the_page_says_what_the_tasks_can_show_before_anything_else() -> None:
    a, b = same(10) | dict.fromkeys(TASKS[:4], 9), same(10) | dict.fromkeys(TASKS[4:10], 8)
    text = verdict_sentence(compare(arm(a, 10), arm(b, 10)))
    assert text.startswith("The largest possible rise is 2.0 points, the largest fall 98.0.")
    assert re.search(r"At 80 % power this design detects a fall of [\d.]+ points or more, but no rise\.", text)


def test_a_page_of_few_tasks_promises_no_effect_that_it_finds_far_less_often() -> None:
    """By the spread as seen, 12 tasks found 135 of 200; one page's figure varies by a fifth."""
    rooms = [made(Experiment(tasks=12), seed).comparisons[0].headroom for seed in range(20)]
    fall = fmean(room.finds_fall for room in rooms if room is not None and room.finds_fall is not None)
    found = [decision(Experiment(tasks=12, change=-fall), seed).verdict is Verdict.REGRESSION for seed in range(200)]
    assert sum(found) >= 150


def test_where_no_task_moved_nothing_is_said_of_what_a_design_finds() -> None:
    alike = [run(task, passed=False, score=0.5, index=i) for task in TASKS for i in range(3)]
    text = verdict_sentence(compare(alike, alike))
    assert "The largest possible rise is 50.0 points" in text
    assert "this design detects" not in text


@pytest.mark.parametrize("tasks", [3, 7, 20])
def test_no_page_names_a_difference_that_cannot_be(tasks: int) -> None:
    a, b = arms_of(Experiment(tasks=tasks, runs=1, passes=0.5), 1)
    room = compare(a, b).headroom
    assert room is not None
    assert room.finds_rise is None or room.finds_rise <= room.rise
    assert room.finds_fall is None or room.finds_fall <= room.fall


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment(passes=0.67, lost=(0.05, 0.05), change=0.2),
        Experiment(arms=4, tasks=20, change=0.1),
        Experiment(tasks=8, passes=0.8, change=-0.5, fixed_tasks=True),
        Experiment(passes=0.67, lost=(0.0, 0.4)),
    ],
)
def test_the_simulated_decisions_are_those_of_whole_comparisons(experiment: Experiment) -> None:
    for seed in range(3):
        found = made(experiment, seed)
        decisions = decisions_of(experiment, arms_of(experiment, seed))
        whole = [pair.decision for pair in (*found.comparisons, *found.between)]
        assert [(one.verdict, one.interval) for one in decisions] == [(one.verdict, one.interval) for one in whole]


def test_zeros_of_one_of_many_groups_are_found() -> None:
    experiment = Experiment(tasks=230, runs=1, repositories=46, broken=20)
    warnings = made(experiment, 1).comparisons[0].warnings
    assert "20 of 20 runs with repository_name 'r0' scored 0" in "\n".join(warnings)
