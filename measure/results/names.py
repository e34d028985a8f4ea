"""The tasks that two arms share: those of one name, and those that a user's table pairs."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from locobench.shared.errors import InputError
from locobench.shared.files import read_text
from measure.records import EvalResult

Arm = tuple[str, list[EvalResult]]
"""Label and runs."""


def read_names(path: Path) -> dict[str, str]:
    """Read a table of two columns, the name in A and the name in B; return A's name by B's, or raise InputError."""
    lines = read_text(path).splitlines()
    names: dict[str, str] = {}
    for number, cells in enumerate(csv.reader(lines, delimiter=";" if ";" in (lines or [""])[0] else ","), start=1):
        if len(cells) != 2 or not all(cell.strip() for cell in cells):
            raise InputError(f"{path}: row {number} has no two names; write the name in A and the name in B")
        a, b = (cell.strip() for cell in cells)
        if names.setdefault(b, a) != a:
            raise InputError(f"{path}: row {number} repeats {b}")
    return names


def same_names(arms: Sequence[Arm], prefixes: Sequence[str], names: Mapping[str, str]) -> list[Arm]:
    """Give the tasks of all arms the names that they have in the first.

    Prefixes are left out of all names; those of later arms are replaced. What is left and differs from a task of the
    first arm in `-`, `_` and case alone is that task: a folder is often called otherwise than its task in the registry.

    Raises:
        InputError: two tasks of an arm would become one, or no name of `names` is there.
    """
    if names and not any(run.task_id in names for _, runs in arms[1:] for run in runs):
        raise InputError(f"no arm has a task of the table of names, such as {next(iter(names))}")
    found: list[Arm] = []
    for label, runs in arms:
        new = {task: _stripped(task, prefixes) for task in sorted(_tasks(runs))}
        if found:
            new |= {task: names[task] for task in new if task in names}
            new |= _alike(new, _tasks(found[0][1]))
        olds: dict[str, list[str]] = defaultdict(list)
        for old, name in new.items():
            olds[name].append(old)
        if twice := next((name for name, several in olds.items() if len(several) > 1), None):
            raise InputError(f"{label}: {' and '.join(olds[twice])} would both be called {twice}; tell them apart")
        found.append(
            (
                label,
                [r if new[r.task_id] == r.task_id else r.model_copy(update={"task_id": new[r.task_id]}) for r in runs],
            )
        )
    return found


def _tasks(runs: Iterable[EvalResult]) -> set[str]:
    return {run.task_id for run in runs}


def _stripped(task: str, prefixes: Sequence[str]) -> str:
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
