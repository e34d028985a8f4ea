"""How the smoke test's rows are shown: a table on the terminal, SMOKE_TEST_RESULTS.md as a file."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.catalog import REPOSITORY
from pipeline.smoke import Row

if TYPE_CHECKING:
    from pipeline.containers import Engine

# Columns in their order: heading, the cell of a row, and whether it says anything without an engine.
COLUMNS: tuple[tuple[str, Callable[[Row], str], bool], ...] = (
    ("task", lambda row: row.task, True),
    ("language", lambda row: row.language or "-", True),
    ("build s", lambda row: "shared" if row.shares_image else _number(row.image.build_seconds, ".1f"), False),
    ("image MB", lambda row: _number(row.image.size and row.image.size / 1e6, ".0f"), False),
    ("toolchain", lambda row: row.image.toolchain[:40] or "-", False),
    ("project's tests", lambda row: row.image.project_tests, False),
    ("oracle", lambda row: _number(row.rewards.get("oracle"), ".4g"), True),
    ("nop", lambda row: _number(row.rewards.get("nop"), ".4g"), True),
    ("verdict", lambda row: row.verdict, True),
)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(float(value), form)


def summary(rows: list[Row]) -> str:
    """Return the one line that sums the rows up."""
    good = sum(row.ok for row in rows)
    images = {row.image.tag for row in rows if row.image.size is not None}
    built = f", {len(images)} images" if images else ""
    return f"{len(rows)} tasks{built}: {good} ok, {len(rows) - good} not"


def print_table(rows: list[Row], *, local: bool) -> None:
    """Print the rows as a table, then the last lines of whatever failed."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A table squeezed into a pipe's 80 columns cannot be read, by eye or by grep.
    console = Console() if Console().is_terminal else Console(width=200)
    table = Table()
    columns = [column for column in COLUMNS if column[2] or not local]
    for heading, _, _ in columns:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(row), style="" if row.ok else "red") for _, cell, _ in columns))
    console.print(table)
    for row in rows:
        if row.image.output and not row.shares_image:
            console.print(Text(f"{row.task}: last lines of what failed\n{row.image.output}\n"))
    console.print(summary(rows))


def write_markdown(rows: list[Row], path: Path, *, engine: Engine | None, seconds: float) -> None:
    """Write the rows, with the versions of what ran them, to `path`.

    Args:
        rows: What was found.
        path: The file, written whole or not at all.
        engine: The engine that ran them, None for a local run.
        seconds: Wall time of the whole run.
    """
    from pipeline.files import whole_file

    facts = {"Run": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {seconds:.0f} s wall time"}
    if engine is None:
        facts["Engine"] = f"none (--local), Python {platform.python_version()}"
    else:
        facts |= engine.describe()
        facts["Harbor"] = harbor_version() or "not found on this machine"
        for base in sorted({row.image.base for row in rows if row.image.size is not None}):
            facts[f"Base image {base}"] = engine.image_id(base)
    columns = [column for column in COLUMNS if column[2] or engine is not None]
    lines = [
        "# Smoke test results",
        "",
        "Written by `python smoke_test.py --report`: "
        + ("images built, oracle and nop run in them without network." if engine else "oracle and nop, no images."),
        "",
        f"**{summary(rows)}**",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {_cell(value)} |" for name, value in facts.items()),
        "",
        "| " + " | ".join(heading for heading, _, _ in columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(_cell(cell(row)) for _, cell, _ in columns) + " |" for row in rows),
    ]
    for row in rows:
        if row.image.output and not row.shares_image:
            lines += [
                "",
                f"## {row.task}: last lines of what failed",
                "",
                *(f"    {line}" for line in row.image.output.splitlines()),
            ]
    with whole_file(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def harbor_version() -> str | None:
    """Return the version of the `harbor` on PATH, else of the one `make e2e` installed, else None."""
    installed = sorted((REPOSITORY / ".cache" / "e2e").glob("harbor-*/bin/harbor"))
    command = shutil.which("harbor") or (str(installed[-1]) if installed else None)
    if command is None:
        return None
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    try:
        answer = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
