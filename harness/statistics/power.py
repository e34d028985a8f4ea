"""Which difference can a design detect, and how likely? Answers before any run is made."""

from __future__ import annotations

import math
from bisect import bisect_left

import scipy  # loads its parts when they are first used, which most commands never do

from harness.statistics.intervals import CONFIDENCE, TIE

ALPHA = (1 - CONFIDENCE) / 2
"""Level of the one-sided test that a comparison makes in each direction."""
TARGET_POWER = 0.8


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


MOST_TASKS = 5000
"""Largest number of tasks that `tasks_needed` considers."""


def tasks_needed(
    effect: float, sd_of_differences: float, alpha: float = ALPHA, power: float = TARGET_POWER
) -> int | None:
    """Return the fewest tasks with which `paired_power` reaches `power`; None beyond MOST_TASKS.

    Never fewer than a sign-flip test needs to reach `alpha` at all.
    """
    numbers = range(2, MOST_TASKS + 1)
    at = bisect_left(numbers, power, key=lambda tasks: paired_power(effect, sd_of_differences, tasks, alpha))
    return None if at == len(numbers) else max(numbers[at], math.ceil(-math.log2(alpha)))
