"""Extraction: check every raw scenario in a data folder and write each as one line of a JSONL file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from locobench.dataset.benchmark import complete
from locobench.dataset.records import parse_object
from locobench.dataset.scenario import Scenario
from locobench.shared.errors import InputError
from locobench.shared.files import check_output, whole_file


class Extraction(NamedTuple):
    """What an extraction found."""

    counts: dict[str, Counter[str]]
    """Number of records per category, per language and per difficulty."""
    failures: list[tuple[Path, str]]
    """The skipped files and why each was skipped."""

    @property
    def written(self) -> int:
        """Number of records written."""
        return self.counts["language"].total()


def extract(data_dir: Path, output: Path, *, watch: Callable[[list[str]], Iterator[str]] = iter) -> Extraction:
    """Write a record for every valid file in `data_dir`/output/scenarios/*.json to `output`, whole or not at all.

    Args:
        watch: passes the files' names through; it may show progress.

    Raises:
        InputError: there are no scenario files, `output` is one of them, or it cannot be written.
    """
    folder = data_dir / "output" / "scenarios"
    names = sorted(path.stem for path in folder.glob("*.json"))
    if not names:
        raise InputError(f"{folder}: no *.json files; unpack the benchmark's data there or name another --data_dir")
    target = output.resolve().name
    check_output(output, [folder / f"{name}.json" for name in names if target == f"{name}.json"])
    found = Extraction({"category": Counter(), "language": Counter(), "difficulty": Counter()}, [])
    with whole_file(output) as stream:
        for name in watch(names):
            path = folder / f"{name}.json"
            try:
                task = Scenario.from_record(complete(parse_object(path.read_bytes()), name))
            except InputError as error:
                found.failures.append((path, str(error)))
                continue
            except OSError as error:
                found.failures.append((path, f"cannot be read: {error.strerror}"))
                continue
            stream.write(task.to_line() + b"\n")
            found.counts["category"][task.task_category] += 1
            found.counts["language"][task.language] += 1
            found.counts["difficulty"][task.difficulty] += 1
    return found
