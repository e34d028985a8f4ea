"""What do counts and paired differences say? The formulas behind every rate, interval and verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, combinations, takewhile
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats takes most of a second to import

EXACT_SIGN_FLIPS = 14
"""Up to this many tasks all 2^n sign patterns are enumerated; beyond it they are sampled."""
RESAMPLES = 10_000
SEED = 20_240_229
"""Fixed, so that the same results always give the same report."""
TIE = 1e-9
"""Two means closer than this are one value: sums of thirds and fifths are not exact in binary."""
STEPS_TO = 0.05
"""Attainable p-values are kept up to here; larger ones call nothing."""


@dataclass(frozen=True)
class Interval:
    """A two-sided confidence interval."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class OneSided:
    """The two one-sided p-values of one test, and what they could have been."""

    less: float
    greater: float
    attainable: float
    """The smallest that either could have been."""
    steps_less: tuple[float, ...] = ()
    """What `less` could have been, up to STEPS_TO, ascending."""
    steps_greater: tuple[float, ...] = ()

    @property
    def smaller(self) -> float:
        """The smaller of the two: the evidence for a change in whichever direction it went."""
        return min(self.less, self.greater)

    @property
    def two_sided(self) -> float:
        """Evidence against "no change" when nobody said beforehand which way; never below what is attainable."""
        return min(1.0, 2 * max(self.smaller, self.attainable))


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Probability that at least one of `k` runs passes, estimated without bias from `c` passes in `n` runs.

    1 - C(n-c, k) / C(n, k): Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    arXiv:2107.03374, equation 1. None for k > n, where no unbiased estimate exists.
    """
    _check_counts(n, c, k)
    return None if k > n else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Probability that all of `k` runs pass, estimated without bias from `c` passes in `n` runs.

    C(c, k) / C(n, k): Yao et al. 2024, "τ-bench", arXiv:2406.12045, section 3. None for k > n.
    """
    _check_counts(n, c, k)
    return None if k > n else math.comb(c, k) / math.comb(n, k)


def _check_counts(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and k >= 1):
        raise ValueError(f"need 0 <= passes <= runs and k >= 1, got {c} passes in {n} runs and k = {k}")


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


CHUNK = 1000
"""Resamples held as floating-point numbers at a time; a thousand tasks would need 80 MB for all of them."""


def _resampled_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    draws = _draws(len(values))
    return np.concatenate([values[draws[at : at + CHUNK]].mean(axis=1) for at in range(0, RESAMPLES, CHUNK)])


@lru_cache(maxsize=4)
def _draws(count: int) -> NDArray[np.int32]:
    return np.random.default_rng(SEED).integers(0, count, size=(RESAMPLES, count)).astype(np.int32)


def _quantile(p: float) -> float:
    return NormalDist().inv_cdf(p)


def sign_flip_test(differences: Sequence[float]) -> OneSided:
    """Is the mean of paired differences off zero? Under the null either sign is as likely for each of them.

    Fisher 1935, "The Design of Experiments", section 21. All patterns for up to EXACT_SIGN_FLIPS tasks,
    else a fixed sample of RESAMPLES with the observed one counted (Phipson & Smyth 2010, arXiv:1603.05766).
    Mid-p (Lancaster 1961, "Significance Tests in Discrete Distributions", JASA 56, 223-234): patterns that
    tie with the observed one count half, since few runs make many ties and a full count halves the level.
    `attainable` counts the most extreme pattern in full: below five moved tasks mid-p alone is too bold.
    """
    values = np.asarray(differences, dtype=float)
    count = len(values)
    moved = int(np.count_nonzero(np.abs(values) > TIE))
    if moved == 0:
        return OneSided(0.5, 0.5, 1.0)
    observed = float(values.sum())
    signs = _sign_patterns(count)
    sums = np.concatenate([signs[at : at + CHUNK] @ values for at in range(0, len(signs), CHUNK)])
    sampled = 0 if count <= EXACT_SIGN_FLIPS else 1
    below = int(np.count_nonzero(sums < observed - TIE))
    above = int(np.count_nonzero(sums > observed + TIE))
    total = len(sums) + sampled
    tied = (total - below - above) / 2
    return OneSided((below + tied) / total, (above + tied) / total, max(2.0**-moved, sampled / total))


@lru_cache(maxsize=16)
def _sign_patterns(count: int) -> NDArray[np.int8]:
    if count <= EXACT_SIGN_FLIPS:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    else:
        bits = np.random.default_rng(SEED).integers(0, 2, size=(RESAMPLES, count))
    return np.asarray(1 - 2 * bits, dtype=np.int8)


def fisher_test(passed_a: int, runs_a: int, passed_b: int, runs_b: int) -> OneSided:
    """Did the chance to pass fall (`less`) or rise (`greater`) from A to B? Exact, given the margins.

    Fisher 1935, "The Logic of Inductive Inference", JRSS 98, 39-82: hypergeometric tails.
    """
    passes = passed_a + passed_b
    lowest, highest = max(0, passes - runs_a), min(passes, runs_b)
    ways = [math.comb(runs_b, x) * math.comb(runs_a, passes - x) for x in range(lowest, highest + 1)]
    total, at = sum(ways), passed_b - lowest
    return OneSided(
        sum(ways[: at + 1]) / total,
        sum(ways[at:]) / total,
        min(ways[0], ways[-1]) / total,
        _steps(accumulate(ways), total),
        _steps(accumulate(reversed(ways)), total),
    )


def _steps(ways: Iterable[int], total: int) -> tuple[float, ...]:
    return tuple(takewhile(lambda p: p <= STEPS_TO, (way / total for way in ways)))


def mean_permutation_test(a: Sequence[float], b: Sequence[float]) -> OneSided:
    """Fisher's test for scores between 0 and 1 in place of passes: the runs of one task change arms.

    Pitman 1937, "Significance tests which may be applied to samples from any populations", Suppl. JRSS 4.
    On zeros and ones it equals `fisher_test`. All assignments up to RESAMPLES, else a fixed sample of them.
    """
    pooled = np.concatenate([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    if not len(a) or not len(b) or float(np.ptp(pooled)) < TIE:
        return OneSided(1.0, 1.0, 1.0)
    sums = np.round(pooled[_assignments(len(pooled), len(b))].sum(axis=1) / TIE) * TIE
    observed = float(np.sum(b))
    sampled = 0 if math.comb(len(pooled), len(b)) <= RESAMPLES else 1
    total = len(sums) + sampled
    _, ties = np.unique(sums, return_counts=True)
    down = [int(way) + sampled for way in np.cumsum(ties)]
    up = [int(way) + sampled for way in np.cumsum(ties[::-1])]
    return OneSided(
        float(np.count_nonzero(sums <= observed + TIE) + sampled) / total,
        float(np.count_nonzero(sums >= observed - TIE) + sampled) / total,
        min(down[0], up[0]) / total,
        _steps(down, total),
        _steps(up, total),
    )


@cache
def _assignments(pool: int, chosen: int) -> NDArray[np.int64]:
    if math.comb(pool, chosen) <= RESAMPLES:
        return np.array(list(combinations(range(pool), chosen)), dtype=np.int64)
    rng = np.random.default_rng(SEED)
    return rng.permuted(np.tile(np.arange(pool), (RESAMPLES, 1)), axis=1)[:, :chosen].astype(np.int64)


def discrete_benjamini_hochberg(p_values: Sequence[float], steps: Sequence[Sequence[float]]) -> list[float]:
    """Adjusted p-values, in the order given: reject those <= q to keep the false discovery rate at q.

    Benjamini & Hochberg 1995, JRSS B 57, 289-300, knowing which p-values each test can give at all.

    With few runs most tasks cannot reach any useful level whatever happens, and counting them in full hides
    the one that broke. The j-th smallest p is multiplied not by (number of tests) / j but by the sum over all
    tests of their chance to come below it, divided by j: Heyse 2011, "A False Discovery Rate Procedure for
    Categorical Data"; Döhler, Durand & Roquain 2018, "New FDR bounds for discrete and heterogeneous tests",
    Electron. J. Stat. 12, 1867-1900. `steps` holds, for each test, its attainable p-values up to STEPS_TO,
    ascending; they depend on the margins alone, so they do not look at which way the result went.
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    chance = np.zeros(len(values))
    for attainable in steps:
        at = np.searchsorted(np.asarray(attainable), ranked + TIE, side="right")
        below = np.concatenate([[0.0], attainable])[at]
        chance += np.where(ranked > STEPS_TO, ranked, below)
    adjusted = np.minimum.accumulate((chance / np.arange(1, len(values) + 1))[::-1])[::-1]
    result = np.empty(len(values))
    result[order] = np.minimum(adjusted, 1.0)
    return [float(p) for p in result]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, 0 to 1, in the order given: reject those <= a to keep any false alarm among them below a.

    Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Stat. 6, 65-70. Holds for tests
    that depend on each other in whatever way.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, at in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = reached
    return adjusted


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


def cohen_kappa(labels_a: Sequence[bool], labels_b: Sequence[bool]) -> float | None:
    """Agreement of two raters beyond chance, -1 to 1; None where both only ever give one same label.

    Cohen 1960, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20, 37-46.
    """
    count = len(labels_a)
    if count == 0:
        return None
    observed = sum(a == b for a, b in zip(labels_a, labels_b, strict=True)) / count
    rate_a, rate_b = sum(labels_a) / count, sum(labels_b) / count
    chance = rate_a * rate_b + (1 - rate_a) * (1 - rate_b)
    return None if chance > 1 - TIE else (observed - chance) / (1 - chance)
