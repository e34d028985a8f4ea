"""How far do judges agree, with each other and with themselves when asked again?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, pvariance

from scipy.stats import spearmanr

FEWEST_FOR_RANKS = 5
"""Things that two judges must have graded both, for a rank correlation to be told."""

Grades = Mapping[str, Sequence[float]]
"""What was graded, by any name, to all grades of one judge, 0 to 100."""


@dataclass(frozen=True)
class BetweenJudges:
    """How far two judges agree on what both graded; of several grades each judge's median counts."""

    first: str
    second: str
    compared: int
    mean_difference: float
    """Mean absolute difference, in points of 100."""
    bias: float
    """How many points the second gives more, on the mean."""
    rank_correlation: float | None
    """Spearman's; None with fewer than FEWEST_FOR_RANKS, or where a judge gave all the same grade."""


def between_judges(grades: Mapping[str, Grades]) -> list[BetweenJudges]:
    """Agreement of each pair of judges; pairs without anything in common are left out."""
    found = []
    for first, second in combinations(grades, 2):
        both = sorted(set(grades[first]) & set(grades[second]))
        a = [median(grades[first][name]) for name in both]
        b = [median(grades[second][name]) for name in both]
        if both:
            apart = [y - x for x, y in zip(a, b, strict=True)]
            found.append(BetweenJudges(first, second, len(both), fmean(map(abs, apart)), fmean(apart), _ranks(a, b)))
    return found


def within_judge(grades: Grades) -> tuple[int, float] | None:
    """(things graded more than once, standard deviation of a single grade around their means in points); None if none.

    The deviation is the root of the mean variance, each with n - 1 in its denominator.
    """
    repeated = [values for values in grades.values() if len(values) > 1]
    if not repeated:
        return None
    pooled = fmean(pvariance(values) * len(values) / (len(values) - 1) for values in repeated)
    return len(repeated), math.sqrt(pooled)


def _ranks(a: Sequence[float], b: Sequence[float]) -> float | None:
    if len(a) < FEWEST_FOR_RANKS or len(set(a)) == 1 or len(set(b)) == 1:
        return None
    return float(spearmanr(a, b).statistic)
