"""Which kinds of questions are there, and which are asked of which language?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEWEST_ITEMS, MOST_ITEMS, FEWEST_FILES = 3, 25, 3
"""An answer's size: fewer can be guessed, more are tedious, and one file is found by one search."""
HARD = 0.8
"""Grep's F1 up to which a question counts as hard: above it one search does nearly all."""

Tier = Literal["syntax", "scip", "history"]


@dataclass(frozen=True)
class Kind:
    """A kind of question."""

    title: str
    family: Literal["structure", "history"]
    control: bool = False
    """A question that one grep nearly answers: a tool can hardly help there."""
    needs_scip: bool = False
    left_out: frozenset[str] = frozenset()
    """Languages in which the independent check found less than .99 (docs/EXACT_QUESTIONS.md)."""

    def is_asked(self, language: str, tier: str) -> bool:
        """Whether the kind is exact in a language, with or without an index."""
        return (tier == "scip" or not self.needs_scip) and (tier == "scip" or language not in self.left_out)


KINDS = {
    "users_in_steps": Kind("users, directly or in up to 2 or 3 steps", "structure"),
    "all_users": Kind("users in any number of steps", "structure"),
    "importers": Kind("modules that import a module, directly or not", "structure"),
    "subtypes": Kind("subtypes of a type", "structure"),
    "overriders": Kind("methods that override a method", "structure"),
    "non_overriders": Kind("subtypes that do not override a method", "structure"),
    "same_name_callers": Kind("callers of one of several methods of one name", "structure", needs_scip=True),
    "call_path": Kind("a path of calls from one function to another", "structure", needs_scip=True),
    "direct_users": Kind("direct users of a function", "structure", control=True),
    "class_users": Kind("direct users of a class", "structure", control=True),
    "constant_users": Kind("direct users of a constant", "structure", control=True),
    "changed_functions": Kind("functions that a fix or feature had to change", "history"),
}


_USERS = frozenset({"python", "javascript", "typescript", "go", "java", "php", "c"})
CHECKED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("users_in_steps", "all_users", "direct_users", "class_users", "constant_users"), _USERS),
    "importers": frozenset({"python", "typescript"}),
    **dict.fromkeys(("subtypes", "non_overriders"), frozenset({"java", "php"})),
}
"""Languages in which a kind was compared with an independent resolver (docs/EXACT_QUESTIONS.md)."""


def is_checked(kind: str, language: str, tier: str) -> bool:
    """Whether answers of a kind were compared with an independent resolver in a language; an index's never were."""
    return tier == "syntax" and language in CHECKED.get(kind, ())
