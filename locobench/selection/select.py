"""Select tasks: the top N of those that pass the criteria, by a weighted score or by what a pilot measured.

The score is the weighted sum of SCORE_PARTS, each part 0-1; a scaled part is divided by the largest value among the
tasks that pass. Questions with an exact answer have no score: they, and tasks of which some were in a pilot, are
chosen in balance. context_length counts characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from locobench.selection.balance import choose
from locobench.selection.criteria import SCORE_PARTS, Candidate, Criteria, Part
from locobench.shared.errors import InputError

# Scores are written with four decimals.
SCORE_DIGITS = 4
WRITTEN = (
    "id", "task_category", "difficulty", "language", "context_length", "files_count", "derived",
    "repository", "pilot",
)  # fmt: skip
"""The facts about a task that selected_tasks.json gives."""


@dataclass(frozen=True)
class Selection:
    """A ranking of the tasks that pass, and those selected."""

    criteria: Criteria
    total: int
    largest: dict[str, float]
    """Name in the formula -> what that scaled part was divided by; 0 if nothing passed."""
    passed: list[tuple[float, Candidate]]
    """All tasks that pass and their scores (0-1, not rounded; 0 for exact questions), best first, ties by id."""
    selected: list[tuple[float, Candidate]]
    """At most `top_n` of them, in order."""
    nearly_same: int | None = None
    """How many were left out because a selected one asks nearly the same; None if selected by score alone."""

    @property
    def controls(self) -> int:
        """Number of selected tasks of the control group."""
        return sum(bool(task.derived and task.derived.control_group) for _, task in self.selected)

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """Number of selected tasks of each category, language and so on."""
        fields = {"task_category": "task_category", "language": "language", "difficulty": "measured_difficulty"}
        if self.nearly_same is not None:
            fields |= {"repository": "repository", "kind": "kind"}
        return {name: Counter(str(getattr(task, field)) for _, task in self.selected) for name, field in fields.items()}

    def as_json(self) -> dict[str, Any]:
        """Return the content of selected_tasks.json."""
        criteria = _without_none(asdict(self.criteria))
        del criteria["weights"]
        tasks = [_task_json(score, task) for score, task in self.selected]
        balance = {"selected_control_group": self.controls, "left_out_as_nearly_same": self.nearly_same}
        return {
            "selection_criteria": {
                **criteria,
                **{f"{name}_weight": weight for name, weight in self.criteria.weights.items()},
                "context_length_unit": "characters",
                "formula": " + ".join(
                    f"{name}_weight * {part.words}" + (f" / max_{part.words}" if part.scaled else "")
                    for name, part in _weighted_parts(self.criteria).items()
                ),
            },
            "statistics": {
                "total_tasks": self.total,
                "filtered_tasks": len(self.passed),
                "selected_tasks": len(tasks),
                **{f"max_{words}": largest for words, largest in self.largest.items()},
                **{f"selected_by_{name}": dict(sorted(counts.items())) for name, counts in self.counts.items()},
                **(balance if self.nearly_same is not None else {}),
            },
            "tasks": tasks,
        }


def _weighted_parts(criteria: Criteria) -> dict[str, Part]:
    """Return the parts of the score by name, without those whose weight is 0."""
    return {name: part for name, part in SCORE_PARTS.items() if criteria.weights.get(name)}


def _task_json(score: float, task: Candidate) -> dict[str, Any]:
    """Return a selected task as the file has it, with the difficulty that was measured and the facts beside it."""
    facts = asdict(task)
    row = {name: facts[name] for name in WRITTEN} | {"difficulty": task.measured_difficulty, "repository": None}
    if task.derived:
        row |= {"repository": task.repository, "derived": _without_none(asdict(task.derived))}
    return _without_none(row | {"score": None if task.derived else round(score, SCORE_DIGITS)})


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out filters that are not set and measurements that were not made."""
    return {name: value for name, value in values.items() if value is not None}


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
    parts = _weighted_parts(criteria)
    largest = {
        part.words: max((part.value(task, criteria) for task in passing), default=0)
        for part in parts.values()
        if part.scaled
    }

    def score(task: Candidate) -> float:
        if task.derived:
            return 0.0
        return sum(
            # Where the largest is 0, all are.
            criteria.weights[name] * part.value(task, criteria) / (largest.get(part.words, 1) or 1)
            for name, part in parts.items()
        )

    scored = [(score(task), task) for task in passing]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].id))
    if not any(task.derived or task.pilot for task in passing):
        return Selection(criteria, len(everything), largest, ranked, ranked[: criteria.top_n])
    chosen, nearly_same = choose([task for _, task in ranked], criteria.top_n)
    selected = [(score(task), task) for task in chosen]
    return Selection(criteria, len(everything), largest, ranked, selected, nearly_same)
