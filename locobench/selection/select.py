"""Select tasks: the top N of those that pass the criteria, by a weighted score or by what a pilot measured.

The score is FORMULA, 0 to 1; the maxima are those of the tasks that pass. Questions with an exact answer have no score:
they, and tasks of which some were in a pilot, are chosen in balance. context_length counts characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from locobench.selection.balance import choose
from locobench.selection.candidates import Candidate
from locobench.selection.criteria import Criteria
from locobench.shared.errors import InputError

FORMULA = (
    "context_weight * context_length / max_context_length + files_weight * files_count / max_files_count"
    " + category_weight * category_bonus"
)


@dataclass(frozen=True)
class Selection:
    """A ranking of the tasks that pass, and those selected."""

    criteria: Criteria
    total: int
    max_context_length: int
    max_files_count: int
    """The maxima of the formula; 0 if nothing passed."""
    passed: list[tuple[float, Candidate]]
    """All tasks that pass and their scores (0-1, not rounded; 0 for exact questions), best first, ties by id."""
    selected: list[tuple[float, Candidate]]
    """At most `top_n` of them, in order."""
    nearly_same: int | None = None
    """How many were left out because a selected one asks nearly the same; None if selected by score alone."""

    @property
    def controls(self) -> int:
        """Number of selected tasks of the control group."""
        return sum(task.is_control for _, task in self.selected)

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """Number of selected tasks of each category, language and so on."""
        fields = {"task_category": "task_category", "language": "language", "difficulty": "measured_difficulty"}
        if self.nearly_same is not None:
            fields |= {"repository": "repository", "kind": "kind"}
        return {name: Counter(str(getattr(task, field)) for _, task in self.selected) for name, field in fields.items()}

    def as_json(self) -> dict[str, Any]:
        """Return the content of selected_tasks.json."""
        tasks = [_task_json(score, task) for score, task in self.selected]
        balance = {"selected_control_group": self.controls, "left_out_as_nearly_same": self.nearly_same}
        return {
            "selection_criteria": {
                **{name: value for name, value in vars(self.criteria).items() if value is not None},
                "context_length_unit": "characters",
                "formula": FORMULA,
            },
            "statistics": {
                "total_tasks": self.total,
                "filtered_tasks": len(self.passed),
                "selected_tasks": len(tasks),
                "max_context_length": self.max_context_length,
                "max_files_count": self.max_files_count,
                **{f"selected_by_{name}": dict(sorted(counts.items())) for name, counts in self.counts.items()},
                **(balance if self.nearly_same is not None else {}),
            },
            "tasks": tasks,
        }


def _task_json(score: float, task: Candidate) -> dict[str, Any]:
    """Return a selected task as the file has it, with the difficulty that was measured."""
    exact = task.derived is not None
    row = {
        "id": task.id,
        "task_category": task.task_category,
        "difficulty": task.measured_difficulty,
        "language": task.language,
        "context_length": task.context_length,
        "files_count": task.files_count,
        "repository": task.repository if exact else None,
        "derived": task.derived and task.derived.model_dump(exclude={"repository"}),
        "pilot": task.pilot and asdict(task.pilot),
        "score": None if exact else round(score, 4),
    }
    return {name: value for name, value in row.items() if value is not None}


def select(tasks: Iterable[Candidate], criteria: Criteria) -> Selection:
    """Score the tasks that pass `criteria` and rank them.

    Raises:
        InputError: the criteria are invalid, or lack a bonus for the category of a task that passes.
    """
    criteria.check()
    everything = list(tasks)
    passing = [task for task in everything if criteria.pass_task(task)]
    unknown = {task.task_category for task in passing if task.derived is None} - criteria.category_bonuses.keys()
    if missing := sorted(unknown):
        raise InputError(
            f"no category bonus for {', '.join(missing)}; add one, 0 to 1, to CATEGORY_BONUSES in select_tasks.py"
        )
    max_context = max((task.context_length for task in passing), default=0)
    max_files = max((task.files_count for task in passing), default=0)

    def score(task: Candidate) -> float:
        if task.derived:
            return 0.0
        # Where a maximum is 0, all are.
        return (
            criteria.context_weight * task.context_length / (max_context or 1)
            + criteria.files_weight * task.files_count / (max_files or 1)
            + criteria.category_weight * criteria.category_bonuses[task.task_category]
        )

    scored = [(score(task), task) for task in passing]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].id))
    if not any(task.derived or task.pilot for task in passing):
        return Selection(criteria, len(everything), max_context, max_files, ranked, ranked[: criteria.top_n])
    chosen, nearly_same = choose([task for _, task in ranked], criteria.top_n)
    selected = [(score(task), task) for task in chosen]
    return Selection(criteria, len(everything), max_context, max_files, ranked, selected, nearly_same)
