"""Read untrusted JSON, with errors that say what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pydantic_core

from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
T = TypeVar("T")


def read_dataset(dataset: Path, read: Callable[[bytes], tuple[str, T]]) -> dict[str, tuple[int, int, T]]:
    """Return the lines of a dataset by their ids, in file order: (number from 1, offset in bytes, content).

    Blank lines are left out.

    Args:
        read: returns a line's id and content; it raises ValueError if the line is wrong.

    Raises:
        InputError: the file cannot be read, or a line is wrong or repeats an id.
    """
    found: dict[str, tuple[int, int, T]] = {}
    offset = 0
    try:
        # A record is longer than the default buffer, which would be refilled several times per line.
        with dataset.open("rb", buffering=1 << 16) as stream:
            for number, line in enumerate(stream, 1):
                if not line.isspace():
                    try:
                        task_id, content = read(line)
                    except ValueError as error:
                        raise InputError(f"{dataset}:{number}: {error}; write it again with {EXTRACT}") from None
                    if first := found.get(task_id):
                        raise InputError(f"{dataset}:{number}: id: {task_id} is already on line {first[0]}; remove one")
                    found[task_id] = number, offset, content
                offset += len(line)
    except OSError as error:
        raise InputError(
            f"{dataset}: cannot be read: {error.strerror}; run {EXTRACT} first or name the file with --dataset_path"
        ) from error
    return found


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse `data` as a JSON object (UTF-8; a byte order mark is ignored).

    Raises:
        InputError: not UTF-8, not JSON (NaN and Infinity are rejected), nested too deeply, or not an object.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("UTF-16 text; JSON files must be UTF-8")
    try:
        value = pydantic_core.from_json(data.removeprefix(BYTE_ORDER_MARK), allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, got {type(value).__name__}")
    return value
