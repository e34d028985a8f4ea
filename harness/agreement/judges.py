"""How far do judges agree with each other, and with themselves when asked again?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, pvariance

from harness.statistics import rank_correlation

Grades = Mapping[str, Sequence[float]]
"""Name of each graded thing to all grades that one judge gave it, 0 to 100."""


@dataclass(frozen=True)
class BetweenJudges:
    """How far two judges agree on what both graded; if a judge gave several grades, their median counts."""

    first: str
    second: str
    compared: int
    mean_difference: float
    """Mean absolute difference, in points of 100."""
    bias: float
    """Mean number of points that the second gives more than the first."""
    rank_correlation: float | None
    """Spearman's; None below five things, or if a judge gave the same grade throughout."""


def between_judges(grades: Mapping[str, Grades]) -> list[BetweenJudges]:
    """Compare each pair of judges; pairs with nothing in common are left out."""
    found = []
    for first, second in combinations(grades, 2):
        both = sorted(set(grades[first]) & set(grades[second]))
        a = [median(grades[first][name]) for name in both]
        b = [median(grades[second][name]) for name in both]
        if both:
            apart = [y - x for x, y in zip(a, b, strict=True)]
            ranks = rank_correlation(a, b)
            rho = ranks[0] if ranks else None
            found.append(BetweenJudges(first, second, len(both), fmean(map(abs, apart)), fmean(apart), rho))
    return found


def within_judge(grades: Grades) -> tuple[int, float] | None:
    """Return how many things were graded repeatedly, and the standard deviation of a single grade in points.

    The deviation is the root of the mean variance, each with n - 1 in its denominator. None without repeated grades.
    """
    repeated = [values for values in grades.values() if len(values) > 1]
    if not repeated:
        return None
    pooled = fmean(pvariance(values) * len(values) / (len(values) - 1) for values in repeated)
    return len(repeated), math.sqrt(pooled)
