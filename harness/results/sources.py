"""Where do results come from? A results file, the journal of a running matrix, or a Harbor job folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import InputError
from harness.models import EvalResult
from harness.results.files import load_results
from harness.results.harbor import load_jobs
from harness.results.journal import read_journal


def load_source(path: Path) -> list[EvalResult]:
    """Results of a path of any of the kinds; InputError when there is nothing to read."""
    if path.is_dir():
        results = load_jobs(path)
    elif path.name.endswith(".jsonl"):
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        results = read_journal(path)
    else:
        results = load_results(path)
    if not results:
        raise InputError(f"{path}: holds no results")
    return results


def choose(results: Sequence[EvalResult], config: str | None, model: str | None, where: Path) -> list[EvalResult]:
    """The results of one config and model, where these are named; InputError when there are none."""
    chosen = [r for r in results if (config is None or r.config_name == config) and (model is None or r.model == model)]
    if not chosen:
        known = sorted({f"{r.config_name} | {r.model}" for r in results})
        wanted = f"config {config or '*'} and model {model or '*'}"
        raise InputError(f"{where}: no run of {wanted}; there are: {', '.join(known)}")
    return chosen
