"""How a command writes to a path that the user named: whole or not at all, said in one line."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError
from harness.models import EvalResult
from harness.report.console import say

if TYPE_CHECKING:
    from harness.runner import EvalRunner
from locobench.shared.files import check_output, write_whole


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


def refuse_unwritable(path: Path) -> None:
    """Find out before the first paid run that its result cannot be written.

    Raises:
        InputError: the folder cannot be made or takes no file.
    """
    folder = path.expanduser().absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\n" * 4096)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); name another place with -o") from error


def journal_of(output: Path) -> Path:
    """Where what an output is made of is kept while it is not complete."""
    return output.expanduser().with_suffix(".journal.jsonl")


def results_and_journal(output: Path | None, resume: bool) -> tuple[Path, Path]:
    """Absolute paths of the results file of many runs and of its journal.

    Args:
        output: as the user typed it; None is a new file where results are kept.
        resume: whether the journal of an earlier call is to be gone on with.

    Raises:
        InputError: there is a file that is not to be resumed, or none that is.
    """
    from harness.runner import DEFAULT_RESULTS_DIR, unused  # what only reads results needs no runner

    path = output or unused(DEFAULT_RESULTS_DIR, "results", ".json")
    path = path.expanduser().absolute()
    journal = journal_of(path)
    if resume and not journal.exists():
        raise InputError(f"{journal}: no journal to resume; name the same -o as before, or drop --resume")
    if not resume:
        refuse_existing(journal, path, way_out="go on with it by --resume, or name another with -o")
    return path, journal


def say_stopped(done: int, planned: int, reason: str, more: Sequence[str] = ()) -> None:
    """Say on stderr why the runs ended early, and the command that goes on with them; `more` are its new options."""
    resume = [] if "--resume" in sys.argv else ["--resume"]
    say(f"stopped after {done} of {planned} runs: {reason}", err=True)
    say(f"go on with: python -m harness {shlex.join([*sys.argv[1:], *resume, *more])}", err=True)


def keep_sources(sources: Iterable[Path], *outputs: Path | None) -> None:
    """Stop before a report is written over the results that it is about.

    Raises:
        InputError: one of the outputs is one of the sources.
    """
    kept = list(sources)
    for output in outputs:
        if output is not None:
            check_output(output.expanduser(), kept)


def write_text(path: Path | None, make: Callable[[], str]) -> None:
    """Write what `make` gives, when the user named a path for it.

    Raises:
        InputError: the path cannot be written.
    """
    if path is None:
        return
    path = path.expanduser()
    write_whole(path, make())
    say(f"wrote {path}")


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
    say(f"saved to {saved}")
