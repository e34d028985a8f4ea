"""Does a group carry more than its share? Judged against random groups of the same size, and by scores of 0."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness.compare.findings import Influence, ZeroCluster
from harness.compare.slices import dimensions
from harness.compare.verdicts import UnitComparison, decide_without

LEVEL = 0.025
"""Chance that groups which carry no more than their share are named at all, over all groups of a comparison."""
PERMUTATIONS = 4999
CHUNK = 500
SMALLEST_GROUP = 2
"""Tasks: whatever a single one does, some single task has to be the most extreme."""
MORE_ZEROS = 0.2
"""Share of runs with score 0 beyond that of the other arm, and of the rest, from which a group is named ..."""
ZEROS_P = 0.01
"""... if chance explains neither, after Holm's correction for the groups."""


def find_influence(units: Sequence[UnitComparison], *, threshold: float = 0.0) -> tuple[Influence, ...]:
    """The groups without which the difference changes more than without random groups of their size.

    To leave out the most favourable group always weakens a result, so that alone says nothing. Here the
    differences are dealt out anew PERMUTATIONS times, and a group counts when hardly any deal has a group as
    extreme: the largest standardised distance between a group's mean and the rest's, over all groups of a
    dimension (Westfall & Young 1993, "Resampling-Based Multiple Testing", section 2.3), times the number of
    dimensions (Bonferroni). The chance of naming anything when no group is special is at most LEVEL.

    Args:
        units: the tasks that both arms measured, their groups complete.
        threshold: of the comparison, for the verdict without the group.

    Returns:
        The most extreme first. Of a dimension with two groups the one with the larger difference is named.
    """
    found = []
    grouped = dimensions(units)
    for dimension, values in grouped.items():
        cells = _cells(units, dimension)
        differences = np.array([difference for _, difference in cells])
        member = np.array([[group == value for group, _ in cells] for value in values])
        p_values = _chance_of_distance(differences, member)
        for value, row, p in zip(values, member, p_values, strict=True):
            p = min(1.0, p * len(grouped))
            if p > LEVEL:
                continue
            within, without = float(differences[row].mean()), float(differences[~row].mean())
            if len(values) == 2 and abs(within) <= abs(without):
                continue
            group = [unit for unit in units if unit.groups.get(dimension) == value]
            verdict, rest = decide_without(units, group, threshold=threshold)
            found.append(
                Influence(
                    dimension=dimension,
                    value=value,
                    tasks=len({unit.key.task_id for unit in group}),
                    within=within,
                    without=rest,
                    verdict_without=str(verdict),
                    p=p,
                )
            )
    return tuple(sorted(found, key=lambda group: (group.p, -abs(group.within - group.without))))


def _cells(units: Sequence[UnitComparison], dimension: str) -> list[tuple[str, float]]:
    """(group, difference) of every task; of a task that is in several groups, one for each."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for unit in units:
        if dimension in unit.groups:
            cells[unit.key.task_id, unit.groups[dimension]].append(unit.difference)
    return [(group, fmean(values)) for (_, group), values in cells.items()]


def _chance_of_distance(differences: NDArray[np.float64], member: NDArray[np.bool_]) -> list[float]:
    """For each group (row of `member`), the share of random deals in which any group is as far from the rest."""
    count, sizes = len(differences), member.sum(axis=1)
    usable = (sizes >= SMALLEST_GROUP) & (count - sizes >= SMALLEST_GROUP)
    if not usable.any() or float(np.ptp(differences)) < statistics.TIE:
        return [1.0] * len(member)
    scale = np.sqrt(count / np.where(usable, sizes * (count - sizes), 1)) * usable
    centred = differences - differences.mean()
    observed = np.abs(member @ centred) * scale
    rng = np.random.default_rng(statistics.SEED)
    farther = np.zeros(len(member))
    for start in range(0, PERMUTATIONS, CHUNK):
        deals = min(CHUNK, PERMUTATIONS - start)
        dealt = rng.permuted(np.tile(centred, (deals, 1)), axis=1)
        farthest = (np.abs(dealt @ member.T.astype(float)) * scale).max(axis=1)
        farther += (farthest[:, None] >= observed - statistics.TIE).sum(axis=0)
    chance = (farther + 1) / (PERMUTATIONS + 1)
    return [float(p) if ok else 1.0 for p, ok in zip(chance, usable, strict=True)]


def find_zero_clusters(units: Sequence[UnitComparison]) -> tuple[ZeroCluster, ...]:
    """Groups whose runs of one arm scored 0 far more often than the same tasks in the other arm, and than the rest.

    Such a group is more likely broken (a server that never came up, a verifier that found no answer) than weak.
    """
    candidates: list[tuple[Literal["A", "B"], str, str, list[int], float]] = []
    for dimension, values in dimensions(units).items():
        for value in values:
            inside = [unit for unit in units if unit.groups.get(dimension) == value]
            outside = [unit for unit in units if unit.groups.get(dimension, value) != value]
            counts = {"A": _zeros(inside, "A"), "B": _zeros(inside, "B")}
            for arm, other in (("A", "B"), ("B", "A")):
                rest = _zeros(outside, arm)
                numbers = [*counts[arm], *counts[other], *rest]
                p = max(
                    statistics.fisher_test(zeros, runs, *counts[arm]).greater for zeros, runs in (counts[other], rest)
                )
                candidates.append(("A" if arm == "A" else "B", dimension, value, numbers, p))
    adjusted = statistics.holm([candidate[-1] for candidate in candidates])
    found = []
    for (arm, dimension, value, numbers, _), p in zip(candidates, adjusted, strict=True):
        zeros, runs, other_zeros, other_runs, rest_zeros, rest_runs = numbers
        beyond = max(other_zeros / max(1, other_runs), rest_zeros / max(1, rest_runs))
        if p > ZEROS_P or zeros / max(1, runs) - beyond < MORE_ZEROS:
            continue
        group = [unit for unit in units if unit.groups.get(dimension) == value]
        found.append(
            ZeroCluster(
                arm=arm,
                dimension=dimension,
                value=value,
                tasks=len({unit.key.task_id for unit in group}),
                zeros=zeros,
                runs=runs,
                other_arm_zeros=other_zeros,
                other_arm_runs=other_runs,
                rest_zeros=rest_zeros,
                rest_runs=rest_runs,
                without=decide_without(units, group, threshold=0.0)[1],
                p=p,
            )
        )
    return tuple(sorted(found, key=lambda cluster: cluster.p))


def _zeros(units: Sequence[UnitComparison], arm: str) -> tuple[int, int]:
    scores = [score for unit in units for score in (unit.scores_a if arm == "A" else unit.scores_b)]
    return sum(score == 0 for score in scores), len(scores)
