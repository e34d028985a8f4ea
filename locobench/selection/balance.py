"""Choose tasks by what was measured on them, with repositories, languages and kinds in balance.

Where nothing was measured, nothing about a question tells how hard it is, so the balance and the lot decide.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Sequence

from locobench.selection.candidates import Candidate

SAME_ITEMS = 0.6
"""A question that shares this much of its answer with a chosen one asks nearly the same."""
_FIRST = {"between": 0, "unknown": 1, "ceiling": 2, "floor": 2}

Stratum = tuple[bool, int, str, str, str]
"""Whether of the control group, rank by the pilot, repository, language, kind."""


def choose(ranked: Sequence[Candidate], most: int) -> tuple[list[Candidate], int]:
    """Return at most `most` tasks in the order chosen, and how many were left out because another asks nearly the same.

    Tasks at the pilot's ceiling or floor come last. The control group keeps its share, in every prefix of the list.
    The next task is from the repository, then the language, then the kind with the fewest chosen so far.

    Args:
        ranked: the tasks that pass, the better ones first; the order decides between tasks of one stratum that the
            pilot measured alike.
        most: number of tasks to choose.
    """
    waiting: defaultdict[Stratum, deque[Candidate]] = defaultdict(deque)
    for _, task in sorted(enumerate(ranked), key=_order):
        waiting[_stratum(task)].append(task)
    share = sum(task.is_control for task in ranked) / max(1, len(ranked))
    taken: Counter[tuple[bool, int, str]] = Counter()
    chosen: list[Candidate] = []
    by_repository: defaultdict[str, list[Candidate]] = defaultdict(list)
    controls = same = 0
    while len(chosen) < most and waiting:
        due = controls + 0.5 <= share * (len(chosen) + 1)
        first = min(waiting, key=lambda s: (s[0] != due, s[1], *(taken[part] for part in _parts(s)), s))
        task = waiting[first].popleft()
        if not waiting[first]:
            del waiting[first]
        if any(_nearly_same(task, other) for other in by_repository[task.repository]):
            same += 1
            continue
        taken.update(_parts(first))
        by_repository[task.repository].append(task)
        chosen.append(task)
        controls += task.is_control
    return chosen, same


def _stratum(task: Candidate) -> Stratum:
    # The control group is meant to be easy.
    rank = 0 if task.is_control else _FIRST[task.pilot.level if task.pilot else "unknown"]
    return task.is_control, rank, task.repository, task.language, task.kind


def _parts(stratum: Stratum) -> list[tuple[bool, int, str]]:
    """Return what is counted of the chosen tasks, apart for the control group."""
    return [(stratum[0], place, part) for place, part in enumerate(stratum[2:])]


def _order(placed: tuple[int, Candidate]) -> tuple[float, int, str]:
    """Return what decides within a stratum: nearest to one half, then the score, or for exact questions a lot.

    The lot is the same on every machine.
    """
    place, task = placed
    from_middle = abs(task.pilot.mean - 0.5) if task.pilot else 0.0
    lot = hashlib.sha256(task.id.encode()).hexdigest()
    return (from_middle, 0, lot) if task.derived else (from_middle, place, "")


def _nearly_same(task: Candidate, chosen: Candidate) -> bool:
    return bool(task.exact_items) and len(task.exact_items & chosen.exact_items) >= SAME_ITEMS * len(task.exact_items)
