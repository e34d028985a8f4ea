"""The criteria for selecting tasks: thresholds and filters to pass, and the weights of the score.

Their values are constants and flags of select_tasks.py, whose help must not wait for pydantic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from locobench.shared.errors import InputError

if TYPE_CHECKING:
    from locobench.selection.candidates import Candidate


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
