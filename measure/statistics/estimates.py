"""Estimates from counts and differences, their intervals, and the power of a design."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import NormalDist

import numpy as np
import scipy  # loads its parts when they are first used, which most commands never do
from numpy.typing import NDArray

ALPHA = 0.05
"""Two-sided level of a comparison: how often it may call a difference when nothing changed."""
CONFIDENCE = 1 - ALPHA
"""Level of the intervals that go with it."""
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


def equivalence_interval(
    differences: Sequence[float], clusters: Sequence[Hashable], confidence: float
) -> Interval | None:
    """Return an interval of the mean difference that holds Student's t interval and that of the empirical likelihood.

    Two one-sided tests at level a show that the mean lies within a margin exactly when an interval of level 1 - 2a
    does: Schuirmann 1987, "A comparison of the two one-sided tests procedure ...", J. Pharmacokinet. Biopharm. 15.
    Student's interval is too short where a few tasks or clusters broke and hold the whole difference; the empirical
    likelihood of the clusters' shares in the mean allows for broken ones that are not among those seen.

    `differences`, -1 to 1, and `clusters` have an entry for each task; the result is None below two clusters.
    """
    if len(set(clusters)) < 2:
        return None
    error, count = standard_error(differences, clusters)
    sums, sizes = cluster_sums(np.asarray(differences, dtype=float), clusters)
    values, level = sums / sizes.mean(), 0.5 + confidence / 2
    mean, reach = float(values.mean()), float(scipy.special.stdtrit(count - 1, level)) * error
    return Interval(
        min(mean - reach, lowest_likely_mean(values, level)), max(mean + reach, -lowest_likely_mean(-values, level))
    )


def lowest_likely_mean(values: NDArray[np.float64], level: float) -> float:
    """Return the lower end of a one-sided interval of the mean of values between -1 and 1.

    Owen 1988, "Empirical likelihood ratio confidence intervals for a single functional", Biometrika 75: the least mean
    of a distribution over the seen values and -1 that makes them not much less likely than seen.
    """
    most, values = NormalDist().inv_cdf(level) ** 2 / 2, np.maximum(values, TIE - 1)

    def weights(tilt: float) -> NDArray[np.float64]:
        raw = 1 / (1 + tilt * values)
        return np.asarray(raw / raw.sum())

    def excess(tilt: float) -> float:
        return float(-np.log(len(values) * weights(tilt)).sum() - most)

    if excess(1.0) < 0:  # the rest of the weight is on -1
        return float(np.expm1(np.log1p(values).mean() - most / len(values)))
    return float(weights(float(scipy.optimize.brentq(excess, 0.0, 1.0))) @ values)


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


@cache
def assignments(pool: int, chosen: int) -> NDArray[np.int64]:
    """Return a row of places for each choice of `chosen` of `pool` runs: all up to RESAMPLES, else a fixed sample."""
    if math.comb(pool, chosen) <= RESAMPLES:
        return np.array(list(combinations(range(pool), chosen)), dtype=np.int64)
    rng = np.random.default_rng(SEED)
    return rng.permuted(np.tile(np.arange(pool), (RESAMPLES, 1)), axis=1)[:, :chosen].astype(np.int64)


def mean_log(values: Sequence[float], count: int) -> float:
    """Return the mean, over all choices of `count` of the values, of the logarithm of their mean.

    The logarithm of a mean of few varies more than that of many, and so it is lower on average (Jensen 1906, Acta Math.
    30). Over choices of one size two samples of the same quantity have the same expectation (Hoeffding 1948, "A Class
    of Statistics with Asymptotically Normal Distribution", Ann. Math. Stat. 19). -inf where a choice may have mean 0.
    """
    if sum(value > 0 for value in values) <= len(values) - count:
        return -math.inf
    means = np.asarray(values, dtype=float)[assignments(len(values), count)].mean(axis=1)
    return float(np.log(means).mean())


def minimal_detectable_effect(
    error: float, clusters: int, alpha: float = ALPHA / 2, power: float = TARGET_POWER
) -> float | None:
    """Return the mean difference that a one-sided paired test at `alpha` detects with probability `power`.

    (t[1-alpha] + t[power]) * standard error: Bloom 1995, "Minimum Detectable Effects", Evaluation Review 19. `error` is
    the standard error, seen or expected; `clusters` counts tasks or their projects. None where no sign-flip test over
    so few of them rejects anything.
    """
    if 2.0**-clusters > alpha:
        return None
    return float((scipy.special.stdtrit(clusters - 1, 1 - alpha) + scipy.special.stdtrit(clusters - 1, power)) * error)


def above_spread(count: int, confidence: float = TARGET_POWER) -> float:
    """Return the factor, 1 or more, by which a standard deviation seen in `count` values may have to grow to be true.

    It is the upper limit, at `confidence`, of the true one: what a few tasks show of their own spread is often too
    little, and the power that is promised by it too high. Browne 1995, "On the use of a pilot sample for sample size
    determination", Statistics in Medicine 14, 1933-1940, who takes 80 %.
    """
    if count < 2:
        return 1.0
    return math.sqrt((count - 1) / float(scipy.special.chdtri(count - 1, confidence)))


def effect_found(
    error_of: Callable[[float], float], clusters: int, room: float, alpha: float = ALPHA / 2
) -> float | None:
    """Return the mean difference that a design finds with probability TARGET_POWER; None if it exceeds `room`.

    Args:
        error_of: standard error of the mean difference, by the true difference: passes vary more, the closer their
            rate moves to a half. An error of 0 says nothing of what is found.
        clusters: as in `minimal_detectable_effect`, like alpha.
        room: the largest difference that is possible.
    """
    effect = min(room, 0.5)  # from 0, passes that never failed would not vary at all
    for _ in range(50):
        effect = minimal_detectable_effect(error_of(min(effect, room)), clusters, alpha) or 0.0
    return effect if TIE <= effect <= room else None


def paired_power(effect: float, sd_of_differences: float, tasks: int, alpha: float = ALPHA / 2) -> float:
    """Return the power of a one-sided paired t-test at `alpha` over `tasks` to find a mean difference of `effect`.

    Noncentral t: Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences", section 2.3.
    The suite's sign-flip test has the same power within a few points (docs/STATISTICS.md has the simulation); over so
    few tasks that it can reject nothing, the power is 0.
    """
    if 2.0**-tasks > alpha:
        return 0.0
    if sd_of_differences < TIE:
        return 1.0 if effect else alpha
    shift = abs(effect) * math.sqrt(tasks) / sd_of_differences
    return 1 - float(scipy.special.nctdtr(tasks - 1, shift, scipy.special.stdtrit(tasks - 1, 1 - alpha)))


def equivalence_power(margin: float, sd_of_differences: float, tasks: int, alpha: float = ALPHA) -> float:
    """Return how often `equivalence_interval` lies within the margin when nothing differs, 0 to 1; within a few points.

    The mean has to be closer to 0 than the margin by the reach of the interval: Phillips 1990, "Power of the Two
    One-Sided Tests Procedure in Bioequivalence", J. Pharmacokinet. Biopharm. 18. The reach is that of the empirical
    likelihood for normal differences, whose tilt `lowest_likely_mean` limits to 1.

    `margin` is above 0, `sd_of_differences` that of single tasks, `alpha` the level of each test; 2 `tasks` or more.
    """
    error, quantile = sd_of_differences / math.sqrt(tasks), float(scipy.special.stdtrit(tasks - 1, 1 - alpha))
    tilt = 1.0 if error < TIE else min(1.0, quantile / (tasks * error))
    room = -math.log1p(-margin) - quantile**2 / (2 * tasks * tilt) - tilt * sd_of_differences**2 / 2
    if room <= 0:
        return 0.0
    return 2 * NormalDist().cdf(room / error) - 1 if error > TIE else 1.0


def tasks_needed(
    effect: float, sd_of_differences: float, alpha: float = ALPHA / 2, power: float = TARGET_POWER
) -> int | None:
    """Return the fewest tasks with which `paired_power` reaches `power`; None beyond MOST_TASKS."""
    numbers = range(2, MOST_TASKS + 1)
    at = bisect_left(numbers, power, key=lambda tasks: paired_power(effect, sd_of_differences, tasks, alpha))
    return None if at == len(numbers) else numbers[at]
