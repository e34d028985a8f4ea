"""The kinds of questions, and in which languages their answers were checked. docs/EXACT_QUESTIONS.md describes each."""

from __future__ import annotations

FEWEST_ITEMS, MOST_ITEMS, FEWEST_FILES = 3, 25, 3
"""Limits of an answer's size: fewer items can be guessed, more are tedious, and one search finds a single file."""
HARD = 0.8
"""Highest grep F1 of a hard question: above it, a single search nearly answers it."""

STRUCTURE, AGREEMENT = "code_structure", "agreement_with_the_real_fix"
"""The categories of the questions."""
CHANGED_FUNCTIONS = "changed_functions"
"""The kind of the questions from the history."""


CONTROL = frozenset({"direct_users", "class_users", "constant_users"})
"""The kinds of the control group: a single grep nearly answers them, so a tool can hardly help."""

# docs/EXACT_QUESTIONS.md has the comparisons; a kind that has fewer than three questions there is not checked.
CHECKED = {
    "users_in_steps": ("c", "go", "python", "typescript"),
    "all_users": ("python",),
    "importers": ("python", "typescript"),
    "subtypes": ("php", "python"),
    "direct_users": ("go", "python", "typescript"),
    "class_users": ("go", "java", "php", "python", "typescript"),
    "constant_users": ("go", "python", "typescript"),
    CHANGED_FUNCTIONS: (),
}
"""Kind -> languages in which no answer differed from an independent resolver's."""
