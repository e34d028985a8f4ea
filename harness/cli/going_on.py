"""Going on with a journal: what will be paid for again is said, and asked about, before it is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harness.cli.options import gathered
from harness.compare.wording import counted
from harness.errors import InputError
from harness.models import EvalResult
from harness.report.console import say
from harness.run.earlier import FAILED, paid_again
from harness.run.matrix import PlannedRun


@dataclass(frozen=True)
class GoingOn:
    """Whether a journal is gone on with, and whether what that costs was agreed to beforehand."""

    resume: bool
    yes: bool

    def agree(self, planned: Sequence[PlannedRun], earlier: Sequence[EvalResult], journal: Path) -> None:
        """Say which runs of a journal are paid for again, and why; on a terminal, ask about those that had finished.

        Raises:
            InputError: the answer is no.
        """
        again = paid_again(planned, earlier)
        for reason, number in again.items():
            say(f"{counted(number, 'run')} of {journal} made again, and paid again, which {reason}", err=True)
        asks = again.keys() - {FAILED} and not self.yes and sys.stdin.isatty()
        if asks and not click.confirm("Pay for them again?", err=True):
            raise InputError(f"nothing was run; {journal} is as it was")


resume_options = gathered(
    "going_on",
    GoingOn,
    click.option("--resume", is_flag=True, help="Go on with OUTPUT: keep its finished runs, run the others."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask before runs that had finished are paid for again."),
)
