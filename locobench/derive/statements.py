"""What a statement at the top level of a file does, by its text, in any of the languages."""

from __future__ import annotations

import re

_FIRST = re.compile(rb"[^\s)\]}]")
_NAMED = re.compile(rb"(?:export\s+)?(?:default\b|(?:const|let|var|static|final|val)\s|[\w.$]+\s*(?::[^=\n]+)?=[^=])")
_STRING = re.compile(rb"\s*:?[^=\"'`(]*=\s*[rbuRBU]{0,2}([\"'`])(?:(?!\1)[^\\\n]|\\.)*\1(?:\s*as\s+const)?\s*;?\s*")


def gives_a_name(text: bytes, offset: int) -> bool:
    """Return whether the statement around an offset gives a value a name, or exports one.

    It begins in the last line at or before the offset that is not indented and closes nothing.
    """
    start = text.rfind(b"\n", 0, offset) + 1
    while start and not _FIRST.match(text, start):
        start = text.rfind(b"\n", 0, start - 1) + 1
    return _NAMED.match(text, start) is not None


def is_string(rest: bytes) -> bool:
    """Return whether what stands behind a constant's name, its type and its value, is a string."""
    return _STRING.fullmatch(rest) is not None
