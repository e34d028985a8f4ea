"""Turn LoCoBench-Agent's raw scenarios into one JSONL file: one validated record per line, sorted by id."""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path

from locobench.commands import cli


def build_parser() -> cli.Parser:
    """Return the argument parser."""
    parser = cli.Parser("Turn the raw scenarios (output/scenarios/*.json) into one JSONL file.")
    parser.flag("data_dir", type=Path, help="folder with generated/ and output/ (default: data/, else data/sample/)")
    parser.flag("output", type=Path, default=cli.DATASET_FILE, help="JSONL file to write")
    parser.flag("quiet", action="store_true", help="no progress and no summary")
    return parser


def main(argv: list[str] | None) -> int:
    """Run the command and return the exit code: 0 done, 1 some scenarios were skipped. InputError means 2."""
    options = build_parser().parse_args(argv)
    # Records hold no cycles; looking for some among millions of strings takes a tenth of the time.
    gc.disable()
    from locobench.dataset.extract import extract

    say = (lambda _: None) if options.quiet else cli.say
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


command = partial(cli.run, main)
"""Entry point for the checkout's script and the installed command."""
