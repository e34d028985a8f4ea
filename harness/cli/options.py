"""What the options of several commands share: their types, and a decorator that passes them as one record."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
METRIC = click.Choice(["auto", "pass_rate", "score"])
RESULTS_HELP = "results file, journal of a matrix, Harbor job folder, or CSV table of rewards"


def gathered(
    name: str, record: type[object], *options: Callable[[Function], Function]
) -> Callable[[Function], Function]:
    """Decorate a command with `options`, and pass it their values as one `record`.

    Args:
        name: the command's parameter for the record.
        record: a dataclass whose fields are named like the options' parameters.
        options: click's decorators, in the order of --help.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def command(*args: Any, **values: Any) -> Any:
            values[name] = record(**{field.name: values.pop(field.name) for field in fields(record)})  # type: ignore[arg-type]
            return function(*args, **values)

        for option in reversed(options):
            command = option(command)
        return command  # type: ignore[return-value]

    return decorate
