"""Say in one line what is wrong with an invalid record, without its values: one may be a secret."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

LARGEST_COUNT = 2**53
"""The largest integer up to which floats are exact; a larger count means corrupt data."""
Whole = Annotated[int, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
"""An integer that floats represent exactly."""


def first_problem(error: ValidationError, whole: str = "") -> str:
    """Return the field and message of the first error.

    Args:
        whole: shown in place of the field when the record as a whole is wrong; if empty, the message stands alone.
    """
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"])) or whole
    message = first["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message
