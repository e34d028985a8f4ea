"""What makes a task pass and what makes it rank: thresholds, bonuses, and the parts of the score.

Imports nothing heavy: the flags of select_tasks.py show these values as their defaults.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from locobench.shared import toml
from locobench.shared.errors import InputError

MIN_CONTEXT_LENGTH = 50_000
"""Characters of context; a task passes with strictly more."""
MIN_FILES_COUNT = 5
"""Context files; a task passes with strictly more."""
TOP_N = 50

CATEGORY_BONUSES = {
    "architectural_understanding": 1.0,
    "cross_file_refactoring": 0.9,
    "bug_investigation": 0.8,
    "security_analysis": 0.7,
    "feature_implementation": 0.5,
    "code_comprehension": 0.4,
    "integration_testing": 0.3,
    "multi_session_development": 0.3,
}
"""How much each category is expected to gain from code search, 0-1, as in the published selection."""


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


def _bonus(task: Candidate, criteria: Criteria) -> float:
    """Return what a task may gain from code search, 0-1: its category's, or what one grep leaves to be found."""
    return criteria.category_bonuses[task.task_category] if task.grep_f1 is None else 1 - task.grep_f1


class Part(NamedTuple):
    """A part of the score."""

    weight: float
    """What it counts unless a criteria file or a flag says otherwise."""
    words: str
    """How the formula in selected_tasks.json and on the page calls it."""
    value: Callable[[Candidate, Criteria], float]
    """What a task has of it: 0-1, or any number from 0 where it is scaled."""
    scaled: bool = False
    """Divide it by the largest among the tasks that pass."""


# A criterion is a row, which brings its flag --<name>_weight and its key of [weights]. These weights are the published
# ones: a new row has the weight 0 until a flag or a file gives it another.
SCORE_PARTS = {
    "context": Part(0.3, "context_length", lambda task, _: task.context_length, scaled=True),
    "files": Part(0.3, "files_count", lambda task, _: task.files_count, scaled=True),
    "category": Part(0.4, "category_bonus", _bonus),
}


def _default_weights() -> Mapping[str, float]:
    return {name: part.weight for name, part in SCORE_PARTS.items()}


@dataclass(frozen=True)
class Criteria:
    """What makes a task pass, and what makes it rank."""

    # For `load`: a name that is none and a value of another type are errors.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}

    min_context_length: int = MIN_CONTEXT_LENGTH
    min_files_count: int = MIN_FILES_COUNT
    top_n: int = TOP_N
    weights: Mapping[str, float] = field(default_factory=_default_weights)
    """By the names in SCORE_PARTS; they sum to 1."""
    category_bonuses: Mapping[str, float] = field(default_factory=lambda: CATEGORY_BONUSES)
    categories: Sequence[str] | None = None
    languages: Sequence[str] | None = None
    difficulties: Sequence[str] | None = None
    """What a task may be of; None for any."""
    max_closed: float | None = None
    """Reward without the code above which a task fails; one that was not measured passes."""
    min_truth: float | None = None
    """Truth (0-100) below which a task fails; one that was not audited passes."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read criteria from a TOML file: the names are the fields above, what it leaves out keeps its default.

        `[weights]` and `[category_bonuses]` are tables; what they leave out keeps its default, too.

        Raises:
            InputError: the file cannot be read or used; the message names the key.
        """
        from pydantic import TypeAdapter, ValidationError

        from locobench.shared.validation import explain

        given = toml.read(path)
        try:
            # As JSON, where a strict dataclass may come from an object.
            criteria = TypeAdapter(cls).validate_json(json.dumps(given, default=str))
            criteria = replace(
                criteria,
                weights={**_default_weights(), **criteria.weights},
                category_bonuses={**CATEGORY_BONUSES, **criteria.category_bonuses},
            )
            criteria.check()
        except ValidationError as error:
            known = ", ".join(field.name for field in fields(cls))
            raise InputError(f"{path}: {explain(error)}; the keys are {known}") from None
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return criteria

    def check(self) -> None:
        """Raise InputError unless the weights sum to 1 and every weight, bonus and limit is in its range."""
        if unknown := sorted(self.weights.keys() - SCORE_PARTS.keys()):
            raise InputError(f"weights: no part of the score is called {unknown[0]!r}, known: {', '.join(SCORE_PARTS)}")
        weights = self.weights.values()
        if not all(weight >= 0 for weight in weights) or not math.isclose(math.fsum(weights), 1, abs_tol=1e-9):
            shown = " + ".join(f"{name} {weight}" for name, weight in self.weights.items())
            raise InputError(f"weights must be at least 0 and sum to 1, got {shown} = {math.fsum(weights):g}")
        for name, bonus in self.category_bonuses.items():
            if not 0 <= bonus <= 1:
                raise InputError(f"category_bonuses: {name}: {bonus} is not from 0 to 1")
        most = {"max_closed": 1.0, "min_truth": 100.0}
        for name in ("min_context_length", "min_files_count", "top_n", *most):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= most.get(name, math.inf):
                raise InputError(f"{name} must be {f'from 0 to {most[name]:g}' if name in most else '0 or more'}")

    def pass_task(self, task: Candidate) -> bool:
        """Say whether a task is above both thresholds and in every filter."""
        return (
            task.context_length > self.min_context_length
            and task.files_count > self.min_files_count
            and (self.categories is None or task.task_category in self.categories)
            and (self.languages is None or task.language in self.languages)
            and (self.difficulties is None or task.difficulty in self.difficulties)
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
