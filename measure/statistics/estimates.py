"""What do counts and differences say, how far off may they be, and which difference can a design find?"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scipy  # loads its parts when they are first used, which most commands never do
from numpy.typing import NDArray

CONFIDENCE = 0.98
"""Level of every interval of a difference, and of the verdict that rests on it. When nothing changed, 2 % of
comparisons are called. docs/STATISTICS.md promises 5 %; the margin is for small, skewed and broken data."""
ALPHA = (1 - CONFIDENCE) / 2
"""Level of the one-sided test that a comparison makes in each direction."""
TARGET_POWER = 0.8
MOST_TASKS = 5000
"""Largest number of tasks that `tasks_needed` considers."""
RESAMPLES = 10_000
SEED = 20_240_229
"""Fixed, so that the same results always give the same report."""
CHUNK = 1000
"""Resamples held as floating-point numbers at a time; all of them would take 80 MB for a thousand tasks."""
TIE = 1e-9
"""Two means closer than this count as equal: sums of thirds and fifths are not exact in binary."""


@dataclass(frozen=True)
class Interval:
    """A two-sided confidence interval."""

    low: float
    high: float


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Estimate without bias, from `c` passes in `n` runs, the probability that at least one of `k` runs passes.

    1 - C(n-c, k) / C(n, k): Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    arXiv:2107.03374, equation 1. None for k > n, where no unbiased estimate exists.
    """
    return None if k > n else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Estimate without bias, from `c` passes in `n` runs, the probability that all of `k` runs pass.

    C(c, k) / C(n, k): Yao et al. 2024, "τ-bench", arXiv:2406.12045, section 3. None for k > n.
    """
    return None if k > n else math.comb(c, k) / math.comb(n, k)


def wilson_interval(passed: int, total: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Return Wilson's score interval of a proportion; None without runs.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22, 209-212.
    """
    if total == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate, weight = passed / total, z * z / total
    centre = (rate + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(rate * (1 - rate) / total + weight / (4 * total))
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach))


def ratio_bootstrap(above: Sequence[float], below: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the bootstrap percentile interval of sum(above) / sum(below), clusters drawn with both values.

    Efron & Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3. None below three clusters, and when
    the denominator can have either sign: the ratio is then unbounded.

    Args:
        above: the numerator's sum in each cluster, or its values where tasks are independent.
        below: the same for the denominator.
        confidence: level of the interval, 0 to 1.
    """
    if len(above) < 3:
        return None
    draws = np.random.default_rng(SEED).integers(0, len(above), size=(RESAMPLES, len(above)))
    chunks = [draws[at : at + CHUNK] for at in range(0, RESAMPLES, CHUNK)]
    tops, bottoms = (
        np.concatenate([np.asarray(values, dtype=float)[chunk].mean(axis=1) for chunk in chunks])
        for values in (above, below)
    )
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    low, high = np.quantile(bottoms, tails)
    if low <= TIE and high >= -TIE:
        return None
    usable = np.abs(bottoms) > TIE
    low, high = np.quantile(tops[usable] / bottoms[usable], tails)
    return Interval(float(low), float(high))


def standard_error(values: Sequence[float], clusters: Sequence[Hashable] = ()) -> tuple[float, int]:
    """Return the standard error of the mean and the number of clusters it rests on.

    Without clusters, it is sd / sqrt(n). With clusters, it comes from their summed residuals (Liang & Zeger 1986,
    "Longitudinal Data Analysis Using Generalized Linear Models", Biometrika 73, 13-22). 0 below two clusters.
    """
    array = np.asarray(values, dtype=float)
    residuals, _ = cluster_sums(array - array.mean(), clusters)
    count = len(residuals)
    if count < 2:
        return 0.0, count
    return math.sqrt(count / (count - 1) * float((residuals**2).sum())) / len(array), count


def t_interval(
    differences: Sequence[float], clusters: Sequence[Hashable] = (), confidence: float = CONFIDENCE
) -> Interval | None:
    """Return Student's t interval of the mean per-task difference; None below two clusters or without any spread.

    Student 1908, "The Probable Error of a Mean", Biometrika 6, 1-25. Used for the groups of a comparison, whose
    correction needs tails that resampling does not reach.
    """
    error, count = standard_error(differences, clusters)
    if count < 2 or max(differences) - min(differences) < TIE:
        return None
    reach, mean = scipy.special.stdtrit(count - 1, 0.5 + confidence / 2) * error, float(np.mean(differences))
    return Interval(float(mean - reach), float(mean + reach))


def cluster_sums(
    values: NDArray[np.float64], clusters: Sequence[Hashable] = ()
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum and number of values in each cluster; without clusters, each value is its own."""
    if not clusters:
        return values, np.ones(len(values))
    places = {cluster: at for at, cluster in enumerate(dict.fromkeys(clusters))}
    where = [places[cluster] for cluster in clusters]
    sums: NDArray[np.float64] = np.bincount(where, weights=values).astype(np.float64)
    return sums, np.bincount(where).astype(np.float64)


def minimal_detectable_effect(
    error: float, clusters: int, alpha: float = ALPHA, power: float = TARGET_POWER
) -> float | None:
    """Return the mean difference that a one-sided paired test at `alpha` detects with probability `power`.

    (t[1-alpha] + t[power]) * standard error: Bloom 1995, "Minimum Detectable Effects", Evaluation Review 19.

    Args:
        error: standard error of the mean difference, seen or expected.
        clusters: number of independent differences: tasks, or their projects. Below two, the result is None.
        alpha: one-sided level, 0 to 1.
        power: 0 to 1.
    """
    if clusters < 2:
        return None
    return float((scipy.special.stdtrit(clusters - 1, 1 - alpha) + scipy.special.stdtrit(clusters - 1, power)) * error)


def paired_power(effect: float, sd_of_differences: float, tasks: int, alpha: float = ALPHA) -> float:
    """Return the power of a one-sided paired t-test at `alpha` over `tasks` to find a mean difference of `effect`.

    Noncentral t: Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences", section 2.3.
    The suite's sign-flip test has the same power within a few points (docs/STATISTICS.md has the simulation).
    """
    if tasks < 2:
        return 0.0
    if sd_of_differences < TIE:
        return 1.0 if effect else alpha
    shift = abs(effect) * math.sqrt(tasks) / sd_of_differences
    return 1 - float(scipy.special.nctdtr(tasks - 1, shift, scipy.special.stdtrit(tasks - 1, 1 - alpha)))


def tasks_needed(
    effect: float, sd_of_differences: float, alpha: float = ALPHA, power: float = TARGET_POWER
) -> int | None:
    """Return the fewest tasks with which `paired_power` reaches `power`; None beyond MOST_TASKS.

    Never fewer than a sign-flip test needs to reach `alpha` at all.
    """
    numbers = range(2, MOST_TASKS + 1)
    at = bisect_left(numbers, power, key=lambda tasks: paired_power(effect, sd_of_differences, tasks, alpha))
    return None if at == len(numbers) else max(numbers[at], math.ceil(-math.log2(alpha)))
