"""Paths of modules, and the manifests beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator


def joined(module: str, name: str) -> str:
    """Return the module `name` in a module, which may be relative."""
    return module + name if module.endswith(".") else f"{module}.{name}"


def stem_of(path: str) -> str:
    """Return the name by which a file is imported: of its folder, if the file is the folder's face."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    face = "__init__" if file.endswith(".py") else "index"
    return folder.rpartition("/")[2] if stem == face else stem


def folder_of(path: str) -> str:
    """Return the folder of a path; "" at the top."""
    return path.rpartition("/")[0]


def upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those above it."""
    while folder:
        yield folder
        folder = folder_of(folder)
    yield ""


def read_json(text: bytes) -> object:
    """Return what a configuration says, which may have comments and commas before a bracket; None if unreadable."""
    import json

    plain = re.sub(rb'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or b"", text, flags=re.DOTALL)
    try:
        return json.loads(re.sub(rb",(\s*[}\]])", rb"\1", plain).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> dict[str, object]:
    """Return a table of a manifest; {} for anything else."""
    return value if isinstance(value, dict) else {}
