"""Explain in one line which fields of an invalid record are wrong, and why."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

# Errors whose message needs no value: the value of an unknown key may be a secret.
_SPEAK_FOR_THEMSELVES = ("missing", "value_error", "extra_forbidden")

LARGEST_COUNT = 2**53
"""The largest integer up to which floats are exact; a larger count means corrupt data."""
Whole = Annotated[int, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
"""An integer that floats represent exactly."""


def explain(error: ValidationError) -> str:
    """Say in one line which fields are wrong and why."""
    reasons = []
    for problem in error.errors(include_url=False, include_context=False):
        field = ".".join(str(part) for part in problem["loc"])
        shown = "" if problem["type"] in _SPEAK_FOR_THEMSELVES else f" (got {problem['input']!r:.60})"
        message = problem["msg"].removeprefix("Value error, ")
        reasons.append(f"{field}: {message}{shown}" if field else message)
    return "; ".join(reasons)


def first_problem(error: ValidationError, whole: str = "") -> str:
    """Return the field and message of the first error.

    Args:
        whole: shown in place of the field when the record as a whole is wrong; if empty, the message stands alone.
    """
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"])) or whole
    message = first["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message
