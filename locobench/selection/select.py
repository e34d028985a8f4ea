"""Which tasks are selected: thresholds, a weighted score, the top N.

score = w_context * context_length / max + w_files * files_count / max + w_category * bonus, each part 0-1, the maxima
taken over the tasks that pass the thresholds and filters. The bonus is the category's; that of a question with an exact
answer is 1 - grep F1. context_length counts characters, not tokens.

Imports nothing heavy: the flags of select_tasks.py have these criteria as their defaults.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from locobench.dataset.catalog import ALL_CATEGORIES, CATEGORY_BONUSES, DIFFICULTIES, LANGUAGES
from locobench.shared.errors import InputError

# Scores are published with four digits.
SCORE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the selection needs to know of a task."""

    id: str
    task_category: str
    difficulty: str
    language: str
    context_length: int
    """Characters."""
    files_count: int
    grep_f1: float | None = None
    """Of a question with an exact answer: F1 of one grep's answer, 0-1."""
    title: str = ""
    """For people: shown on the report page, not part of selected_tasks.json."""
    open_reward: float | None = None
    closed_reward: float | None = None
    """Mean reward, 0-1, of agents that had the code, and of those that had not; None where not measured."""
    truth: float | None = None
    """How true of its code an audit found the ground truth, 0-100; None where not audited."""


@dataclass(frozen=True)
class Criteria:
    """What makes a task pass, and what makes it rank."""

    min_context_length: int = 50_000
    """Characters; a task passes with strictly more."""
    min_files_count: int = 5
    """A task passes with strictly more."""
    top_n: int = 50
    context_weight: float = 0.3
    files_weight: float = 0.3
    category_weight: float = 0.4
    categories: Sequence[str] = ALL_CATEGORIES
    languages: Sequence[str] = LANGUAGES
    difficulties: Sequence[str] = DIFFICULTIES
    max_closed: float | None = None
    """Reward without the code above which a task fails; one that was not measured passes."""
    min_truth: float | None = None
    """Truth (0-100) below which a task fails; one that was not audited passes."""

    def check(self) -> None:
        """Raise InputError unless the weights are at least 0 and sum to 1."""
        weights = (self.context_weight, self.files_weight, self.category_weight)
        if not all(weight >= 0 for weight in weights) or not math.isclose(math.fsum(weights), 1, abs_tol=1e-9):
            raise InputError(
                "--context_weight, --files_weight and --category_weight must be at least 0 and sum to 1, "
                f"got {' + '.join(map(str, weights))} = {math.fsum(weights):g}"
            )

    def pass_task(self, task: Candidate) -> bool:
        """Say whether a task is above both thresholds and in every filter."""
        return (
            task.context_length > self.min_context_length
            and task.files_count > self.min_files_count
            and task.task_category in self.categories
            and task.language in self.languages
            and task.difficulty in self.difficulties
            and not self.needs_no_code(task)
            and not self.is_untrue(task)
        )

    def needs_no_code(self, task: Candidate) -> bool:
        """Whether the task can be answered without reading the code."""
        reward, most = task.closed_reward, self.max_closed
        return reward is not None and most is not None and reward > most

    def is_untrue(self, task: Candidate) -> bool:
        """Whether the task's ground truth is too far from its code."""
        truth, least = task.truth, self.min_truth
        return truth is not None and least is not None and truth < least


@dataclass(frozen=True)
class Selection:
    """The outcome: the top tasks with their scores, best first, and all that passed."""

    criteria: Criteria
    total: int
    passed: list[tuple[float, Candidate]]
    """All tasks that pass with their scores (0-1, not rounded), best first; equal scores by id."""

    @property
    def selected(self) -> list[tuple[float, Candidate]]:
        """The top tasks of `passed`."""
        return self.passed[: self.criteria.top_n]

    def as_json(self) -> dict[str, Any]:
        """Return what selected_tasks.json holds."""
        criteria = _without_none(asdict(self.criteria))
        tasks = [{**_without_none(asdict(task)), "score": round(score, SCORE_DIGITS)} for score, task in self.selected]
        for task in tasks:
            del task["title"]
        return {
            "selection_criteria": {
                **criteria,
                "context_length_unit": "characters",
                "category_bonuses": CATEGORY_BONUSES,
                "formula": "context_weight * context_length / max_context_length"
                " + files_weight * files_count / max_files_count + category_weight * category_bonus",
            },
            "statistics": {
                "total_tasks": self.total,
                "filtered_tasks": len(self.passed),
                "selected_tasks": len(tasks),
                "max_context_length": max((task.context_length for _, task in self.passed), default=0),
                "max_files_count": max((task.files_count for _, task in self.passed), default=0),
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


def _bonus(task: Candidate) -> float:
    """Return what a task may gain from code search, 0-1: its category's, or what one grep leaves to be found."""
    return CATEGORY_BONUSES[task.task_category] if task.grep_f1 is None else 1 - task.grep_f1


def select(tasks: Iterable[Candidate], criteria: Criteria) -> Selection:
    """Score the tasks that pass `criteria` and rank them.

    Raises:
        InputError: the weights do not sum to 1.
    """
    criteria.check()
    everything = list(tasks)
    passing = [task for task in everything if criteria.pass_task(task)]
    if missing := sorted({task.task_category for task in passing if task.grep_f1 is None} - CATEGORY_BONUSES.keys()):
        raise InputError(f"no category bonus for {', '.join(missing)}; add one, 0 to 1, to CATEGORY_BONUSES")
    max_context = max((task.context_length for task in passing), default=1)
    max_files = max((task.files_count for task in passing), default=1)
    scored = [
        (
            criteria.context_weight * task.context_length / max_context
            + criteria.files_weight * task.files_count / max_files
            + criteria.category_weight * _bonus(task),
            task,
        )
        for task in passing
    ]
    return Selection(criteria, len(everything), sorted(scored, key=lambda pair: (-pair[0], pair[1].id)))
