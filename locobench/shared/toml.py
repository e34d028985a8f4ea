"""How TOML is read: text that is none is one kind of error, however it fails to be."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from locobench.shared.errors import InputError


def read(path: Path) -> dict[str, Any]:
    """Return the document in a file.

    Raises:
        InputError: the file cannot be read, or is no TOML; the message has the position.
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
    """Return the document.

    Raises:
        tomllib.TOMLDecodeError: the text is no TOML, or nested more deeply or a number longer than can be read.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from None
