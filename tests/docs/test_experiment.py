"""docs/EXPERIMENT.md quotes what its commands print about the results that lie beside the example."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.suite import harness

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs/EXPERIMENT.md").read_text(encoding="utf-8")
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("python -m harness") and "results/" in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_quotes_its_commands(command: str) -> None:
    printed = " ".join(harness(REPOSITORY, *shlex.split(command)[3:]).stdout.split())
    quoted = PAGE.split(command)[1].split("```\n")[2]
    for part in quoted.split("...\n"):
        assert " ".join(part.split()) in printed
