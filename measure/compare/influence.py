"""Does a group carry more than its share? Groups are judged against random groups of the same size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from measure.compare.decision import decide
from measure.compare.findings import Influence
from measure.compare.pairing import dimensions
from measure.compare.verdicts import PROJECTS, Decision, UnitComparison
from measure.statistics.estimates import SEED, TIE

LEVEL = 0.025
"""Chance that any group of a comparison is named although none carries more than its share."""
PERMUTATIONS = 1999
CHUNK = 500
MOST_NAMED = 5
SMALLEST_GROUP = 2
"""Number of tasks; groups of one are left out, since some task is always the most extreme."""


def find_influence(
    units: Sequence[UnitComparison], decide_units: Callable[..., Decision] = decide
) -> tuple[Influence, ...]:
    """Find the groups whose removal changes the difference more than removing random groups of their size.

    Leaving out the most favourable group always weakens a result, so that alone says nothing. Here the differences
    are permuted PERMUTATIONS times, and a group counts if hardly any permutation has one as extreme. The statistic is
    the largest standardised distance between a group's mean and the rest's, over all groups of all dimensions
    (Westfall & Young 1993, "Resampling-Based Multiple Testing", section 2.3). Dimensions over different tasks are
    permuted separately and corrected for their number (Bonferroni). A named group is removed before the next search,
    so that no group is named for lacking it. If no group is special, the chance of naming any is at most LEVEL.

    Args:
        units: the tasks that both arms measured, with all their groups.
        decide_units: how the comparison is decided, for the verdict without the group.

    Returns:
        At most MOST_NAMED groups, the most extreme first. Of two groups that hold all tasks between them, the one with
        the larger difference.
    """
    found: list[Influence] = []
    rest = list(units)
    while len(found) < MOST_NAMED and (extreme := _most_extreme(rest)) is not None:
        group = [unit for unit in rest if unit.groups.get(extreme.dimension) == extreme.value]
        gone = {unit.key for unit in group}
        without = decide_units([unit for unit in units if unit.key not in gone])
        found.append(
            Influence(
                dimension=extreme.dimension,
                value=extreme.value,
                tasks=len({unit.key.task_id for unit in group}),
                within=extreme.within,
                without=without.difference,
                verdict_without=str(without.verdict),
                p=extreme.p,
            )
        )
        rest = [unit for unit in rest if unit.key not in gone]
    return tuple(found)


class _Group(NamedTuple):
    dimension: str
    value: str
    within: float
    distance: float
    p: float


def _most_extreme(units: Sequence[UnitComparison]) -> _Group | None:
    """Return the group farthest from the rest, if chance does not explain the distance at LEVEL."""
    families: dict[tuple[tuple[str, float], ...], dict[str, NDArray[np.str_]]] = defaultdict(dict)
    for dimension in dimensions(units):
        cells = _cells(units, dimension)
        tasks = tuple((task, difference) for task, _, difference in cells)
        families[tasks][dimension] = np.array([group for _, group, _ in cells])
    groups: list[_Group] = []
    for family, grouped in families.items():
        differences = np.array([difference for _, difference in family])
        names = [(dimension, value) for dimension, of_cell in grouped.items() for value in np.unique(of_cell)]
        member = np.array([grouped[dimension] == value for dimension, value in names])
        for (dimension, value), row, distance, p in zip(
            names, member, *_chance_of_distance(differences, member), strict=True
        ):
            within = float(differences[row].mean())
            groups.append(_Group(dimension, str(value), within, round(distance, 9), min(1.0, p * len(families))))
    extreme = [group for group in groups if group.p <= LEVEL]
    return max(extreme, key=lambda group: (-group.p, group.distance, abs(group.within)), default=None)


def _cells(units: Sequence[UnitComparison], dimension: str) -> list[tuple[str, str, float]]:
    """Return (task, group, difference) for every task, once for each group it is in.

    Where all tasks of a project are in one group, such as its language, projects are permuted instead of tasks.
    """
    grouped = [unit for unit in units if dimension in unit.groups]
    whole = len({(unit.cluster, unit.groups[dimension]) for unit in grouped}) == len({u.cluster for u in grouped})
    by_project = whole and dimension not in PROJECTS
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for unit in grouped:
        cells[unit.cluster if by_project else unit.key.task_id, unit.groups[dimension]].append(unit.difference)
    return [(task, group, fmean(values)) for (task, group), values in cells.items()]


def _chance_of_distance(differences: NDArray[np.float64], member: NDArray[np.bool_]) -> tuple[list[float], list[float]]:
    """Return each group's (row of `member`) distance from the rest, and the share of permutations that reach it."""
    count, sizes = len(differences), member.sum(axis=1)
    usable = (sizes >= SMALLEST_GROUP) & (count - sizes >= SMALLEST_GROUP)
    if not usable.any() or float(np.ptp(differences)) < TIE:
        return [0.0] * len(member), [1.0] * len(member)
    scale = np.sqrt(count / np.where(usable, sizes * (count - sizes), 1)) * usable
    centred = differences - differences.mean()
    observed = np.abs(member @ centred) * scale
    farther = np.zeros(len(member))
    for orders in _orders(count):
        farthest = (np.abs(centred[orders] @ member.T.astype(float)) * scale).max(axis=1)
        farther += (farthest[:, None] >= observed - TIE).sum(axis=0)
    return observed.tolist(), np.where(usable, (farther + 1) / (PERMUTATIONS + 1), 1.0).tolist()


@lru_cache(maxsize=2)
def _orders(count: int) -> tuple[NDArray[np.unsignedinteger], ...]:
    """Return PERMUTATIONS random orders of `count` differences, always the same, in chunks of rows."""
    rng = np.random.default_rng(SEED)
    places = np.arange(count, dtype=np.min_scalar_type(count))
    sizes = [min(CHUNK, PERMUTATIONS - start) for start in range(0, PERMUTATIONS, CHUNK)]
    return tuple(rng.permuted(np.tile(places, (size, 1)), axis=1) for size in sizes)
