"""How likely is it that one of k runs passes, or all of them? Estimates from counts."""

from __future__ import annotations

import math


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
