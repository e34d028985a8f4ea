#!/usr/bin/env python3
"""Turn LoCoBench-Agent's raw scenarios into one JSONL file: a validated, self-contained record a line, sorted by id."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pipeline import cli

if TYPE_CHECKING:
    from pipeline.dataset.scenario import LoCoBenchTask


class Extraction(NamedTuple):
    """What an extraction found."""

    counts: dict[str, Counter[str]]
    """Number of records by category, by language and by difficulty."""
    failures: list[tuple[Path, str]]
    """The files that were skipped, each with its reason."""

    @property
    def written(self) -> int:
        return self.counts["language"].total()


def read_scenario(folder: Path, name: str) -> LoCoBenchTask:
    """Read and validate the raw scenario `folder`/`name`.json.

    Raises:
        RecordError: the file cannot be read or does not hold a scenario with that name as its id.
    """
    from pipeline.dataset.records import RecordError, parse_object, read_bounded
    from pipeline.dataset.scenario import LoCoBenchTask

    data = parse_object(read_bounded(f"{folder}/{name}.json"))
    scenario_id = data.get("id")
    if isinstance(scenario_id, str) and scenario_id != name and "/" not in scenario_id:
        twin = folder / f"{scenario_id[:200]}.json"
        if "\0" not in scenario_id and twin.is_file():
            raise RecordError(f"id: duplicate of {twin.name}")
    return LoCoBenchTask.from_scenario(data, name)


def extract(data_dir: Path, output: Path, *, watch: Callable[[list[str]], Iterator[str]] = iter) -> Extraction:
    """Write a record for every good file of `data_dir`/output/scenarios/*.json to `output`, whole or not at all.

    Raises:
        InputError: there are no scenario files, or `output` cannot be written.
    """
    from common.files import whole_file
    from pipeline.dataset.records import RecordError

    folder = data_dir / "output" / "scenarios"
    # Strings, not paths: making 8,000 paths takes as long as validating 8,000 records.
    try:
        names = sorted(name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json"))  # noqa: PTH208
    except OSError as error:
        raise cli.InputError(f"{folder}: cannot be read: {error.strerror}; name another --data_dir") from None
    if not names:
        raise cli.InputError(f"{folder}: no *.json files; unpack the benchmark's data there or name another --data_dir")
    found = Extraction({"category": Counter(), "language": Counter(), "difficulty": Counter()}, [])
    with whole_file(output) as stream:
        for name in watch(names):
            try:
                task = read_scenario(folder, name)
            except RecordError as error:
                found.failures.append((folder / f"{name}.json", str(error)))
                continue
            stream.write(task.to_line() + b"\n")
            found.counts["category"][task.task_category] += 1
            found.counts["language"][task.language] += 1
            found.counts["difficulty"][task.difficulty] += 1
    return found


def build_parser() -> cli.Parser:
    parser = cli.Parser("Turn the raw scenarios (output/scenarios/*.json) into one JSONL file.")
    parser.flag("data_dir", type=Path, help="folder with generated/ and output/ (default: data/, else data/sample/)")
    parser.flag("output", type=Path, default=cli.DATASET_FILE, help="JSONL file to write")
    parser.flag("quiet", action="store_true", help="no progress and no summary")
    return parser


def main(argv: list[str] | None) -> int:
    options = build_parser().parse_args(argv)
    # Records hold no cycles; looking for some among millions of strings takes a tenth of the time.
    gc.disable()
    say = (lambda _: None) if options.quiet else print
    data_dir = cli.find_data_dir(options.data_dir, say=say)
    found = extract(
        data_dir,
        options.output,
        watch=lambda names: cli.progress(names, len(names), "Extracting", quiet=options.quiet),
    )
    for path, reason in found.failures:
        cli.complain(f"{path}: {reason}; skipped")
    for heading, counts in found.counts.items():
        say(f"By {heading}: " + ", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
    say(f"{found.written} scenarios written to {options.output}, {len(found.failures)} skipped")
    return cli.SOME_FAILED if found.failures else cli.DONE


if __name__ == "__main__":
    cli.run(main)
