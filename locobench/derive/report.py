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
        left_out = {"files": self.left_out, "symbols": self.reasons, "commits": self.history}
        lines = [f"  {what} left out: {_counted(reasons)}" for what, reasons in left_out.items() if reasons]
        return "\n".join([f"{self.language}: {self.files} files, {self.symbols} symbols", *lines])


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
        """Yield what was read and left out: a few lines per language, the most frequent reasons first."""
        for language in self.languages:
            yield from str(language).splitlines()
        if not self.languages:
            known = ", ".join(f"{number} {suffix}" for suffix, number in self.unknown.most_common(SHOWN))
            yield f"no source file of a known language ({known})" if known else "it holds no file"


def _counted(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason} ({number})" for reason, number in reasons.most_common(SHOWN))
