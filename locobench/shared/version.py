"""Which version of the project this is: pyproject.toml says it, directly or by what was installed from it."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

NAME = "locobench-harbor"


def version() -> str:
    """Return the version, for example `0.1.0`.

    A checkout is asked first: another version may be installed beside it.
    """
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if pyproject.is_file():
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        if project["name"] == NAME:
            return str(project["version"])
    return importlib.metadata.version(NAME)
