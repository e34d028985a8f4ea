"""Corrections for many tests: of p-values, and of the levels that go with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from measure.statistics.estimates import TIE

STEPS_TO = 0.05
"""Attainable p-values are kept up to here; larger ones never reject."""


def discrete_benjamini_hochberg(p_values: Sequence[float], steps: Sequence[Sequence[float]]) -> list[float]:
    """Return adjusted p-values, in the order given; rejecting those <= q keeps the false discovery rate at q.

    This is Benjamini & Hochberg 1995, JRSS B 57, 289-300, for tests whose attainable p-values are known.

    With few runs, most tasks cannot reach a useful level whatever happens, and counting them in full would hide
    the one that broke. So the j-th smallest p becomes not p * (number of tests) / j, but the sum over all tests of
    their chance of a p-value that small, divided by j: Heyse 2011, "A False Discovery Rate Procedure for
    Categorical Data"; Döhler, Durand & Roquain 2018, "New FDR bounds for discrete and heterogeneous tests",
    Electron. J. Stat. 12, 1867-1900. `steps` holds each test's attainable p-values up to STEPS_TO, ascending.
    They depend on the margins alone, not on which way the result went.
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
    """Return adjusted p-values, 0 to 1, in the order given; rejecting those <= a keeps the family-wise error at a.

    Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Stat. 6, 65-70. Valid under any
    dependence between the tests.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, at in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = reached
    return adjusted


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level at which Holm's procedure judges each p-value, in the order given.

    It is `alpha` divided by the number of hypotheses not rejected before. An interval at this level excludes 0 exactly
    when the procedure rejects, so that interval and verdict cannot disagree.
    """
    levels, rejected = [alpha] * len(p_values), 0
    for at in sorted(range(len(p_values)), key=lambda at: p_values[at]):
        levels[at] = alpha / (len(p_values) - rejected)
        rejected += p_values[at] <= levels[at]
    return levels
