"""Does a group carry more than its share? Judged against random groups of the same size, and by scores of 0."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness.compare.decision import decide, decide_without, per_task
from harness.compare.findings import Influence, ZeroCluster
from harness.compare.slices import dimensions
from harness.compare.verdicts import PROJECTS, Decision, UnitComparison

LEVEL = 0.025
"""Chance that groups which carry no more than their share are named at all, over all groups of a comparison."""
PERMUTATIONS = 1999
CHUNK = 500
MOST_KEPT = 2000
"""Differences up to which the random orders are kept for the next family of groups: 8 MB at this number."""
MOST_NAMED = 5
SMALLEST_GROUP = 2
"""Tasks: whatever a single one does, some single task has to be the most extreme."""
MORE_ZEROS = 0.2
"""Share of runs with score 0 beyond that of the other arm, and of the rest, from which a group is named ..."""
ZEROS_P = 0.01
"""... if chance explains neither, after Holm's correction for the groups."""


def find_influence(
    units: Sequence[UnitComparison], decide_units: Callable[..., Decision] = decide
) -> tuple[Influence, ...]:
    """The groups without which the difference changes more than without random groups of their size.

    To leave out the most favourable group always weakens a result, so that alone says nothing. Here the
    differences are dealt out anew PERMUTATIONS times, and a group counts when hardly any deal has a group as
    extreme: the largest standardised distance between a group's mean and the rest's, over all groups of all
    dimensions (Westfall & Young 1993, "Resampling-Based Multiple Testing", section 2.3). Dimensions over different
    tasks are dealt out by themselves and corrected for their number (Bonferroni). A named group is taken out and
    the rest looked at again, so that no group is named for being without it. The chance of naming anything when
    no group is special is at most LEVEL.

    Args:
        units: the tasks that both arms measured, their groups complete.
        decide_units: how the comparison is decided, for the verdict without the group.

    Returns:
        At most MOST_NAMED, the most extreme first. Of two groups that are each other's rest, the one with the larger
        difference is named.
    """
    found: list[Influence] = []
    rest = list(units)
    while len(found) < MOST_NAMED and (extreme := _most_extreme(rest)) is not None:
        group = [unit for unit in rest if unit.groups.get(extreme.dimension) == extreme.value]
        verdict, without = decide_without(units, group, decide_units)
        found.append(
            Influence(
                dimension=extreme.dimension,
                value=extreme.value,
                tasks=len({unit.key.task_id for unit in group}),
                within=extreme.within,
                without=without,
                verdict_without=str(verdict),
                p=extreme.p,
            )
        )
        gone = {unit.key for unit in group}
        rest = [unit for unit in rest if unit.key not in gone]
    return tuple(found)


class _Group(NamedTuple):
    dimension: str
    value: str
    distance: float
    within: float
    p: float


def _most_extreme(units: Sequence[UnitComparison]) -> _Group | None:
    """The group farthest from its rest, if chance does not explain the distance at LEVEL."""
    families: dict[tuple[tuple[str, float], ...], list[tuple[str, list[str]]]] = defaultdict(list)
    for dimension in dimensions(units):
        cells = _cells(units, dimension)
        families[tuple((task, difference) for task, _, difference in cells)].append(
            (dimension, [group for _, group, _ in cells])
        )
    groups: list[_Group] = []
    for cells_of_family, grouped in families.items():
        differences = np.array([difference for _, difference in cells_of_family])
        names = [(dimension, value) for dimension, of_cell in grouped for value in sorted(set(of_cell))]
        member = np.array([[group == value for group in dict(grouped)[dimension]] for dimension, value in names])
        distances, p_values = _chance_of_distance(differences, member)
        for (dimension, value), row, distance, p in zip(names, member, distances, p_values, strict=True):
            within = float(differences[row].mean())
            groups.append(_Group(dimension, value, round(distance, 9), within, min(1.0, p * len(families))))
    extreme = [group for group in groups if group.p <= LEVEL]
    return max(extreme, key=lambda group: (-group.p, group.distance, abs(group.within)), default=None)


def _cells(units: Sequence[UnitComparison], dimension: str) -> list[tuple[str, str, float]]:
    """(task, group, difference) of every task; of a task that is in several groups, one for each.

    Where all tasks of a project are in one group, such as its language, projects are dealt out instead of tasks.
    """
    grouped = [unit for unit in units if dimension in unit.groups]
    whole = len({(unit.cluster, unit.groups[dimension]) for unit in grouped}) == len({u.cluster for u in grouped})
    by_project = whole and dimension not in PROJECTS
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for unit in grouped:
        cells[unit.cluster if by_project else unit.key.task_id, unit.groups[dimension]].append(unit.difference)
    return [(task, group, fmean(values)) for (task, group), values in cells.items()]


def _chance_of_distance(differences: NDArray[np.float64], member: NDArray[np.bool_]) -> tuple[list[float], list[float]]:
    """Each group's (row of `member`) distance from the rest, and the share of deals with any group as far off."""
    count, sizes = len(differences), member.sum(axis=1)
    usable = (sizes >= SMALLEST_GROUP) & (count - sizes >= SMALLEST_GROUP)
    if not usable.any() or float(np.ptp(differences)) < statistics.TIE:
        return [0.0] * len(member), [1.0] * len(member)
    scale = np.sqrt(count / np.where(usable, sizes * (count - sizes), 1)) * usable
    centred = differences - differences.mean()
    observed = np.abs(member @ centred) * scale
    farther = np.zeros(len(member))
    for orders in _kept_orders(count) if count <= MOST_KEPT else _orders(count):
        farthest = (np.abs(centred[orders] @ member.T.astype(float)) * scale).max(axis=1)
        farther += (farthest[:, None] >= observed - statistics.TIE).sum(axis=0)
    chance = (farther + 1) / (PERMUTATIONS + 1)
    return [float(d) for d in observed], [float(p) if ok else 1.0 for p, ok in zip(chance, usable, strict=True)]


def _orders(count: int) -> Iterator[NDArray[np.unsignedinteger]]:
    """PERMUTATIONS random orders of so many differences, always the same, in chunks of rows."""
    rng = np.random.default_rng(statistics.SEED)
    places = np.arange(count, dtype=np.min_scalar_type(count))
    for start in range(0, PERMUTATIONS, CHUNK):
        yield rng.permuted(np.tile(places, (min(CHUNK, PERMUTATIONS - start), 1)), axis=1)


@lru_cache(maxsize=4)
def _kept_orders(count: int) -> tuple[NDArray[np.unsignedinteger], ...]:
    return tuple(_orders(count))


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
                without=_mean_without(units, group),
                p=p,
            )
        )
    return tuple(sorted(found, key=lambda cluster: cluster.p))


def _zeros(units: Sequence[UnitComparison], arm: str) -> tuple[int, int]:
    scores = [score for unit in units for score in (unit.scores_a if arm == "A" else unit.scores_b)]
    return sum(score == 0 for score in scores), len(scores)


def _mean_without(units: Sequence[UnitComparison], left_out: Sequence[UnitComparison]) -> float:
    gone = {unit.key for unit in left_out}
    differences, _ = per_task(unit for unit in units if unit.key not in gone)
    return fmean(differences or [0.0])
