"""The installed commands: each runs its script, which the wheel carries as data."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from locobench.shared.installation import SCRIPTS

COMMANDS = {
    "locobench-derive": "derive_scenarios",
    "locobench-extract": "extract_dataset",
    "locobench-select": "select_tasks",
    "locobench-generate": "run_adapter",
    "locobench-smoke": "smoke_test",
}
"""Command -> script."""


def main() -> None:
    """Run the script of the command that was typed."""
    # Scripts import adapter.py, which lies beside them.
    sys.path.insert(0, str(SCRIPTS))
    importlib.import_module(COMMANDS[Path(sys.argv[0]).stem]).main()
