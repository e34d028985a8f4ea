"""The criteria for selecting tasks: thresholds and filters to pass, and the weights of the score.

Their values are constants and flags of select_tasks.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Criteria:
    """The criteria that tasks must pass and are ranked by."""

    min_context_length: int
    """In characters; a task needs strictly more to pass."""
    min_files_count: int
    """Number of context files; a task needs strictly more to pass."""
    top_n: int
    context_weight: float
    files_weight: float
    category_weight: float
    """The weights of the score sum to 1."""
    category_bonuses: Mapping[str, float]
    """Expected gain of each category from code search, 0-1."""
    categories: Sequence[str] | None = None
    languages: Sequence[str] | None = None
    difficulties: Sequence[str] | None = None
    """The three filters list the values to keep; None keeps all."""

    def check(self) -> None:
        """Raise InputError unless the weights sum to 1 and all weights, bonuses and limits are in range."""
        weights = {name: value for name, value in vars(self).items() if name.endswith("_weight")}
        total = math.fsum(weights.values())
        if not all(weight >= 0 for weight in weights.values()) or not math.isclose(total, 1, abs_tol=1e-9):
            shown = " + ".join(f"{name} {weight}" for name, weight in weights.items())
            raise InputError(f"weights must be at least 0 and sum to 1, got {shown} = {total:g}")
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
