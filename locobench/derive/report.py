"""Report what was derived from each repository, and why there are no more questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SHOWN = 8
"""Most reasons of a sort that a line names."""


@dataclass(frozen=True)
class Choice:
    """The user's choices."""

    revision: str = "HEAD"
    max_questions: int = 60
    """Most hard questions about the structure, per repository and language."""
    history: int = 15
    """Most questions from the history, per repository."""
    together: bool = False
    """Whether to ask across the repositories, side by side, instead of about each."""


@dataclass
class LanguageReport:
    """The results for one language of a repository."""

    language: str
    files: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> number of files left out."""
    symbols: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason -> number of symbols left out, or of valid questions not asked."""
    history: Counter[str] = field(default_factory=Counter)
    """Reason -> number of commits unsuitable for a question."""

    def __str__(self) -> str:
        left_out = map(_counted, (self.left_out, self.reasons, self.history))
        parts = (f"{self.files} files, {self.symbols} symbols", *left_out)
        return f"{self.language}: {'; '.join(filter(None, parts))}"


@dataclass
class Report:
    """The results for one repository."""

    name: str
    commit: str
    scenarios: list[dict[str, Any]] = field(default_factory=list)
    """The scenarios that were written."""
    languages: list[LanguageReport] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    """Suffix -> number of files in no known language."""
    notes: list[str] = field(default_factory=list)

    def count(self, *, hard: bool) -> int:
        """Return the number of hard questions, or of those in the control group."""
        return sum(one["derived"]["control_group"] != hard for one in self.scenarios)

    def why_no_more(self) -> Iterator[str]:
        """Yield what was looked at and left out: a line per language, the most frequent reasons first."""
        yield from map(str, self.languages)
        if not self.languages:
            known = _counted(self.unknown)
            yield f"no source file of a known language ({known})" if known else "it holds no file"


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in reasons.most_common(SHOWN))
