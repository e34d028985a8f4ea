"""Choose tasks by what was measured on them, with repositories, languages and kinds in balance.

Where nothing was measured, nothing about a question tells how hard it is, so the balance and the lot decide.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence

from locobench.selection.candidates import Candidate

SAME_ITEMS = 0.6
"""A question that shares this much of its answer with a chosen one asks nearly the same."""
_FIRST = {"between": 0, "unknown": 1, "ceiling": 2, "floor": 2}

Stratum = tuple[int, str, str, str]
"""Rank by the pilot, repository, language, kind."""


def choose(ranked: Sequence[Candidate], most: int) -> tuple[list[Candidate], int]:
    """Return at most `most` tasks in the order chosen, and how many were left out because another asks nearly the same.

    Tasks at the pilot's ceiling or floor come last. The control group keeps its share, in every prefix of the list.

    Args:
        ranked: the tasks that pass, the better ones first; the order decides between tasks of one stratum that the
            pilot measured alike.
        most: number of tasks to choose.
    """
    control = _Pool([task for task in ranked if task.is_control])
    others = _Pool([task for task in ranked if not task.is_control])
    share = len(control) / len(ranked) if ranked else 0.0
    chosen: list[Candidate] = []
    controls = same = 0
    by_repository: defaultdict[str, list[Candidate]] = defaultdict(list)
    while len(chosen) < most and (control or others):
        due = controls + 0.5 <= share * (len(chosen) + 1)
        pool = control if (due and control) or not others else others
        task = pool.take()
        if any(_nearly_same(task, other) for other in by_repository[task.repository]):
            same += 1
            continue
        pool.count(task)
        by_repository[task.repository].append(task)
        chosen.append(task)
        controls += pool is control
    return chosen, same


def _nearly_same(task: Candidate, chosen: Candidate) -> bool:
    return bool(task.exact_items) and len(task.exact_items & chosen.exact_items) >= SAME_ITEMS * len(task.exact_items)


class _Pool:
    """Tasks to take one by one, from the stratum that is behind the others."""

    def __init__(self, ranked: Sequence[Candidate]) -> None:
        self._waiting: defaultdict[Stratum, list[Candidate]] = defaultdict(list)
        self._taken: Counter[tuple[int, str]] = Counter()
        self._size = len(ranked)
        order = {task.id: at for at, task in enumerate(ranked)}
        # The last of a list is the next one taken.
        for task in sorted(ranked, key=lambda task: (_from_middle(task), _rank(task, order)), reverse=True):
            self._waiting[_stratum(task)].append(task)

    def __len__(self) -> int:
        return self._size

    def take(self) -> Candidate:
        """Return the next task."""
        first = min(
            self._waiting, key=lambda stratum: (stratum[0], *(self._taken[key] for key in _parts(stratum)), stratum)
        )
        task = self._waiting[first].pop()
        if not self._waiting[first]:
            del self._waiting[first]
        self._size -= 1
        return task

    def count(self, task: Candidate) -> None:
        """Note that a task was chosen."""
        self._taken.update(_parts(_stratum(task)))


def _stratum(task: Candidate) -> Stratum:
    # The control group is meant to be easy.
    rank = 0 if task.is_control else _FIRST[task.pilot.level if task.pilot else "unknown"]
    return rank, task.repository, task.language, task.kind


def _parts(stratum: Stratum) -> list[tuple[int, str]]:
    return list(enumerate(stratum[1:]))


def _from_middle(task: Candidate) -> float:
    return abs(task.pilot.mean - 0.5) if task.pilot else 0.0


def _rank(task: Candidate, order: dict[str, int]) -> tuple[int, str]:
    """Return what decides between exact questions, a lot that is the same on every machine; of others, their score."""
    return (0, hashlib.sha256(task.id.encode()).hexdigest()) if task.derived else (order[task.id], "")
