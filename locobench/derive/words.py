"""Why does a repository yield no question? One line, with counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locobench.derive.run import Report

SHOWN = 4


def why_none(report: Report) -> str:
    """Return why a repository yields nothing, the most frequent reasons first."""
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
