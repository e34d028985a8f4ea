"""The kinds of questions, and in which languages their answers were checked. docs/EXACT_QUESTIONS.md describes each."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_ITEMS, MOST_ITEMS, FEWEST_FILES = 3, 25, 3
"""Limits of an answer's size: fewer items can be guessed, more are tedious, and one search finds a single file."""
HARD = 0.8
"""Highest grep F1 of a hard question: above it, a single search nearly answers it."""

STRUCTURE, AGREEMENT = "code_structure", "agreement_with_the_real_fix"
"""The categories of the questions."""
CHANGED_FUNCTIONS = "changed_functions"
"""The kind of the questions from the history."""


@dataclass(frozen=True)
class Kind:
    """A kind of question."""

    checked: frozenset[str]
    """Languages in which no answer differed from an independent resolver's, over three questions."""
    control: bool = False
    """Whether this kind is for the control group: a single grep nearly answers it, so a tool can hardly help."""


def _in(languages: str) -> frozenset[str]:
    return frozenset(languages.split())


# docs/EXACT_QUESTIONS.md has the comparisons; a kind that has fewer than three questions there is not checked.
KINDS = {
    "users_in_steps": Kind(_in("c go python typescript")),
    "all_users": Kind(_in("python")),
    "importers": Kind(_in("python typescript")),
    "subtypes": Kind(_in("php python")),
    "direct_users": Kind(_in("go python typescript"), control=True),
    "class_users": Kind(_in("go java php python typescript"), control=True),
    "constant_users": Kind(_in("go python typescript"), control=True),
    CHANGED_FUNCTIONS: Kind(_in("")),
}
