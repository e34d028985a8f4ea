"""Which tasks are selected: those that pass the criteria, ranked by a weighted score, the top N.

The score is the weighted sum of SCORE_PARTS, each part 0-1; a part that is scaled is divided by the largest among the
tasks that pass. A question with an exact answer has 1 - grep F1 for its bonus. context_length counts characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from locobench.selection.criteria import SCORE_PARTS, Candidate, Criteria
from locobench.shared.errors import InputError

# Scores are published with four digits.
SCORE_DIGITS = 4


@dataclass(frozen=True)
class Selection:
    """The outcome: the top tasks with their scores, best first, and all that passed."""

    criteria: Criteria
    total: int
    largest: dict[str, float]
    """What the scaled parts of the score were divided by, by the words of the formula; 0 when nothing passed."""
    passed: list[tuple[float, Candidate]]
    """All tasks that pass with their scores (0-1, not rounded), best first; equal scores by id."""

    @property
    def selected(self) -> list[tuple[float, Candidate]]:
        """The top tasks of `passed`."""
        return self.passed[: self.criteria.top_n]

    def as_json(self) -> dict[str, Any]:
        """Return what selected_tasks.json holds."""
        criteria = _without_none(asdict(self.criteria))
        del criteria["weights"]
        tasks = [{**_without_none(asdict(task)), "score": round(score, SCORE_DIGITS)} for score, task in self.selected]
        for task in tasks:
            del task["title"]
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
    """Return what was asked for or measured."""
    return {name: value for name, value in values.items() if value is not None}


def select(tasks: Iterable[Candidate], criteria: Criteria) -> Selection:
    """Score the tasks that pass `criteria` and rank them.

    Raises:
        InputError: the criteria cannot be used, or lack the bonus of a category that passes.
    """
    criteria.check()
    everything = list(tasks)
    passing = [task for task in everything if criteria.pass_task(task)]
    unknown = {task.task_category for task in passing if task.grep_f1 is None} - criteria.category_bonuses.keys()
    if missing := sorted(unknown):
        raise InputError(
            f"no category bonus for {', '.join(missing)}; add one, 0 to 1, to [category_bonuses] of a criteria file"
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
