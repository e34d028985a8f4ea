"""Which languages, categories and difficulties exist, and how a scenario's id is read.

The languages are the tables of templates/environment/languages.toml: adding one there adds it everywhere.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from locobench.shared import toml
from locobench.shared.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]
"""The folder that holds this package: the checkout, or site-packages."""
_INSTALLED_TEMPLATES = REPOSITORY / "locobench" / "templates"
IS_INSTALLED = _INSTALLED_TEMPLATES.is_dir()
"""Whether this is an installed package; a checkout, also an editable one, has its templates at the top."""
TEMPLATES = _INSTALLED_TEMPLATES if IS_INSTALLED else REPOSITORY / "templates"

DIFFICULTIES = ("easy", "medium", "hard", "expert")

# How much a category is expected to gain from code search, 0-1 (the published selection's bonuses). Adding a category
# is adding a line.
CATEGORY_BONUSES = {
    "architectural_understanding": 1.0,
    "cross_file_refactoring": 0.9,
    "bug_investigation": 0.8,
    "security_analysis": 0.7,
    "feature_implementation": 0.5,
    "code_comprehension": 0.4,
    "integration_testing": 0.3,
    "multi_session_development": 0.3,
}
CATEGORIES = tuple(CATEGORY_BONUSES)
"""The benchmark's own."""
STRUCTURE, AGREEMENT = "code_structure", "agreement_with_the_real_fix"
"""Those of scenarios that derive_scenarios.py makes."""
ALL_CATEGORIES = (*CATEGORIES, STRUCTURE, AGREEMENT)
LANGUAGE_TABLE = TEMPLATES / "environment" / "languages.toml"

# Longer names would leave no room for the suffix of a temporary folder within a file system's 255 bytes.
MAX_ID_CHARACTERS = 200
_PLAIN_NAME = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_ID = re.compile(
    rf"(?P<project_id>.+?)_(?P<category>{'|'.join(ALL_CATEGORIES)})_(?P<difficulty>{'|'.join(DIFFICULTIES)})_[0-9]+"
)


class ScenarioId(NamedTuple):
    """The parts of a scenario's id that later stages need."""

    language: str
    project_id: str


@cache
def load_languages(path: Path = LANGUAGE_TABLE) -> dict[str, dict[str, Any]]:
    """Return the language tables by name, as they stand there.

    Raises:
        InputError: the file cannot be read, or is no TOML; the message has the position.
    """
    try:
        return toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; every task needs it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


def load_language(name: str, path: Path = LANGUAGE_TABLE) -> dict[str, Any]:
    """Return a language's table: `packages`, `check` and optionally `fallback` and `run`.

    Raises:
        InputError: there is no such table, or it has another key or a value of another kind.
    """
    table = load_languages(path).get(name)
    if not isinstance(table, dict):
        raise InputError(f"{path}: no table [{name}]; add one as the file's head explains")
    lists, texts = ("packages", "fallback", "run"), ("check",)
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


def _language_names() -> tuple[str, ...]:
    try:
        return tuple(load_languages())
    except InputError:
        return ()


LANGUAGES = _language_names()
"""Every language; none where the table is broken, which `load_languages` tells: an import could not, in one line."""


@lru_cache(maxsize=4)
def parse_id(scenario_id: str) -> ScenarioId:
    """Read language and project out of `{language}_{domain}_{complexity}_{NNN}_{category}_{difficulty}_{NN}`.

    The project ends where the category's name begins: a domain may hold underscores, so counting them does not work.

    Raises:
        ValueError: the id is not a plain name, or its language or category is unknown.
        InputError: the table of languages is broken.
    """
    if len(scenario_id) > MAX_ID_CHARACTERS or not _PLAIN_NAME.fullmatch(scenario_id):
        raise ValueError(
            f"not a plain name: lower-case letters, digits and single '_' or '-', up to {MAX_ID_CHARACTERS} characters"
        )
    language = scenario_id.partition("_")[0]
    if language not in (LANGUAGES or load_languages()):
        raise ValueError(f"unknown language {language!r} (known: {', '.join(LANGUAGES)})")
    match = _ID.fullmatch(scenario_id)
    if match is None:
        raise ValueError(
            f"does not end in _<category>_<difficulty>_<number> with a known category ({', '.join(ALL_CATEGORIES)})"
        )
    return ScenarioId(language, match["project_id"])
