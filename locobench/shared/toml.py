"""Read TOML. Invalid text raises a single kind of error, whatever is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from locobench.shared.errors import InputError


def read(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        InputError: the file cannot be read or is not TOML; the message gives the position.
    """
    try:
        return loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


def loads(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    Raises:
        tomllib.TOMLDecodeError: the text is not TOML, is nested too deeply, or has a number that is too long.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from None
