"""The criteria for selecting tasks: thresholds and filters to pass, and the weighted parts of the score.

Their values are constants of select_tasks.py. Nothing heavy is imported here: each part of the score is a flag.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from locobench.shared.errors import InputError


@dataclass(frozen=True, slots=True)
class DerivedFacts:
    """Facts about a question with an exact answer. None of them tells how hard it is for an agent."""

    kind: str = ""
    control_group: bool = False
    grep_f1: float | None = None
    """F1 of a single grep's answer, 0-1."""
    greps: int | None = None
    depth: int | None = None
    items: int | None = None


@dataclass(frozen=True, slots=True)
class Pilot:
    """How the user's own agent did on a task before it was selected."""

    mean: float
    """Mean reward, 0-1."""
    runs: tuple[str, ...]
    """Ids of the runs, which must not count in a comparison over the selected tasks."""

    @property
    def level(self) -> str:
        """`ceiling` or `floor` if every run earned 1 or 0, else `between`."""
        return "ceiling" if self.mean >= 1 else "floor" if self.mean <= 0 else "between"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The facts about a task that the selection uses."""

    id: str
    task_category: str
    difficulty: str
    """As published; `unknown` for a question with an exact answer."""
    language: str
    context_length: int
    """Characters."""
    files_count: int
    derived: DerivedFacts | None = None
    """Set for a question with an exact answer."""
    repository: str | None = None
    """The code base that it is about; None where none is named."""
    answer: frozenset[str] = frozenset()
    """The items of an exact answer."""
    pilot: Pilot | None = None
    """None if it was not in the pilot."""

    @property
    def kind(self) -> str:
        """What is asked: the kind of an exact question, or the category."""
        return (self.derived and self.derived.kind) or self.task_category

    @property
    def measured_difficulty(self) -> str:
        """What the pilot measured; without one, the record's own difficulty."""
        return self.pilot.level if self.pilot else self.difficulty


def _bonus(task: Candidate, criteria: Criteria) -> float:
    """Return the expected gain from code search of a task's category, 0-1."""
    return criteria.category_bonuses[task.task_category]


class Part(NamedTuple):
    """A part of the score."""

    words: str
    """Its name in the formula in selected_tasks.json."""
    value: Callable[[Candidate, Criteria], float]
    """A task's value: 0-1, or any number >= 0 if `scaled`."""
    scaled: bool = False
    """Whether to divide the value by the largest among the tasks that pass."""


# Each row is a part of the score, with a flag --<name>_weight. Its weight is 0 unless select_tasks.py or
# the flag sets another.
SCORE_PARTS = {
    "context": Part("context_length", lambda task, _: task.context_length, scaled=True),
    "files": Part("files_count", lambda task, _: task.files_count, scaled=True),
    "category": Part("category_bonus", _bonus),
}


@dataclass(frozen=True)
class Criteria:
    """The criteria that tasks must pass and are ranked by."""

    min_context_length: int
    """In characters; a task needs strictly more to pass."""
    min_files_count: int
    """Number of context files; a task needs strictly more to pass."""
    top_n: int
    weights: Mapping[str, float]
    """Weights by name in SCORE_PARTS; they sum to 1."""
    category_bonuses: Mapping[str, float]
    """Expected gain of each category from code search, 0-1."""
    categories: Sequence[str] | None = None
    languages: Sequence[str] | None = None
    difficulties: Sequence[str] | None = None
    """The three filters list the values to keep; None keeps all."""

    def check(self) -> None:
        """Raise InputError unless the weights sum to 1 and all weights, bonuses and limits are in range."""
        if unknown := sorted(self.weights.keys() - SCORE_PARTS.keys()):
            raise InputError(f"weights: no part of the score is called {unknown[0]!r}, known: {', '.join(SCORE_PARTS)}")
        weights = self.weights.values()
        if not all(weight >= 0 for weight in weights) or not math.isclose(math.fsum(weights), 1, abs_tol=1e-9):
            shown = " + ".join(f"{name} {weight}" for name, weight in self.weights.items())
            raise InputError(f"weights must be at least 0 and sum to 1, got {shown} = {math.fsum(weights):g}")
        for name, bonus in self.category_bonuses.items():
            if not 0 <= bonus <= 1:
                raise InputError(f"category_bonuses: {name}: {bonus} is not from 0 to 1")
        for name in ("min_context_length", "min_files_count", "top_n"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be 0 or more")

    def pass_task(self, task: Candidate) -> bool:
        """Return whether a task is above both thresholds and passes every filter."""
        return (
            task.context_length > self.min_context_length
            and task.files_count > self.min_files_count
            and (self.categories is None or task.task_category in self.categories)
            and (self.languages is None or task.language in self.languages)
            and (self.difficulties is None or task.difficulty in self.difficulties)
        )
