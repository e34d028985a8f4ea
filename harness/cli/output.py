"""How a command writes to a path that the user named: whole or not at all, said in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from common.files import write_whole
from harness.errors import InputError
from harness.models import EvalResult
from harness.runner import EvalRunner


def refuse_existing(*paths: Path | None, way_out: str = "name another with -o") -> None:
    """Stop before paid runs are overwritten.

    Args:
        paths: those that the user named.
        way_out: what the user can do instead.

    Raises:
        InputError: one of the paths exists.
    """
    for path in paths:
        if path is not None and path.expanduser().exists():
            raise InputError(f"{path} exists and holds paid runs; {way_out}")


def write_text(path: Path | None, make: Callable[[], str]) -> None:
    """Write what `make` gives, when the user named a path for it.

    Raises:
        InputError: the path cannot be written.
    """
    if path is None:
        return
    path = path.expanduser()
    write_whole(path, make())
    click.echo(f"wrote {path}")


def save_results(
    runner: EvalRunner,
    results: Sequence[EvalResult],
    path: Path | None,
    *,
    save_debug: bool = False,
    stop_reason: str = "",
) -> None:
    """Write a results file and say where; without a path it goes where the runner keeps results.

    Args:
        runner: its results folder is the default place.
        results: all of them, lost ones included.
        path: as the user typed it.
        save_debug: also write <name>.debug.json.
        stop_reason: why they are not all, when they are not.

    Raises:
        InputError: the path cannot be written.
    """
    name = None if path is None else str(path.expanduser().absolute())
    saved = runner.save_results(list(results), name, save_debug, stop_reason=stop_reason)
    click.echo(f"saved to {saved}")
