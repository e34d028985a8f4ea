"""Where runs are saved: a results file and its journal, at the paths that the user named."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.models import EvalResult
from locobench.shared.errors import InputError
from locobench.shared.installation import HARNESS
from measure.report.console import say
from measure.results import files


def journal_of(output: Path) -> Path:
    """Return the path of the journal that belongs to an output."""
    return output.expanduser().with_suffix(".journal.jsonl")


def results_and_journal(output: Path | None, resume: bool) -> tuple[Path, Path]:
    """Return the absolute paths of a results file and its journal; without an `output`, in the default results folder.

    InputError if a file exists and is not to be resumed, or if there is no journal to resume.
    """
    path = output or files.unused(files.DEFAULT_RESULTS_DIR, "results", ".json")
    path = path.expanduser().absolute()
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file with -o")
    journal = journal_of(path)
    if resume and not journal.exists():
        raise InputError(f"{journal}: no journal to resume; name the same -o as before, or drop --resume")
    for there in (journal, path):
        if not resume and there.exists():
            raise InputError(f"{there} exists and holds paid runs; continue it with --resume, or name another with -o")
    return path, journal


def say_stopped(done: int, planned: int, reason: str, more: Sequence[str] = ()) -> None:
    """Print on stderr why the runs ended early, and the command that continues them with the options `more` added."""
    resume = [] if "--resume" in sys.argv else ["--resume"]
    say(f"stopped after {done} of {planned} runs: {reason}", err=True)
    say(f"continue with: {HARNESS} {shlex.join([*sys.argv[1:], *resume, *more])}", err=True)


def save_results(results: Sequence[EvalResult], path: Path, stop_reason: str = "") -> None:
    """Write a results file to the path that the user typed, and print its absolute path.

    A `stop_reason` says why results are missing. InputError if the path cannot be written.
    """
    path = path.expanduser().absolute()
    files.save_results(results, path, stop_reason=stop_reason)
    say(f"saved to {path}")
