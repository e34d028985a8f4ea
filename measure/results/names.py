"""The tasks that arms share, though they may spell their names differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from locobench.shared.errors import InputError
from locobench.shared.grouping import grouped
from measure.records import EvalResult

Arm = tuple[str, list[EvalResult]]
"""Label and runs."""


def same_names(arms: Sequence[Arm], prefixes: Sequence[str]) -> list[Arm]:
    """Give the tasks of all arms the names that they have in the first.

    Prefixes are left out of all names. What is left and differs from a task of the first arm in `-`, `_` and case alone
    is that task: a folder is often called otherwise than its task in the registry. InputError if two tasks of an arm
    would become one.
    """
    found: list[Arm] = []
    for label, runs in arms:
        new = {task: _without_prefix(task, prefixes) for task in sorted(_tasks(runs))}
        if found:
            theirs, ours = _tasks(found[0][1]), set(new.values())
            unmatched, own = _by_spelling(theirs - ours), _by_spelling(ours - theirs)
            alike = {own[spelling]: unmatched[spelling] for spelling in own.keys() & unmatched.keys()}
            new = {old: alike.get(name, name) for old, name in new.items()}
        olds = grouped(new, new.__getitem__)
        if twice := next((name for name, several in olds.items() if len(several) > 1), None):
            raise InputError(f"{label}: {' and '.join(olds[twice])} would both be called {twice}; rename one")
        renamed = [r if new[r.task_id] == r.task_id else r.model_copy(update={"task_id": new[r.task_id]}) for r in runs]
        found.append((label, renamed))
    return found


def _tasks(runs: Iterable[EvalResult]) -> set[str]:
    return {run.task_id for run in runs}


def _without_prefix(task: str, prefixes: Sequence[str]) -> str:
    prefix = next((prefix for prefix in prefixes if task.startswith(prefix) and task != prefix), "")
    return task.removeprefix(prefix)


def _by_spelling(tasks: Iterable[str]) -> dict[str, str]:
    """Return the tasks that differ from all others in more than `-`, `_` and case, by their spelling without these."""
    spelled = {task: task.replace("_", "-").casefold() for task in tasks}
    counts = Counter(spelled.values())
    return {spelling: task for task, spelling in spelled.items() if counts[spelling] == 1}
