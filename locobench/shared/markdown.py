"""Render free-form JSON as Markdown: prompts, ground truths and criteria come in any shape."""

from __future__ import annotations

import re
from typing import Any


def as_markdown(value: Any, level: int = 2) -> str:
    """Return `value` as Markdown text. A string is returned unchanged.

    An object becomes a heading per key, a list a bullet per item. A list of strings under a key that contains `code`
    becomes a fenced block. `level` is the depth of the first heading.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict):
        return "\n\n".join(
            f"{'#' * min(level, 6)} {_heading(key)}\n\n{_field(key, item, level + 1)}" for key, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        return "\n".join(_bullet(item, level) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def fence(text: str) -> str:
    """Return `text` in a code fence longer than any it contains."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}\n{text}\n{ticks}"


def _field(key: str, value: Any, level: int) -> str:
    if "code" in key.lower():
        lines = value if isinstance(value, list) and all(isinstance(line, str) for line in value) else None
        if lines is not None:
            return fence("\n".join(lines))
        if isinstance(value, str) and "\n" in value and "```" not in value:
            return fence(value)
    return as_markdown(value, level)


def _bullet(item: Any, level: int) -> str:
    if isinstance(item, dict) and all(not isinstance(part, (dict, list)) for part in item.values()):
        text = "\n".join(f"{_heading(key)}: {as_markdown(part)}" for key, part in item.items())
    else:
        text = as_markdown(item, level)
    return "- " + text.replace("\n", "\n  ")


def _heading(key: str) -> str:
    return key.replace("_", " ").strip() or "value"
