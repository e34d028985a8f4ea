"""What git knows of the checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY


def python_files() -> list[Path]:
    """Python files from the root of the checkout; those that git ignores are nobody's. Skips where there is no git."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [path for path in map(Path, listed) if (REPOSITORY / path).exists()]
