"""What reaches the terminal? Whole words, no control codes from foreign text, and no failure on a closed pipe."""

from __future__ import annotations

import os

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from locobench.shared.terminal import printable, printable_line

PIPE_WIDTH = 160
"""Columns when output goes to no terminal: a row of a summary fits on one line."""

LONGEST_WORD = 100
"""Characters; a longer word, such as a command in an error message, is folded within its cell."""


class ReportConsole(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich would exit with code 1, which means that something got worse."""
        raise BrokenPipeError


def report_console() -> Console:
    """Return a console for standard output, PIPE_WIDTH wide without a terminal; COLUMNS overrides both widths."""
    console = ReportConsole()
    if not console.is_terminal and not os.environ.get("COLUMNS", "").strip("0"):
        console.width = PIPE_WIDTH
    return console


def print_table(console: Console, table: Table) -> None:
    """Print a table whose cells wrap only between words; if they do not fit, it is wider than the console."""
    for column in table.columns:
        column.min_width = max((_longest_word(cell, column) for cell in [column.header, *column.cells]), default=0)
        column.overflow = "fold"
    console.print(table, crop=False)


def plain(text: str, style: str = "") -> Text:
    """Make foreign text safe for a console or a cell: markup is not interpreted, control characters are escaped."""
    return Text(printable(text), style)


def print_verbatim(console: Console, text: str, indent: int = 0) -> None:
    """Print an agent's text line by line, without wrapping."""
    for line in printable(text).removesuffix("\n").split("\n") if text else ():
        console.print(Text(" " * indent + line), soft_wrap=True)


def say(message: str, *, err: bool = False) -> None:
    """Print one line to standard output or standard error; line breaks in the message are escaped."""
    click.echo(printable_line(message), err=err)


def say_lines(text: str, *, hang: int = 0) -> None:
    """Print several lines to standard output; all but the first are indented by `hang` columns."""
    click.echo(printable(text.rstrip()).replace("\n", "\n" + " " * hang))


def _longest_word(cell: object, column: Column) -> int:
    text = cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain
    parts = text.splitlines() if column.no_wrap else text.split()
    indent = 0 if column.no_wrap else len(text) - len(text.lstrip())
    return min(LONGEST_WORD, indent + max(map(cell_len, parts), default=0))
