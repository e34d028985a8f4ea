"""Are the numbers right? The same ones worked out by numpy and scipy alone, and power by simulation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from measure.compare.comparison import compare
from measure.compare.decision import fewest_tasks
from measure.statistics import corrections, estimates, significance
from measure.summary.noise import Noise
from tests.support.results import run

TASKS, RUNS = 13, 4


def table(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of tasks x runs in both arms, some of them above the pass mark."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.4, 0.8, (TASKS, 1))
    a, b = (np.clip(level + shift + rng.normal(0, 0.15, (TASKS, RUNS)), 0, 1).round(4) for shift in (0, 0.08))
    return a, b


@pytest.mark.parametrize("metric", ["score", "pass_rate"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_difference_interval_and_p_agree_to_three_digits(metric: Literal["score", "pass_rate"], seed: int) -> None:
    a, b = table(seed)
    arms = [
        [run(f"t{t:02}", passed=x >= 0.7, score=x, index=i) for t, row in enumerate(scores) for i, x in enumerate(row)]
        for scores in (a.tolist(), b.tolist())
    ]
    found = compare(*arms, metric=metric).primary
    if metric == "pass_rate":
        a, b = (a >= 0.7).astype(float), (b >= 0.7).astype(float)
    d = b.mean(axis=1) - a.mean(axis=1)

    signs = np.array(np.meshgrid(*[[-1, 1]] * TASKS)).reshape(TASKS, -1)
    sums = np.round(d @ signs, 9)
    p_greater = np.mean(sums > round(d.sum(), 9)) + np.mean(sums == round(d.sum(), 9)) / 2

    def p_of(shift: float) -> float:
        """That the mean lies above the shift, by all sign patterns."""
        shifted = np.round((d - shift) @ signs, 9)
        at = round((d - shift).sum(), 9)
        return float(np.mean(shifted > at) + np.mean(shifted == at) / 2)

    low = brentq(lambda shift: p_of(shift) - 0.025 - 1e-9, d.min() - 1, d.mean(), xtol=1e-7)
    high = brentq(lambda shift: p_of(shift) - 0.975 + 1e-9, d.mean(), d.max() + 1, xtol=1e-7)

    assert found is not None
    assert found.interval is not None
    assert found.difference == pytest.approx(d.mean(), abs=5e-4)
    assert found.p == pytest.approx(2 * max(2.0 ** -np.count_nonzero(d), min(p_greater, 1 - p_greater)), abs=1e-3)
    assert [found.interval.low, found.interval.high] == pytest.approx([low, high], abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "runs", "effect"), [(12, 3, 0.1), (30, 1, 0.1), (30, 3, -0.05)])
def test_power_of_scores_by_formula_is_that_of_simulated_comparisons_within_3_points(
    tasks: int, runs: int, effect: float
) -> None:
    rng = np.random.default_rng(9)
    run_sd, repetitions = 0.15, 3000
    noise = rng.uniform(-1, 1, (repetitions, tasks, 2, runs)) * run_sd * 3**0.5
    differences = effect + noise[:, :, 1].mean(axis=2) - noise[:, :, 0].mean(axis=2)
    found = 0
    for row in differences:
        p = significance.sign_flip_test(row.tolist()).p
        found += (p.greater if effect > 0 else p.less) <= estimates.ALPHA / 2
    formula = estimates.paired_power(effect, Noise("score", 0.5, run_sd).sd(effect, runs), tasks)
    assert found / repetitions == pytest.approx(formula, abs=0.03)


def test_holm_has_the_values_of_the_definition() -> None:
    assert corrections.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrections.holm([]) == []


@pytest.mark.parametrize("broken", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_equivalence_interval_holds_those_of_student_and_of_the_empirical_likelihood(
    seed: int, broken: float
) -> None:
    rng = np.random.default_rng(seed)
    d = np.where(rng.random(40) < broken, -1, rng.integers(-1, 2, 40) / 3)
    found = estimates.equivalence_interval(d.tolist(), list(range(40)), 0.9)
    assert found is not None
    student = stats.t.interval(0.9, 39, d.mean(), stats.sem(d)) if np.ptp(d) else (d.mean(), d.mean())
    low, high = _lowest_by_empirical_likelihood(d), -_lowest_by_empirical_likelihood(-d)
    assert (found.low, found.high) == pytest.approx((min(student[0], low), max(student[1], high)), abs=1e-5)


def _lowest_by_empirical_likelihood(d: NDArray[np.float64]) -> float:
    """The mean at which the largest likelihood ratio, by its dual, is that of a one-sided test at 5 %."""
    if np.all(d == -1):
        return -1.0

    def ratio(mean: float) -> float:
        def negative(multiplier: float) -> float:
            return -float(np.log(np.maximum(1 + multiplier * (d - mean), 1e-300)).sum())

        found = minimize_scalar(negative, bounds=(0, 1 / (1 + mean)), method="bounded", options={"xatol": 1e-12})
        return -2 * float(found.fun)

    return float(brentq(lambda mean: ratio(mean) - stats.norm.ppf(0.95) ** 2, -1 + 1e-9, d.mean(), xtol=1e-9))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "tasks", "runs"), [(0.97, 50, 3), (0.97, 100, 3), (0.95, 75, 5), (0.9, 60, 10), (0.9, 200, 3)]
)
def test_power_of_equivalence_by_formula_is_that_of_simulated_draws_within_4_points(
    rate: float, tasks: int, runs: int
) -> None:
    rng = np.random.default_rng(4)
    found = 0
    assert tasks >= fewest_tasks(0.05)
    for _ in range(1000):
        d = (rng.binomial(runs, rate, tasks) - rng.binomial(runs, rate, tasks)) / runs
        interval = estimates.equivalence_interval(d.tolist(), list(range(tasks)), 0.9)
        found += interval is not None and round(interval.low, 3) >= -0.05 and round(interval.high, 3) <= 0.05
    formula = estimates.equivalence_power(0.05, Noise("pass_rate", rate).sd(0, runs), tasks)
    assert found / 1000 == pytest.approx(formula, abs=0.04)


def test_intervals_at_holms_levels_exclude_0_exactly_where_holm_rejects() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        ps = (rng.random(6) ** 4).tolist()
        levels, adjusted = corrections.holm_levels(ps, 0.05), corrections.holm(ps)
        assert [p <= level for p, level in zip(ps, levels, strict=True)] == [p <= 0.05 for p in adjusted]
