#!/usr/bin/env python3
"""Select the tasks where code search should matter most: thresholds, a weighted score, the top N."""

from locobench.commands.select_tasks import command, main
from locobench.selection.criteria import (
    CATEGORY_BONUSES,
    MIN_CONTEXT_LENGTH,
    MIN_FILES_COUNT,
    SCORE_PARTS,
    TOP_N,
    Candidate,
    Criteria,
)
from locobench.selection.select import Selection, select

__all__ = [
    "CATEGORY_BONUSES",
    "MIN_CONTEXT_LENGTH",
    "MIN_FILES_COUNT",
    "SCORE_PARTS",
    "TOP_N",
    "Candidate",
    "Criteria",
    "Selection",
    "command",
    "main",
    "select",
]

if __name__ == "__main__":
    command()
