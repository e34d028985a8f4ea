"""The smoke test's results as a Markdown page, which is also what the terminal shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from locobench.containers.engine import BUILT
from locobench.shared.terminal import printable, printable_line
from locobench.smoke.check import Row

REMOVE_IMAGES = f"docker image prune --all --filter label={BUILT}"

# The columns in order: heading, a row's cell, and whether the column means anything without an engine.
COLUMNS: tuple[tuple[str, Callable[[Row], str], bool], ...] = (
    ("task", lambda row: row.task, True),
    ("language", lambda row: row.language or "-", True),
    ("build s", lambda row: _shown(row.build_seconds, 1), False),
    ("image MB", lambda row: _shown(row.size and row.size / 1e6), False),
    ("toolchain", lambda row: row.toolchain[:40] or "-", False),
    ("oracle", lambda row: _shown(row.rewards.get("oracle"), 4), True),
    ("nop", lambda row: _shown(row.rewards.get("nop"), 4), True),
    ("verdict", lambda row: row.verdict, True),
)


def _shown(value: float | None, digits: int | None = None) -> str:
    return "-" if value is None else str(round(float(value), digits))


def page(rows: list[Row], facts: Mapping[str, str], *, local: bool) -> str:
    """Return a page of the rows and of the `facts` about the run (name -> value), with a summary at its end."""
    columns = [column for column in COLUMNS if column[2] or not local]
    table = [[heading for heading, _, _ in columns]]
    table += [[printable_line(cell(row)).replace("|", "\\|") for _, cell, _ in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["# Smoke test results", "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
    heading, *below = (
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |" for line in table
    )
    lines += [heading, "|" + "|".join("-" * (width + 2) for width in widths) + "|", *below]
    for row in rows:
        if row.output:
            lines += ["", f"{row.task}: last lines of what failed", ""]
            lines += [f"    {line}" for line in printable(row.output).splitlines()]
    good = sum(not row.faults for row in rows)
    lines += ["", f"{len(rows)} tasks: {good} ok, {len(rows) - good} not"]
    if any(row.size is not None for row in rows):
        lines += ["", f"The images stay, for the next run. To remove them: {REMOVE_IMAGES}"]
    return "\n".join(lines) + "\n"
