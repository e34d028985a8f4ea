"""What the options of several commands share: their types, and a decorator that adds several."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from locobench.shared.errors import InputError
from measure.compare.decision import MARGIN
from measure.records import EvalResult
from measure.results.rewards import BY_NAME, RewardError, RewardScale
from measure.results.sources import load_source

Function = TypeVar("Function", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)


def _range(_context: click.Context, _option: click.Parameter, value: str) -> tuple[float, float]:
    """Read `0.5:4`; the first number must be below the second one."""
    try:
        low, high = map(float, value.split(":"))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not LOW:HIGH, such as 0:4") from None
    if not -math.inf < low < high < math.inf:
        raise click.BadParameter(f"{value}: the first number must be below the second one")
    return low, high


MARGIN_OPTION = click.option(
    "--margin",
    default=MARGIN,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Largest difference, 0 to 1, at which B still counts as good as A.",
)
RESULTS_HELP = "results file, journal of a matrix, Harbor job folder, or CSV table of rewards"


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Decorate a command with several of click's decorators, in the order of --help."""

    def decorate(command: Function) -> Function:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


reward_options = together(
    click.option(
        "--reward-key",
        default=BY_NAME.key,
        show_default=True,
        help="Name of the reward that counts, if it is not `reward`.",
    ),
    click.option(
        "--reward-range",
        metavar="LOW:HIGH",
        callback=_range,
        default="0:1",
        show_default=True,
        help="Range of that reward, such as 0.5:4; it is rescaled to 0 to 1, where 0.7 passes.",
    ),
)


def load(path: Path, reward_key: str, reward_range: tuple[float, float]) -> list[EvalResult]:
    """Read the results at a path with the options of `reward_options`; InputError names the option that would help."""
    with reward_hint():
        return load_source(path, RewardScale(reward_key, *reward_range))


@contextlib.contextmanager
def reward_hint() -> Iterator[None]:
    """Add to an error about rewards which options read them."""
    try:
        yield
    except RewardError as error:
        raise InputError(
            f"{error}; name the reward that counts with --reward-key, and its range with --reward-range LOW:HIGH"
        ) from error
