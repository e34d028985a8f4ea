"""Significance tests, exact or resampled, one-sided."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile

import numpy as np
from numpy.typing import NDArray

from measure.statistics.corrections import STEPS_TO, holm, holm_levels
from measure.statistics.estimates import (
    ALPHA,
    CHUNK,
    CONFIDENCE,
    RESAMPLES,
    SEED,
    TIE,
    Interval,
    assignments,
    cluster_sums,
)

EXACT_SIGN_FLIPS = 14
"""Up to this many clusters all 2^n sign patterns are enumerated; beyond it they are sampled."""
MOST_SUMS = 200_000
"""The stratified test is exact up to this many distinct sums, within a fifth of a second."""
HAIR = 2 * TIE
"""An end of an interval that is itself rejected lies this far inside it."""


@dataclass(frozen=True)
class OneSided:
    """The two one-sided p-values of a test, and the values they could have taken."""

    less: float
    greater: float
    attainable: float
    """The smallest value that either could have taken."""
    steps_less: tuple[float, ...] = ()
    """The values that `less` could have taken, up to STEPS_TO, ascending."""
    steps_greater: tuple[float, ...] = ()

    @property
    def smaller(self) -> float:
        """The smaller of the two: the evidence for a change in whichever direction it went."""
        return min(self.less, self.greater)

    @property
    def two_sided(self) -> float:
        """Two-sided p-value, for a change whose direction nobody predicted; never below what is attainable."""
        return min(1.0, 2 * max(self.smaller, self.attainable))


@dataclass(frozen=True)
class Shift:
    """A test of whether the mean of paired differences is zero, and an interval for that mean."""

    p: OneSided
    interval: Interval | None
    """All shifts that the test does not reject; zero is outside exactly when the test rejects it. None when nothing
    moved, or with too few clusters for any outcome to be rejected."""


def sign_flip_test(
    differences: Sequence[float],
    clusters: Sequence[Hashable] = (),
    confidence: float = CONFIDENCE,
    other: OneSided | None = None,
) -> Shift:
    """Test whether the mean of paired differences is zero; each cluster's sign is then a coin flip.

    Fisher 1935, "The Design of Experiments", section 21. Up to EXACT_SIGN_FLIPS clusters, all sign patterns are
    tried; beyond that, a fixed sample of RESAMPLES and the observed one (Phipson & Smyth 2010, arXiv:1603.05766).
    Mid-p (Lancaster 1961, "Significance Tests in Discrete Distributions", JASA 56, 223-234): patterns that tie
    with the observed one count half, since few runs make many ties and a full count would halve the level.

    The interval holds every shift that is not rejected when subtracted from all differences. A pattern is then as
    extreme as the observed one exactly when the mean of its flipped differences is beyond the shift. So the ends
    are quantiles of the means of random subsets (Hartigan 1969, "Using Subsample Values as Typical Values",
    JASA 64, 1303-1317).

    Args:
        differences: one for each task.
        clusters: the cluster of each task; a cluster's tasks change sign together. By default, each task is its own.
        confidence: level of the interval, 0 to 1.
        other: another test of the same, which has to reject as well.
    """
    flips = _SignFlips(differences, clusters)
    p, interval = flips.p(), flips.interval(confidence)
    return Shift(_weaker(p, other), _with_zero(interval, other, 1 - confidence))


def _weaker(p: OneSided, other: OneSided | None) -> OneSided:
    return p if other is None or other.two_sided <= p.two_sided else other


def _with_zero(interval: Interval | None, other: OneSided | None, level: float) -> Interval | None:
    """Return the interval, with 0 in it if the other test does not reject 0 at `level`."""
    if interval is None or other is None or other.two_sided <= level:
        return interval
    return Interval(min(interval.low, 0.0), max(interval.high, 0.0))


class _SignFlips:
    """The mean of the flipped differences under every sign pattern."""

    def __init__(self, differences: Sequence[float], clusters: Sequence[Hashable]) -> None:
        self._sums, self._sizes = cluster_sums(np.asarray(differences, dtype=float), clusters)
        if self._moved(0.0) == 0:
            return
        flips, both = _flips(len(self._sums)), np.column_stack((self._sums, self._sizes))
        tops, weights = np.concatenate(
            [flips[at : at + CHUNK].astype(float) @ both for at in range(0, len(flips), CHUNK)]
        ).T
        self._means = np.sort(tops[weights > 0] / weights[weights > 0])
        self._total = len(flips) + (len(self._sums) > EXACT_SIGN_FLIPS)
        self._unflipped = self._total - len(self._means)
        """Patterns that tie with the observed mean for every shift."""

    def _moved(self, shift: float) -> int:
        """Return how many clusters differ from the shift."""
        return int(np.count_nonzero(np.abs(self._sums - shift * self._sizes) > TIE))

    def p(self, shift: float = 0.0) -> OneSided:
        """Test whether the mean is `shift`."""
        moved = self._moved(shift)
        if moved == 0:
            return OneSided(0.5, 0.5, 1.0)
        below, up_to = np.searchsorted(self._means, (shift - TIE, shift + TIE))
        tied = (int(up_to - below) + self._unflipped) / 2
        above, total = len(self._means) - int(up_to), self._total
        return OneSided((above + tied) / total, (int(below) + tied) / total, max(2.0**-moved, 1 / total))

    def interval(self, confidence: float) -> Interval | None:
        tail = (1 - confidence) / 2
        if self._moved(0.0) == 0 or 2.0 ** -len(self._sums) > tail:
            return None
        at = max(0, math.floor(tail * self._total - self._unflipped / 2))
        low, high = float(self._means[at]), float(self._means[-1 - at])
        # Patterns that tie with an end count half there, so it may be rejected itself although no shift inside is.
        hair_low, hair_high = (HAIR if self.p(end).two_sided <= 2 * tail else 0.0 for end in (low, high))
        return Interval(low + hair_low, high - hair_high)


@dataclass(frozen=True)
class CorrectedTest:
    """One of several tests, corrected for their number by Holm's procedure."""

    p: float
    """Two-sided, before the correction."""
    adjusted_p: float
    interval: Interval | None
    """At the level of Holm's procedure: it excludes 0 exactly when the procedure rejects."""


def sign_flip_tests(
    samples: Sequence[tuple[Sequence[float], Sequence[Hashable]]],
    alpha: float = ALPHA,
    others: Sequence[OneSided | None] = (),
) -> list[CorrectedTest]:
    """Return `sign_flip_test` of several samples of differences and clusters, corrected for their number.

    `alpha` is the chance that any is rejected when nothing changed, 0 to 1; where it is a share of ALPHA, adjusted
    p-values grow accordingly, so that one of ALPHA or less means a rejection. `others` are as in `sign_flip_test`.
    """
    others = others or [None] * len(samples)
    tests = [_SignFlips(*sample) for sample in samples]
    ps = [_weaker(test.p(), other).two_sided for test, other in zip(tests, others, strict=True)]
    return [
        CorrectedTest(p, min(1.0, adjusted * ALPHA / alpha), _with_zero(test.interval(1 - level), other, level))
        for test, other, p, adjusted, level in zip(tests, others, ps, holm(ps), holm_levels(ps, alpha), strict=True)
    ]


@lru_cache(maxsize=16)
def _flips(count: int) -> NDArray[np.int8]:
    """Return a row for each pattern of signs, with 1 where a cluster's sign changes."""
    if count <= EXACT_SIGN_FLIPS:
        return ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.int8)
    return np.random.default_rng(SEED).integers(0, 2, size=(RESAMPLES, count)).astype(np.int8)


def stratified_test(tasks: Sequence[tuple[Sequence[float], Sequence[float]]], ties: float = 1.0) -> OneSided:
    """Test whether these very tasks fell (`less`) or rose (`greater`), permuting each task's runs between the arms.

    This is the stratified permutation test of the mean difference (Good 2005, "Permutation, Parametric and Bootstrap
    Tests of Hypotheses", section 6.5), given which tasks differ at all. A task with equal means in both arms says
    nothing about the direction, like a tie in a sign test, so it changes no p-value. The test is exact up to
    MOST_SUMS distinct sums; beyond that, it draws RESAMPLES permutations and counts the observed one too. `tasks` has
    the values of each task's runs in A and in B. What ties with the observed sum counts by `ties`, 0.5 for the mid-p of
    `sign_flip_test`.
    """
    dealt = [_splits(a, b) for a, b in tasks if abs(np.mean(a) - np.mean(b)) > TIE]
    observed = float(sum(np.mean(b) - np.mean(a) for a, b in tasks))
    if not dealt:
        return OneSided(1.0, 1.0, 1.0)
    attainable = math.prod(float(min(chance[0], chance[-1])) for _, chance in dealt)
    sums, chances, drawn = np.zeros(1), np.ones(1), False
    for values, chance in dealt:
        if len(sums) * len(values) > MOST_SUMS:
            drawn = True
            break
        sums, at = np.unique(np.round(np.add.outer(sums, values).ravel(), 9), return_inverse=True)
        chances = np.bincount(at, weights=np.outer(chances, chance).ravel()).astype(np.float64)
    extra = 0.0
    if drawn:
        rng = np.random.default_rng(SEED)
        sums, extra = np.zeros(RESAMPLES), 1 / (RESAMPLES + 1)
        for values, chance in dealt:
            half = rng.random(RESAMPLES // 2)
            # With its mirror image beside every draw, arms that change places change signs and nothing else.
            at = np.searchsorted(np.cumsum(chance), np.concatenate([half, 1 - half]))
            sums += values[np.minimum(at, len(values) - 1)]
        chances = np.full(RESAMPLES, extra)
    tied = (1 - ties) * float(chances[np.abs(sums - observed) <= 1e-8].sum())
    less, greater = (float(chances[far].sum()) - tied for far in (sums <= observed + 1e-8, sums >= observed - 1e-8))
    return OneSided(min(1.0, less + extra), min(1.0, greater + extra), max(attainable, extra))


def _splits(a: Sequence[float], b: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nonzero differences that permuting a task's runs can give, ascending, and the chance of each."""
    pooled = np.concatenate([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    in_b = pooled[assignments(len(pooled), len(b))].sum(axis=1)
    differences = np.round(in_b / len(b) - (pooled.sum() - in_b) / len(a), 9)
    values, counts = np.unique(differences[np.abs(differences) > TIE], return_counts=True)
    return values, counts / counts.sum()


@lru_cache(maxsize=10_000)
def fisher_test(passed_a: int, runs_a: int, passed_b: int, runs_b: int) -> OneSided:
    """Test whether the chance to pass fell (`less`) or rose (`greater`) from A to B; exact, given the margins.

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
    """Test whether one task's mean score fell or rose, permuting its runs between the arms.

    Pitman 1937, "Significance tests which may be applied to samples from any populations", Suppl. JRSS 4.
    On zeros and ones it equals `fisher_test`. Up to RESAMPLES assignments are all tried, else a fixed sample.
    """
    pooled = np.concatenate([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    if not len(a) or not len(b) or float(np.ptp(pooled)) < TIE:
        return OneSided(1.0, 1.0, 1.0)
    sums = np.round(pooled[assignments(len(pooled), len(b))].sum(axis=1) / TIE) * TIE
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
