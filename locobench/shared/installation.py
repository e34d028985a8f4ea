"""This installation: checkout or package, its version, the names of its commands, and the Python it needs.

Any Python 3 can run this module, so that an old one gets a clear message.
"""

from __future__ import annotations

import sys
from pathlib import Path

NAME = "locobench-harbor"
OLDEST_PYTHON = (3, 11)

REPOSITORY = Path(__file__).resolve().parents[2]
"""The folder that holds the packages: the checkout, or site-packages."""
IS_INSTALLED = (REPOSITORY / "locobench" / "templates").is_dir()
"""Whether this is an installed package. A checkout, even an editable install, has its templates at the top level."""
SCRIPTS = REPOSITORY / "locobench" / "scripts" if IS_INSTALLED else REPOSITORY
"""The folder of the scripts and adapter.py."""

_BY_COMMAND = IS_INSTALLED or Path(sys.argv[0]).name.startswith("locobench-")
EXTRACT = "locobench-extract" if _BY_COMMAND else "extract_dataset.py"
SELECT = "locobench-select" if _BY_COMMAND else "select_tasks.py"
GENERATE = "locobench-generate" if _BY_COMMAND else "run_adapter.py"
HARNESS = "locobench-harness" if _BY_COMMAND else "python -m harness"


def require_python() -> None:
    """Exit with one line and code 2 if Python is too old, before importing anything it cannot parse."""
    if sys.version_info < OLDEST_PYTHON:
        wanted, found = (".".join(map(str, version[:2])) for version in (OLDEST_PYTHON, sys.version_info))
        sys.stderr.write(f"Python {wanted} or newer is needed, and this is {found} ({sys.executable})\n")
        raise SystemExit(2)


def explain_missing(error: ModuleNotFoundError) -> str:
    """Return a message that says how to install a missing library.

    Raises:
        ModuleNotFoundError: the missing module is ours, so installing a library would not help.
    """
    if error.name is None or error.name.partition(".")[0] in ("harness", "locobench", "measure"):
        raise error
    way_out = f"`make demo` in {REPOSITORY} installs what is needed, then type `. .venv/bin/activate`"
    return f"this Python lacks {error.name}: {f'install {NAME} again with pip' if IS_INSTALLED else way_out}"


def version() -> str:
    """Return the version, for example `0.1.0`.

    A checkout's pyproject.toml comes first: another version may be installed beside it.
    """
    import importlib.metadata
    import tomllib

    pyproject = REPOSITORY / "pyproject.toml"
    if pyproject.is_file():
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        if project["name"] == NAME:
            return str(project["version"])
    return importlib.metadata.version(NAME)
