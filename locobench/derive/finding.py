"""A question with its answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A question's target and its answer."""

    kind: str
    target: str
    """`path: Qualified.name`, or a path."""
    target_kind: str
    """The target's kind, such as `function` or `class`."""
    depth: int
    """Steps from the target to the answer; 0 means any number."""
    answer: tuple[str, ...]
    """Items of the form `path: Qualified.name`, or paths; sorted."""
    grep: tuple[str, ...]
    """The answer of a single grep."""
    outside: str = ""
    """The target's repository, if only what is outside of it is asked for."""

    @property
    def grep_f1(self) -> float:
        """F1 of a single grep's answer, 0 to 1."""
        return f1(self.answer, self.grep)


def f1(answer: Collection[str], other: Collection[str]) -> float:
    """Return the F1 of two answers, 0 to 1, to four digits."""
    common = len(set(answer) & set(other))
    return round(2 * common / (len(answer) + len(other)), 4) if common else 0.0
