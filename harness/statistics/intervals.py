"""How far may a rate, a mean difference or a ratio lie from what was measured? Confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats takes most of a second to import

from harness.statistics.resampling import CHUNK, RESAMPLES, SEED, TIE


@dataclass(frozen=True)
class Interval:
    """A two-sided confidence interval."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.3g}, {self.high:.3g}]"


def wilson_interval(passed: int, total: int, confidence: float = 0.95) -> Interval | None:
    """Score interval of a proportion; None without a single run.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22, 209-212.
    """
    if total == 0:
        return None
    z = _quantile(0.5 + confidence / 2)
    rate, weight = passed / total, z * z / total
    centre = (rate + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(rate * (1 - rate) / total + weight / (4 * total))
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach))


def paired_bootstrap(differences: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Interval of the mean of per-task differences, tasks drawn with replacement.

    Bias-corrected and accelerated: Efron 1987, "Better Bootstrap Confidence Intervals", JASA 82, 171-185.
    None where resampling cannot show any spread: fewer than three tasks, or all differences equal.
    """
    values = np.asarray(differences, dtype=float)
    count = len(values)
    if count < 3 or float(np.ptp(values)) < TIE:
        return None
    means = _resampled_means(values)
    below = np.mean(means < values.mean() - TIE) + np.mean(np.abs(means - values.mean()) <= TIE) / 2
    bias = _quantile(min(1 - 1 / RESAMPLES, max(1 / RESAMPLES, float(below))))
    jackknife = (values.sum() - values) / (count - 1)
    spread = jackknife.mean() - jackknife
    acceleration = float((spread**3).sum() / (6 * (spread**2).sum() ** 1.5))
    ends = []
    for tail in (0.5 - confidence / 2, 0.5 + confidence / 2):
        z = bias + _quantile(tail)
        ends.append(NormalDist().cdf(bias + z / (1 - acceleration * z)))
    low, high = np.quantile(means, ends)
    return Interval(float(low), float(high))


def ratio_bootstrap(above: Sequence[float], below: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Percentile interval of mean(above) / mean(below), tasks drawn with replacement and kept in pairs.

    Efron & Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3. None below three tasks, and where
    the denominator can have either sign: the ratio has no upper bound then.
    """
    if len(above) < 3:
        return None
    tops, bottoms = (_resampled_means(np.asarray(values, dtype=float)) for values in (above, below))
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    low, high = np.quantile(bottoms, tails)
    if low <= TIE and high >= -TIE:
        return None
    usable = np.abs(bottoms) > TIE
    low, high = np.quantile(tops[usable] / bottoms[usable], tails)
    return Interval(float(low), float(high))


def t_interval(differences: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Student's interval of the mean of per-task differences; None below two tasks or without any spread.

    Student 1908, "The Probable Error of a Mean", Biometrika 6, 1-25. For small groups, where the bootstrap is
    too narrow, and for the far tails that a correction for many groups needs.
    """
    count = len(differences)
    if count < 2 or max(differences) - min(differences) < TIE:
        return None
    values = np.asarray(differences, dtype=float)
    reach = special.stdtrit(count - 1, 0.5 + confidence / 2) * values.std(ddof=1) / math.sqrt(count)
    return Interval(float(values.mean() - reach), float(values.mean() + reach))


def _resampled_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    draws = _draws(len(values))
    return np.concatenate([values[draws[at : at + CHUNK]].mean(axis=1) for at in range(0, RESAMPLES, CHUNK)])


@lru_cache(maxsize=4)
def _draws(count: int) -> NDArray[np.int32]:
    return np.random.default_rng(SEED).integers(0, count, size=(RESAMPLES, count)).astype(np.int32)


def _quantile(p: float) -> float:
    return NormalDist().inv_cdf(p)
