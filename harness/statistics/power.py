"""Which difference will a design find, and how likely? Before any run is made."""

from __future__ import annotations

import math

from scipy import special  # scipy.stats takes most of a second to import

from harness.statistics.resampling import TIE


def minimal_detectable_effect(sd_of_differences: float, tasks: int, alpha: float, power: float = 0.8) -> float | None:
    """The mean difference that a one-sided paired test at `alpha` finds with probability `power`.

    (t[1-alpha] + t[power]) * sd / sqrt(tasks): Bloom 1995, "Minimum Detectable Effects", Evaluation Review
    19. None below two tasks.
    """
    if tasks < 2:
        return None
    reach = special.stdtrit(tasks - 1, 1 - alpha) + special.stdtrit(tasks - 1, power)
    return float(reach * sd_of_differences / math.sqrt(tasks))


def design_sd(baseline: float, effect: float, runs: int, task_sd: float = 0.0, effect_sd: float = 0.0) -> float:
    """Standard deviation of one task's observed difference, `runs` a side, before any run was made.

    Runs vary by p(1-p), less what tasks differ among themselves (`task_sd`, of p over tasks), and the effect
    itself may differ by task (`effect_sd`): the law of total variance for a binomial with a random p.
    """
    noise = sum(max(0.0, p * (1 - p) - task_sd**2) for p in (baseline, baseline + effect))
    return math.sqrt(effect_sd**2 + noise / runs)


def score_sd(run_sd: float, runs: int, effect_sd: float = 0.0) -> float:
    """Standard deviation of one task's observed difference of mean scores, `runs` a side.

    Args:
        run_sd: standard deviation of the score (0 to 1) over runs of one task, taken to be the same in both arms.
        runs: of each task in each arm, 1 or more.
        effect_sd: standard deviation of the true effect over tasks.

    sqrt(effect_sd^2 + 2 run_sd^2 / runs): the variances of independent means add up. How much tasks differ among
    themselves does not enter, since each is compared with itself.
    """
    return math.sqrt(effect_sd**2 + 2 * run_sd**2 / runs)


def paired_power(effect: float, sd_of_differences: float, tasks: int, alpha: float) -> float:
    """Probability that a one-sided paired t-test at `alpha` over `tasks` finds a mean difference of `effect`.

    Noncentral t: Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences", section 2.3.
    The sign-flip test of the suite comes within a few points of it (docs/STATISTICS.md has the simulation).
    """
    if tasks < 2:
        return 0.0
    if sd_of_differences < TIE:
        return 1.0 if effect else alpha
    shift = abs(effect) * math.sqrt(tasks) / sd_of_differences
    return 1 - float(special.nctdtr(tasks - 1, shift, special.stdtrit(tasks - 1, 1 - alpha)))


MOST_TASKS = 5000
"""Where the search for a number of tasks ends."""


def tasks_needed(effect: float, sd_of_differences: float, alpha: float, power: float = 0.8) -> int | None:
    """The fewest tasks with which `paired_power` reaches `power`; None beyond MOST_TASKS.

    At least five, since with fewer no sign-flip test reaches a useful level.
    """
    low, high = 2, MOST_TASKS
    if paired_power(effect, sd_of_differences, high, alpha) < power:
        return None
    while low < high:
        middle = (low + high) // 2
        enough = paired_power(effect, sd_of_differences, middle, alpha) >= power
        low, high = (low, middle) if enough else (middle + 1, high)
    return max(low, 5)
