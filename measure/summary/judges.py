"""The agreement of judges with each other, and with themselves when asked again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median, variance


def judge_agreement(grades: Mapping[str, Mapping[str, Sequence[float]]]) -> Iterator[str]:
    """Yield a line for each judge that was asked again, and for each pair of judges with answers in common.

    A judge's grades of one answer, 0 to 100, scatter by the root of their mean variance (n - 1 in its denominator).
    Two judges are compared by the median of each.
    """
    for judge, of_answers in grades.items():
        repeated = [values for values in of_answers.values() if len(values) > 1]
        if repeated:
            scatter = math.sqrt(fmean(map(variance, repeated)))
            yield f"{judge} asked again: grades of one answer scatter by {scatter:.1f} points ({len(repeated)} of them)"
    for first, second in combinations(grades, 2):
        both = sorted(grades[first].keys() & grades[second].keys())
        a, b = ([round(median(grades[judge][name]), 9) for name in both] for judge in (first, second))
        if both:
            apart = [y - x for x, y in zip(a, b, strict=True)]
            yield (
                f"{first} and {second} on {len(both)}: {fmean(map(abs, apart)):.1f} points apart, "
                f"the second gives {fmean(apart):+.1f}"
            )
