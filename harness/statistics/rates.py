"""What do counts and ranks say? How likely one of k runs passes, and how far two rankings agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy  # loads its parts when they are first used, which most commands never do
from numpy.typing import NDArray

from harness.statistics.intervals import TIE

FEWEST_RANKED = 5
"""Fewest pairs for a rank correlation."""


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Estimate without bias, from `c` passes in `n` runs, the probability that at least one of `k` runs passes.

    1 - C(n-c, k) / C(n, k): Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    arXiv:2107.03374, equation 1. None for k > n, where no unbiased estimate exists.
    """
    _check_counts(n, c, k)
    return None if k > n else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Estimate without bias, from `c` passes in `n` runs, the probability that all of `k` runs pass.

    C(c, k) / C(n, k): Yao et al. 2024, "τ-bench", arXiv:2406.12045, section 3. None for k > n.
    """
    _check_counts(n, c, k)
    return None if k > n else math.comb(c, k) / math.comb(n, k)


def _check_counts(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and k >= 1):
        raise ValueError(f"need 0 <= passes <= runs and k >= 1, got {c} passes in {n} runs and k = {k}")


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> tuple[float, float] | None:
    """Return Spearman's rank correlation, -1 to 1, and its two-sided p-value.

    Spearman 1904, "The Proof and Measurement of Association between Two Things", Am. J. Psychol. 15, 72-101; p from
    Student's t with n - 2 degrees of freedom. None below FEWEST_RANKED pairs, or if either side never varies.
    """
    if len(a) < FEWEST_RANKED:
        return None
    ranks_a, ranks_b = _ranks(a), _ranks(b)
    if float(ranks_a.std() * ranks_b.std()) < TIE:
        return None
    rho = max(-1.0, min(1.0, float(np.corrcoef(ranks_a, ranks_b)[0, 1])))
    freedom = len(a) - 2
    t = abs(rho) * (freedom / max(1e-300, 1 - rho**2)) ** 0.5
    return rho, min(1.0, 2 * float(scipy.special.stdtr(freedom, -t)))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Rank values from 1; equal values share their mean rank."""
    _, inverse, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse], dtype=np.float64)
