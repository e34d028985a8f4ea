"""Did one arm score 0 far more often, as a whole or in one group? Then it looks broken rather than weak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.compare.decision import mean_difference
from harness.compare.doubts.loss import Arms
from harness.compare.pairing import dimensions
from harness.compare.verdicts import UnitComparison
from harness.compare.wording import group_name, metric_name, points
from harness.statistics.significance import fisher_test, holm

MANY_ZEROS = 0.5
"""An arm in which this share of runs scored 0 looks broken rather than weak."""
MORE_ZEROS = 0.2
"""So does one, or a group of it, that exceeds the other arm, and the rest of its own arm, by this much ..."""
ZEROS_P = 0.01
"""... if chance explains neither at this level; for groups after Holm's correction."""


def zeros_of_arms(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each arm with too many zeros."""
    of_arms = [_zeros([run.overall_score for run in results if run.measured]) for _, results in arms]
    for (label, _), (zeros, runs), (others, other_runs) in zip(arms, of_arms, reversed(of_arms), strict=True):
        share, excess = zeros / max(1, runs), zeros / max(1, runs) - others / max(1, other_runs)
        unlikely = fisher_test(others, other_runs, zeros, runs).greater <= ZEROS_P
        if share >= MANY_ZEROS or (excess >= MORE_ZEROS and unlikely):
            yield (
                f"{label}: {zeros} of {runs} measured runs scored 0 (the other arm: {others} of {other_runs}); "
                "look at a few of them before you trust the difference."
            )


def zeros_of_groups(units: Sequence[UnitComparison], label_a: str = "A", label_b: str = "B") -> list[str]:
    """Return a sentence for each group that scored 0 in one arm far more often than the rest of it and the other arm.

    The likely cause: a server never came up, or a verifier found no answer.
    """
    found, whole = [], points(mean_difference(units))
    for dimension, values in dimensions(units).items():
        for value in values:
            inside = [unit for unit in units if unit.groups.get(dimension) == value]
            outside = [unit for unit in units if unit.groups.get(dimension, value) != value]
            without = points(mean_difference(unit for unit in units if unit.groups.get(dimension) != value))
            of_arms = (
                (label_a, [s for u in inside for s in u.scores_a], [s for u in outside for s in u.scores_a]),
                (label_b, [s for u in inside for s in u.scores_b], [s for u in outside for s in u.scores_b]),
            )
            for (arm, own, others), (other, same, _) in (of_arms, of_arms[::-1]):
                (zeros, runs), in_other, in_rest = _zeros(own), _zeros(same), _zeros(others)
                p = max(fisher_test(*against, zeros, runs).greater for against in (in_other, in_rest))
                excess = zeros / max(1, runs) - max(count / max(1, of) for count, of in (in_other, in_rest))
                text = (
                    f"{arm}: {zeros} of {runs} runs with {group_name(dimension, value)} scored 0 (the same tasks in "
                    f"{other}: {in_other[0]} of {in_other[1]}; the rest of {arm}: {in_rest[0]} of {in_rest[1]}). "
                    f"Without this group the {metric_name(units[0].metric)} changes by {without} instead of "
                    f"{whole}; look at a few of these runs before you trust the difference."
                )
                found.append((p, excess, text))
    adjusted = holm([p for p, _, _ in found])
    named = [
        (p, text) for p, (_, excess, text) in zip(adjusted, found, strict=True) if p <= ZEROS_P and excess >= MORE_ZEROS
    ]
    return [text for _, text in sorted(named, key=lambda group: group[0])]


def _zeros(scores: Sequence[float]) -> tuple[int, int]:
    return scores.count(0), len(scores)
