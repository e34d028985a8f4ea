"""Could chance alone have made this difference? Exact and resampled tests, one-sided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, combinations, takewhile

import numpy as np
from numpy.typing import NDArray

from harness.statistics.resampling import CHUNK, RESAMPLES, SEED, TIE

EXACT_SIGN_FLIPS = 14
"""Up to this many tasks all 2^n sign patterns are enumerated; beyond it they are sampled."""
STEPS_TO = 0.05
"""Attainable p-values are kept up to here; larger ones call nothing."""


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
