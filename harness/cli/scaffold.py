"""The command that copies an example, as the start of an evaluation of one's own."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

import click

from locobench.shared.errors import InputError
from locobench.shared.installation import IS_INSTALLED, REPOSITORY
from measure.commands.options import PATH
from measure.report.console import say

EXAMPLE = REPOSITORY / ("harness/scaffold" if IS_INSTALLED else "examples/skill")


@click.command()
@click.argument("folder", type=PATH)
def scaffold(folder: Path) -> None:
    """Make a folder with two configurations, a fixture, two tasks and one command that compares the two.

    It is an evaluation of a skill that runs as it is. Its README says what to replace.
    """
    if folder.exists():
        raise InputError(f"{folder} exists; name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
        whole = Path(made) / folder.name
        shutil.copytree(EXAMPLE, whole, ignore=shutil.ignore_patterns("__pycache__", "runs.*", "try.*", ".*"))
        whole.rename(folder)
    say(f"wrote {folder}; try it without an agent:")
    say(f"  OUT=try {shlex.quote(str(folder))}/run.sh --executor echo -r 1")
