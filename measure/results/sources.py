"""Sources of results: a results file, the journal of a running matrix, a Harbor job folder, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from locobench.shared.errors import InputError
from measure.records import EvalResult
from measure.results.files import load_results
from measure.results.harbor import load_jobs
from measure.results.journal import read_journal
from measure.results.rewards import BY_NAME, RewardScale
from measure.results.table import load_table


def load_source(path: Path | str, scale: RewardScale = BY_NAME) -> list[EvalResult]:
    """Read the results at a path of any of these kinds; InputError when there is nothing to read.

    `scale` says which reward counts in Harbor jobs and tables; scores of the other kinds are final.
    """
    path = Path(path)
    if path.is_dir():
        results = load_jobs(path, scale)
    elif path.name.endswith(".jsonl"):
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        results = read_journal(path)
    elif is_table(path):
        results = [result for arm in load_table(path, scale).values() for result in arm]
    else:
        results = load_results(path)
    if not results:
        raise InputError(f"{path}: holds no results")
    return results


def is_table(path: Path) -> bool:
    """Tell whether a path is read as a table of rewards."""
    return path.suffix.lower() in (".csv", ".tsv")


def choose(results: Sequence[EvalResult], config: str | None, model: str | None, where: Path) -> list[EvalResult]:
    """Select the results of one config and model, where given; InputError when there are none."""
    chosen = [r for r in results if (config is None or r.config_name == config) and (model is None or r.model == model)]
    if not chosen:
        known = sorted({f"{r.config_name} | {r.model}" for r in results})
        wanted = f"config {config or '*'} and model {model or '*'}"
        raise InputError(f"{where}: no run of {wanted}; there are: {', '.join(known)}")
    return chosen
