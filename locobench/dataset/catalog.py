"""Where the templates are, which difficulties exist, and the table of languages.

The table is templates/environment/languages.toml; users can add to it with a file of their own.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from locobench.shared.errors import InputError
from locobench.shared.files import read_toml
from locobench.shared.installation import IS_INSTALLED, REPOSITORY

TEMPLATES = REPOSITORY / "locobench" / "templates" if IS_INSTALLED else REPOSITORY / "templates"

BASE_IMAGE = "ubuntu:24.04"
"""The image that tasks start from unless another is named."""
DIFFICULTIES = ("easy", "medium", "hard", "expert")
UNKNOWN = "unknown"
"""The difficulty of a question that no agent was tried on."""
LANGUAGE_TABLE = TEMPLATES / "environment" / "languages.toml"


@cache
def load_languages(extra: Path | None = None) -> dict[str, dict[str, Any]]:
    """Return the language tables by name, unchecked; those of the file `extra` override built-in ones.

    Raises:
        InputError: a file cannot be read or is not TOML; the message gives the position.
    """
    return {**read_toml(LANGUAGE_TABLE), **(read_toml(extra) if extra else {})}


def load_language(name: str, extra: Path | None = None) -> dict[str, Any]:
    """Return a language's table, of `load_languages`: `packages`, `check` and optionally `title`, `fallback` and `run`.

    Raises:
        InputError: there is no such table, or it has an unknown key or a value of the wrong type.
    """
    table = load_languages(extra).get(name)
    path = extra if extra and name in read_toml(extra) else LANGUAGE_TABLE
    if not isinstance(table, dict):
        raise InputError(f"{path}: no table [{name}]; add one as its first comment explains, or in a file of your own")
    lists, texts = ("packages", "fallback", "run"), ("check", "title")
    for key in ("packages", "check"):
        if key not in table:
            raise InputError(f"{path}: [{name}] {key}: missing")
    for key, value in table.items():
        if key not in lists + texts:
            raise InputError(f"{path}: [{name}] {key}: unknown, known are {', '.join(lists + texts)}")
        values = value if key in lists else [value]
        if not isinstance(values, list) or not all(
            isinstance(item, str) and item.strip() and item.isprintable() for item in values
        ):
            kind = "a list of single lines" if key in lists else "a single line"
            raise InputError(f"{path}: [{name}] {key}: not {kind} of text")
    return table


def language_title(name: str, extra: Path | None = None) -> str:
    """Return the usual spelling of a language: its table's `title`, else its name with a capital letter."""
    table = load_languages(extra).get(name)
    title = table.get("title") if isinstance(table, dict) else None
    return title if isinstance(title, str) else name.title()


def language_name(written: str) -> str:
    """Return the name of a language that somebody typed: `typescript` for Typescript, `cpp` for C++."""
    names = (name for name in load_languages() if language_title(name).lower() == written.lower())
    return next(names, written.lower())
