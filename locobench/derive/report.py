"""Report what was derived from each repository, and why a repository yields no question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHOWN = 4


@dataclass(frozen=True)
class Choice:
    """The user's choices."""

    revision: str = "HEAD"
    languages: Sequence[str] = ()
    """Languages to look at; all if empty."""
    max_questions: int = 60
    """Most hard questions about the structure, per repository and language."""
    history: int = 15
    """Most questions from the history, per repository."""
    with_tests: bool = False
    scip: Path | None = None
    """A SCIP index of the commit, or AUTO to make one for each language."""
    together: bool = False
    """Whether to ask across the repositories, side by side, instead of about each."""


@dataclass
class LanguageReport:
    """The results for one language of a repository."""

    language: str
    files: int = 0
    lines: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    symbols: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason -> number of symbols left out."""
    not_asked: Counter[str] = field(default_factory=Counter)
    """Reason -> number of valid questions not asked."""
    history: Counter[str] = field(default_factory=Counter)
    """Reason -> number of commits unsuitable for a question."""
    index: str = ""
    """What `--scip auto` did."""


@dataclass
class Report:
    """The results for one repository."""

    name: str
    commit: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The scenarios that were written."""
    languages: list[LanguageReport] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    submodules: int = 0
    notes: list[str] = field(default_factory=list)
    tier: str = "syntax"

    def count(self, *, hard: bool) -> int:
        """Return the number of hard questions, or of those in the control group."""
        return sum(one["derived"]["control_group"] != hard for one in self.asked)


def why_none(report: Report) -> str:
    """Return in one line why a repository yields no question: counts, the most frequent reasons first."""
    if not report.languages:
        known = _counted(report.unknown)
        return f"no source file of a known language ({known})" if known else "it holds no file"
    parts = []
    for own in report.languages:
        reasons = own.reasons + own.not_asked
        said = [f"{own.files} files", f"{own.symbols} symbols"]
        said += [text for text in (_counted(own.left_out), _counted(reasons), _counted(own.history)) if text]
        parts.append(f"{own.language}: {'; '.join(said)}")
    return ". ".join(parts)


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in reasons.most_common(SHOWN))
