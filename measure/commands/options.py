"""What the options of several commands share: their types, and a decorator that adds several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from measure.compare.decision import MARGIN

Function = TypeVar("Function", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
METRIC = click.Choice(["auto", "pass_rate", "score"])
MARGIN_OPTION = click.option(
    "--margin",
    default=MARGIN,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Difference, 0 to 1, up to which B is as good as A.",
)
ARMS_OPTION = click.option(
    "--arms", default=2, show_default=True, type=click.IntRange(2), help="Number of arms, the baseline included."
)
RESULTS_HELP = "results file, journal of a matrix, Harbor job folder, or CSV table of rewards"


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Decorate a command with several of click's decorators, in the order of --help."""

    def decorate(command: Function) -> Function:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
