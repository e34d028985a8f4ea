"""Show the smoke test's results: as a table on the terminal, or as Markdown in SMOKE_TEST_RESULTS.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from locobench.containers.engine import BUILT
from locobench.shared.files import write_whole
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


def summary(rows: list[Row]) -> str:
    """Summarise the rows in one line."""
    good = sum(not row.faults for row in rows)
    return f"{len(rows)} tasks: {good} ok, {len(rows) - good} not"


def _table(rows: list[Row], *, local: bool) -> list[list[str]]:
    """Return the headings, then the cells of each row."""
    columns = [column for column in COLUMNS if column[2] or not local]
    headings = [heading for heading, _, _ in columns]
    return [headings, *([printable_line(cell(row)) for _, cell, _ in columns] for row in rows)]


def _failures(rows: list[Row]) -> dict[str, str]:
    """Return the last lines of what failed, by a heading."""
    return {f"{row.task}: last lines of what failed": printable(row.output) for row in rows if row.output}


def print_table(rows: list[Row], *, local: bool) -> None:
    """Print the rows as a table, then the last lines of each failure."""
    table = _table(rows, local=local)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for heading, output in _failures(rows).items():
        print(f"{heading}\n{output}\n")
    print(summary(rows))
    if any(row.size is not None for row in rows):
        print(f"Their images stay, for the next run. To remove them: {REMOVE_IMAGES}")


def write_markdown(rows: list[Row], path: Path, facts: dict[str, str], *, tasks: str, local: bool) -> None:
    """Write the rows and the `facts` about the run (name -> value) to `path`, whole or not at all.

    If the page already has markers for these tasks, only the part between them is replaced.

    Args:
        tasks: the name of the tasks' folder, which is in the markers.
    """
    begin, end = f"<!-- smoke test of {tasks}: begin -->", f"<!-- smoke test of {tasks}: end -->"
    before, after = f"# Smoke test results\n\n{begin}", f"{end}\n"
    if path.is_file():
        page = path.read_text(encoding="utf-8", errors="replace")
        if -1 < page.find(begin) < page.find(end):
            before, after = page[: page.find(begin)] + begin, page[page.find(end) :]
    how = "oracle and nop, no images." if local else "images built, oracle and nop run in them without network."
    headings, *cells = _table(rows, local=local)
    lines = [f"Written by `python smoke_test.py --report`: {how}", "", f"**{summary(rows)}**", ""]
    lines += ["| | |", "|---|---|", *map(_markdown, facts.items()), ""]
    lines += [_markdown(headings), "|" + "---|" * len(headings), *map(_markdown, cells)]
    for heading, output in _failures(rows).items():
        lines += ["", heading, "", *(f"    {line}" for line in output.splitlines())]
    write_whole(path, "\n".join([before, *lines, after]))


def _markdown(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
