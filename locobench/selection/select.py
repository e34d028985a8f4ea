"""Select tasks: the top N of those that pass the criteria, ranked by a weighted score.

The score is the weighted sum of SCORE_PARTS, each part 0-1; a scaled part is divided by the largest value among the
tasks that pass. The bonus of a question with an exact answer is 1 - grep F1. context_length counts characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from locobench.selection.criteria import SCORE_PARTS, Candidate, Criteria
from locobench.shared.errors import InputError

# Scores are written with four decimals.
SCORE_DIGITS = 4


@dataclass(frozen=True)
class Selection:
    """A ranking of the tasks that pass, of which the top ones are selected."""

    criteria: Criteria
    total: int
    largest: dict[str, float]
    """Name in the formula -> what that scaled part was divided by; 0 if nothing passed."""
    passed: list[tuple[float, Candidate]]
    """All tasks that pass and their scores (0-1, not rounded), best first; ties are ordered by id."""

    @property
    def selected(self) -> list[tuple[float, Candidate]]:
        """The first `top_n` tasks of `passed`."""
        return self.passed[: self.criteria.top_n]

    def as_json(self) -> dict[str, Any]:
        """Return the content of selected_tasks.json."""
        criteria = _without_none(asdict(self.criteria))
        del criteria["weights"]
        tasks = [
            {**_without_none(asdict(task) | {"repository": None}), "score": round(score, SCORE_DIGITS)}
            for score, task in self.selected
        ]
        return {
            "selection_criteria": {
                **criteria,
                **{f"{name}_weight": weight for name, weight in self.criteria.weights.items()},
                "context_length_unit": "characters",
                "formula": " + ".join(
                    f"{name}_weight * {part.words}" + (f" / max_{part.words}" if part.scaled else "")
                    for name, part in SCORE_PARTS.items()
                ),
            },
            "statistics": {
                "total_tasks": self.total,
                "filtered_tasks": len(self.passed),
                "selected_tasks": len(tasks),
                **{f"max_{words}": largest for words, largest in self.largest.items()},
                **{
                    f"selected_by_{name}": dict(
                        sorted(Counter(getattr(task, name) for _, task in self.selected).items())
                    )
                    for name in ("task_category", "language", "difficulty")
                },
            },
            "tasks": tasks,
        }


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
    unknown = {task.task_category for task in passing if task.grep_f1 is None} - criteria.category_bonuses.keys()
    if missing := sorted(unknown):
        raise InputError(
            f"no category bonus for {', '.join(missing)}; add one, 0 to 1, to CATEGORY_BONUSES or a criteria file"
        )
    parts = [(part, criteria.weights.get(name, 0)) for name, part in SCORE_PARTS.items()]
    largest = {
        part.words: max((part.value(task, criteria) for task in passing), default=0)
        for part in SCORE_PARTS.values()
        if part.scaled
    }

    def score(task: Candidate) -> float:
        return sum(
            # Where the largest is 0, all are.
            weight * part.value(task, criteria) / (largest.get(part.words, 1) or 1)
            for part, weight in parts
        )

    scored = [(score(task), task) for task in passing]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].id))
    return Selection(criteria, len(everything), largest, ranked)
