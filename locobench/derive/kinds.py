"""The kinds of questions, and the languages that each is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEWEST_ITEMS, MOST_ITEMS, FEWEST_FILES = 3, 25, 3
"""Limits of an answer's size: fewer items can be guessed, more are tedious, and one search finds a single file."""
HARD = 0.8
"""Highest grep F1 of a hard question: above it, a single search nearly answers it."""

STRUCTURE, AGREEMENT = "code_structure", "agreement_with_the_real_fix"
"""The categories of the questions."""

Tier = Literal["syntax", "scip", "history"]


@dataclass(frozen=True)
class Kind:
    """A kind of question."""

    title: str
    family: Literal["structure", "history"]
    control: bool = False
    """Whether this kind is for the control group: a single grep nearly answers it, so a tool can hardly help."""
    needs_scip: bool = False
    checked: frozenset[str] = frozenset()
    """Languages in which no answer by the strict rule differed from an independent resolver's, over three questions."""


def _in(languages: str) -> frozenset[str]:
    return frozenset(languages.split())


# docs/EXACT_QUESTIONS.md has the comparisons; a kind that has fewer than three questions there is not checked.
KINDS = {
    "users_in_steps": Kind(
        "users, directly or in up to 2 or 3 steps", "structure", checked=_in("c go java php python typescript")
    ),
    "all_users": Kind("users in any number of steps", "structure", checked=_in("python typescript")),
    "importers": Kind("modules that import a module, directly or not", "structure", checked=_in("python typescript")),
    "subtypes": Kind("subtypes of a type", "structure", checked=_in("php python")),
    "overriders": Kind("methods that override a method", "structure", checked=_in("python")),
    "non_overriders": Kind("subtypes that do not override a method", "structure", checked=_in("php python")),
    "same_name_callers": Kind("callers of one of several methods of one name", "structure", needs_scip=True),
    "call_path": Kind("a path of calls from one function to another", "structure", needs_scip=True),
    "direct_users": Kind("direct users of a function", "structure", control=True, checked=_in("go python typescript")),
    "class_users": Kind(
        "direct users of a class", "structure", control=True, checked=_in("go java php python typescript")
    ),
    "constant_users": Kind(
        "direct users of a constant", "structure", control=True, checked=_in("go python typescript")
    ),
    "changed_functions": Kind("functions that a fix or feature had to change", "history"),
}
