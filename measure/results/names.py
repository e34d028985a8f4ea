"""The tasks that arms share, though they may spell their names differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from locobench.shared.errors import InputError
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
            new |= _alike(new, _tasks(found[0][1]))
        olds: dict[str, list[str]] = defaultdict(list)
        for old, name in new.items():
            olds[name].append(old)
        if twice := next((name for name, several in olds.items() if len(several) > 1), None):
            raise InputError(f"{label}: {' and '.join(olds[twice])} would both be called {twice}; tell them apart")
        renamed = [r if new[r.task_id] == r.task_id else r.model_copy(update={"task_id": new[r.task_id]}) for r in runs]
        found.append((label, renamed))
    return found


def _tasks(runs: Iterable[EvalResult]) -> set[str]:
    return {run.task_id for run in runs}


def _without_prefix(task: str, prefixes: Sequence[str]) -> str:
    prefix = next((prefix for prefix in prefixes if task.startswith(prefix) and task != prefix), "")
    return task.removeprefix(prefix)


def _alike(new: Mapping[str, str], tasks: set[str]) -> dict[str, str]:
    """Return the name in the first arm of each task that differs from it in spelling alone."""
    unmatched: dict[str, list[str]] = defaultdict(list)
    for task in tasks - set(new.values()):
        unmatched[_spelling(task)].append(task)
    own: dict[str, list[str]] = defaultdict(list)
    for old, name in new.items():
        if name not in tasks:
            own[_spelling(name)].append(old)
    return {
        olds[0]: unmatched[key][0] for key, olds in own.items() if len(olds) == 1 and len(unmatched.get(key, ())) == 1
    }


def _spelling(task: str) -> str:
    return task.replace("_", "-").casefold()
