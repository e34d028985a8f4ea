"""The formulas against scipy, statsmodels' published values and the papers they come from."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from measure.statistics import corrections, estimates, significance
from measure.summary.noise import Noise


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 1), (5, 2, 3), (10, 7, 4), (6, 0, 2), (6, 6, 6)])
def test_pass_at_k_is_the_share_of_k_subsets_with_a_pass(n: int, c: int, k: int) -> None:
    runs = [True] * c + [False] * (n - c)
    subsets = list(combinations(runs, k))
    assert estimates.pass_at_k(n, c, k) == pytest.approx(sum(any(s) for s in subsets) / len(subsets))
    assert estimates.pass_hat_k(n, c, k) == pytest.approx(sum(all(s) for s in subsets) / len(subsets))


def test_pass_at_k_equals_the_product_form_of_chen_et_al() -> None:
    n, c, k = 200, 31, 100
    product = 1 - np.prod(1 - k / np.arange(n - c + 1, n + 1))
    assert estimates.pass_at_k(n, c, k) == pytest.approx(product)


def test_one_pass_in_three_is_pass_at_3_of_one_and_pass_hat_3_of_zero() -> None:
    assert estimates.pass_at_k(3, 1, 3) == 1.0
    assert estimates.pass_hat_k(3, 1, 3) == 0.0


def test_more_k_than_runs_has_no_estimate() -> None:
    assert estimates.pass_at_k(3, 3, 5) is None
    assert estimates.pass_hat_k(3, 3, 5) is None


def test_pass_at_k_is_unbiased() -> None:
    p, n, k = 0.3, 5, 3
    weights = stats.binom(n, p).pmf(range(n + 1))
    mean = sum(w * (estimates.pass_at_k(n, c, k) or 0) for c, w in enumerate(weights))
    assert mean == pytest.approx(1 - (1 - p) ** k)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [(3, 3, 0.4385, 1.0), (8, 10, 0.4902, 0.9433), (0, 20, 0.0, 0.1611), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_interval_has_the_published_values(passed: int, total: int, low: float, high: float) -> None:
    interval = estimates.wilson_interval(passed, total, 0.95)  # the last line: Newcombe 1998, table I
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_no_runs_have_no_interval() -> None:
    assert estimates.wilson_interval(0, 0) is None


@pytest.mark.parametrize("count", [6, 11])
def test_sign_flip_is_scipys_permutation_test_with_ties_halved(count: int) -> None:
    differences = np.random.default_rng(count).integers(-3, 4, count) / 3
    reference = stats.permutation_test(
        [differences], np.sum, permutation_type="samples", n_resamples=10**6, vectorized=False
    )
    null = reference.null_distribution
    below = np.mean(null < reference.statistic - 1e-9)
    tied = np.mean(np.abs(null - reference.statistic) <= 1e-9)
    ours = significance.sign_flip_test(list(differences)).p
    assert ours.less == pytest.approx(below + tied / 2)
    assert ours.less + ours.greater == pytest.approx(1)


def test_sampled_sign_flips_agree_with_the_normal_limit() -> None:
    differences = np.random.default_rng(1).normal(0.2, 1, 200)
    z = differences.sum() / math.sqrt((differences**2).sum())
    assert significance.sign_flip_test(list(differences)).p.greater == pytest.approx(stats.norm.sf(z), abs=0.01)


def test_no_moved_task_is_no_evidence_either_way() -> None:
    p = significance.sign_flip_test([0.0] * 20).p
    assert (p.less, p.greater, p.attainable) == (0.5, 0.5, 1.0)


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fisher_is_scipys(runs_a: int, runs_b: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, runs_a)), data.draw(st.integers(0, runs_b))
    table = np.array([[b, runs_b - b], [a, runs_a - a]])
    ours = significance.fisher_test(a, runs_a, b, runs_b)
    assert ours.less == pytest.approx(stats.fisher_exact(table, alternative="less").pvalue)
    assert ours.greater == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)
    assert ours.attainable <= min(ours.less, ours.greater) + 1e-12


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_permutation_of_zeros_and_ones_is_fishers_test(runs_a: int, runs_b: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, runs_a)), data.draw(st.integers(0, runs_b))
    ours = significance.mean_permutation_test([1.0] * a + [0.0] * (runs_a - a), [1.0] * b + [0.0] * (runs_b - b))
    fisher = significance.fisher_test(a, runs_a, b, runs_b)
    assert (ours.less, ours.greater) == pytest.approx((fisher.less, fisher.greater))


def test_permutation_of_scores_is_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random(5), rng.random(6)
    reference = stats.permutation_test(
        [b, a],
        lambda x, y: float(np.mean(x) - np.mean(y)),
        vectorized=False,
        alternative="less",
        n_resamples=10**6,
    )
    assert significance.mean_permutation_test(list(a), list(b)).less == pytest.approx(reference.pvalue)


def test_with_all_p_values_possible_it_is_benjamini_hochberg_of_the_paper() -> None:
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]  # Benjamini & Hochberg 1995, section 3.2: four at q = 0.05
    grid = tuple(np.arange(1, 501) / 10_000)
    adjusted = corrections.discrete_benjamini_hochberg(p, [grid] * len(p))
    assert adjusted == pytest.approx(list(stats.false_discovery_control(p)))
    assert sum(value <= 0.05 for value in adjusted) == 4


def test_tasks_that_can_not_be_called_do_not_hide_the_one_that_can() -> None:
    tests = [significance.fisher_test(6, 6, 0, 6)] + [significance.fisher_test(6, 6, 6, 6)] * 19
    p = [test.less for test in tests]
    assert stats.false_discovery_control(p)[0] > 0.01
    assert corrections.discrete_benjamini_hochberg(p, [test.steps_less for test in tests])[0] == p[0]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30))
def test_the_discrete_adjustment_is_never_harder_than_benjamini_hochbergs(
    counts: list[tuple[int, int]],
) -> None:
    tests = [significance.fisher_test(a, 8, b, 8) for a, b in counts]
    p = [test.less for test in tests]
    discrete = corrections.discrete_benjamini_hochberg(p, [test.steps_less for test in tests])
    for ours, classic in zip(discrete, stats.false_discovery_control(p) if p else [], strict=True):
        assert ours <= classic + 1e-9


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 18))
def test_the_steps_of_a_test_are_the_p_values_of_its_possible_outcomes(runs_a: int, runs_b: int, passes: int) -> None:
    passes = min(passes, runs_a + runs_b)
    outcomes = range(max(0, passes - runs_a), min(passes, runs_b) + 1)
    tests = [significance.fisher_test(passes - b, runs_a, b, runs_b) for b in outcomes]
    expected = sorted(test.less for test in tests if test.less <= corrections.STEPS_TO)
    assert all(list(test.steps_less) == pytest.approx(expected) for test in tests)


def test_the_interval_of_the_sign_flip_test_agrees_with_students_on_normal_differences() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.3, 100)
    interval = significance.sign_flip_test(list(differences), confidence=0.95).interval
    student = stats.ttest_1samp(differences, 0).confidence_interval()
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((student.low, student.high), abs=0.01)


@given(st.lists(st.integers(-6, 6), min_size=7, max_size=12), st.sampled_from([0.9, 0.95, 0.98]))
def test_the_interval_leaves_out_what_the_test_rejects_and_nothing_else(steps: list[int], confidence: float) -> None:
    differences = [step / 6 for step in steps]
    interval = significance.sign_flip_test(differences, confidence=confidence).interval
    tail = (1 - confidence) / 2
    if interval is None:
        assert not any(steps)
        return
    for beyond, inside in ((interval.low - 1e-6, interval.low + 1e-6), (interval.high + 1e-6, interval.high - 1e-6)):
        rejected, kept = (
            significance.sign_flip_test([d - shift for d in differences]).p.smaller for shift in (beyond, inside)
        )
        assert rejected <= tail or interval.low == min(differences)
        if interval.high - interval.low > 1e-5:
            assert kept > tail


@pytest.mark.parametrize("tasks", [9, 30, 50])
def test_zero_is_outside_the_interval_exactly_when_the_test_rejects_it(tasks: int) -> None:
    """Differences of three passes are thirds: many patterns cancel out, tie at zero, and count half there."""
    rng, rejected, only_half = np.random.default_rng(tasks), 0, 0
    for _ in range(300):
        thirds = (rng.binomial(3, 0.75, tasks) - rng.binomial(3, 0.6, tasks)) / 3
        found = significance.sign_flip_test(list(thirds))
        outside = found.interval is not None and (found.interval.low > 1e-9 or found.interval.high < -1e-9)
        assert outside == (found.p.two_sided <= 0.05 and found.interval is not None)
        rejected += outside
        only_half += found.interval is not None and 0 < found.interval.low < 1e-6
    assert rejected
    assert tasks < 30 or only_half


def test_tasks_of_one_project_change_sign_together() -> None:
    differences = [0.3] * 20 + [-0.1] * 20
    alone = significance.sign_flip_test(differences)
    together = significance.sign_flip_test(differences, ["a"] * 20 + ["b"] * 20)
    assert alone.p.greater < 0.01
    assert together.p.greater == 0.375  # of the four patterns one goes farther, one as far
    assert together.interval is None


def test_runs_dealt_out_within_their_tasks_have_the_exact_probability() -> None:
    broken = [([1.0] * 3, [0.0] * 3)] * 4
    assert significance.stratified_test(broken).less == pytest.approx(1 / 20**4)
    assert significance.stratified_test(broken).greater == 1.0


def test_tasks_with_the_same_result_in_both_arms_change_no_probability_of_the_others() -> None:
    broken = [([1.0, 1.0, 1.0], [0.0, 0.0, 0.0])] * 4
    unchanged = [([1.0, 1.0, 0.0], [0.0, 1.0, 1.0])] * 300
    assert significance.stratified_test(broken + unchanged) == significance.stratified_test(broken)


def test_many_sums_are_drawn_and_agree_with_the_normal_limit() -> None:
    rng = np.random.default_rng(5)
    tasks = [(list(rng.random(4)), list(rng.random(4) + 0.03)) for _ in range(60)]
    observed = sum(np.mean(b) - np.mean(a) for a, b in tasks)
    spread = sum(float(np.var([*a, *b], ddof=1)) * 2 / 4 for a, b in tasks) ** 0.5
    assert significance.stratified_test(tasks).greater == pytest.approx(stats.norm.sf(observed / spread), abs=0.02)


def test_the_standard_error_of_clusters_is_that_of_their_sums() -> None:
    values = [0.1, 0.3, -0.2, 0.4, 0.0, 0.6]
    error, count = estimates.standard_error(values, ["a", "a", "b", "b", "c", "c"])
    means = [0.2, 0.1, 0.3]
    assert error == pytest.approx(stats.sem(means))
    assert count == 3


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_wilson_interval_is_scipys(passed: int, total: int, confidence: float) -> None:
    passed = min(passed, total)
    wanted = stats.binomtest(passed, total).proportion_ci(confidence_level=confidence, method="wilson")
    interval = estimates.wilson_interval(passed, total, confidence)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@pytest.mark.parametrize("tasks", [5, 20, 200])
@pytest.mark.parametrize("effect", [0.02, 0.1, 0.3])
def test_paired_power_is_scipys_noncentral_t(tasks: int, effect: float) -> None:
    critical = stats.t.ppf(0.965, tasks - 1)
    wanted = stats.nct.sf(critical, tasks - 1, effect * tasks**0.5 / 0.3)
    assert estimates.paired_power(-effect, 0.3, tasks, 0.035) == pytest.approx(wanted, abs=1e-6)


def test_so_few_tasks_that_no_sign_flip_rejects_find_nothing() -> None:
    assert estimates.paired_power(0.9, 0.1, 5) == 0
    assert estimates.paired_power(0.9, 0.1, 6) > 0.99
    assert estimates.minimal_detectable_effect(0.05, 5) is None
    assert estimates.minimal_detectable_effect(0.05, 6) is not None
    assert estimates.tasks_needed(0.9, 0.1) == 6


def test_power_at_the_minimal_detectable_effect_is_what_was_asked() -> None:
    effect = estimates.minimal_detectable_effect(0.3 / 50**0.5, 50, 0.05, power=0.8)
    assert effect is not None
    assert estimates.paired_power(effect, 0.3, 50, 0.05) == pytest.approx(0.8, abs=0.005)


def test_paired_power_has_the_value_of_cohens_table() -> None:
    # d = 0.5, n = 27, one-sided .05: G*Power and Cohen's table give .81
    assert estimates.paired_power(0.5, 1.0, 27, 0.05) == pytest.approx(0.812, abs=0.002)


def test_power_without_any_noise_or_tasks() -> None:
    assert estimates.paired_power(0.1, 0.0, 10, 0.05) == 1.0
    assert estimates.paired_power(0.1, 0.3, 1, 0.05) == 0.0
    assert estimates.minimal_detectable_effect(0.3, 1, 0.05) is None


def test_design_sd_is_the_spread_of_simulated_differences() -> None:
    rng = np.random.default_rng(4)
    runs = 5
    differences = (rng.binomial(runs, 0.7, 200_000) - rng.binomial(runs, 0.8, 200_000)) / runs
    assert Noise("pass_rate", 0.8).sd(-0.1, runs) == pytest.approx(differences.std(), rel=0.01)


def test_the_stratified_test_mirrors_when_the_arms_change_places() -> None:
    rng = np.random.default_rng(2)
    tasks = [(rng.random(3).round(3).tolist(), (rng.random(2) + 0.1).round(3).tolist()) for _ in range(30)]
    there, back = (significance.stratified_test(t, ties=0.5) for t in (tasks, [(b, a) for a, b in tasks]))
    assert there.less == pytest.approx(back.greater, abs=1e-12)
    assert there.greater == pytest.approx(back.less, abs=1e-12)
