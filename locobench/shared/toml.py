"""How TOML is read: text that is none is one kind of error, however it fails to be."""

from __future__ import annotations

import tomllib
from typing import Any


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
