"""Are the numbers right? The same ones worked out by numpy and scipy alone, and power by simulation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from measure.compare.comparison import compare
from measure.compare.noise import Noise
from measure.statistics import estimates, significance
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

    low = brentq(lambda shift: p_of(shift) - 0.01 - 1e-9, d.min() - 1, d.mean(), xtol=1e-7)
    high = brentq(lambda shift: p_of(shift) - 0.99 + 1e-9, d.mean(), d.max() + 1, xtol=1e-7)

    assert found is not None
    assert found.interval is not None
    assert found.difference == pytest.approx(d.mean(), abs=5e-4)
    assert found.p.greater == pytest.approx(p_greater, abs=5e-4)
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
        found += (p.greater if effect > 0 else p.less) <= estimates.ALPHA
    formula = estimates.paired_power(effect, Noise("score", 0.5, run_sd).sd(effect, runs), tasks, estimates.ALPHA)
    assert found / repetitions == pytest.approx(formula, abs=0.03)


def test_holm_has_the_values_of_the_definition() -> None:
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([]) == []


def test_a_ratio_has_an_interval_only_where_its_denominator_is_clear_of_0() -> None:
    rng = np.random.default_rng(1)
    above, below = rng.normal(2, 0.3, 40).tolist(), rng.normal(4, 0.3, 40)
    interval = estimates.ratio_bootstrap(above, below.tolist())
    assert interval is not None
    assert interval.low < np.mean(above) / below.mean() < interval.high
    assert estimates.ratio_bootstrap(above, (below - 4).tolist()) is None
