"""Read Harbor's files as models of the fields we need; an invalid file is a one-line error."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from locobench.shared.errors import InputError
from locobench.shared.validation import first_problem


class HarborFile(BaseModel):
    """Base of all models read from Harbor. Unknown fields are ignored; None means that Harbor did not record it."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Named(HarborFile):
    """An entry of a list that is known by its name; its other keys are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str = ""


Model = TypeVar("Model", bound=BaseModel)

Time = Annotated[datetime, AfterValidator(lambda time: time if time.tzinfo else time.replace(tzinfo=UTC))]
"""A timestamp; without a time zone it is taken as UTC."""


def read(path: Path, model: type[Model], content: bytes | None = None) -> Model:
    """Read a JSON file, or its `content` if already read, into a model.

    Raises:
        InputError: the file cannot be read or is invalid; the message names the file and the field.
    """
    try:
        return model.model_validate_json(path.read_bytes() if content is None else content)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error)}") from None


def read_or_warn(path: Path, model: type[Model], content: bytes | None = None) -> Model | None:
    """Read a file, or its `content`; warn and return None if it is invalid."""
    try:
        return read(path, model, content)
    except InputError as error:
        warnings.warn(f"{error}; its contents are ignored", stacklevel=2)
        return None
