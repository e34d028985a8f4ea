"""What a record that does not validate is told: which fields are wrong and why, in one line."""

from __future__ import annotations

from pydantic import ValidationError

# Kinds of error whose message needs no value beside it; what stands under an unknown key may be a secret.
_SPEAK_FOR_THEMSELVES = ("missing", "value_error", "extra_forbidden")

LARGEST_COUNT = 2**53
"""The largest whole number that arithmetic with fractions holds exactly: a count beyond it is damage."""


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
    """Say the field and message of the first thing that is wrong.

    Args:
        whole: what stands for the field when the record as a whole is wrong; nothing then, when empty.
    """
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"])) or whole
    return f"{field}: {first['msg']}" if field else first["msg"]
