#!/usr/bin/env python3
"""Turn LoCoBench-Agent's raw scenarios into one JSONL file: one validated record per line, sorted by id."""

from __future__ import annotations

import gc
from pathlib import Path

from locobench.shared.command_line import DONE, PATH, SOME_FAILED, option, script
from locobench.shared.terminal import complain, progress, say


@script("Turn the raw scenarios (output/scenarios/*.json) into one JSONL file.")
@option("--data_dir", type=PATH, help="Folder with generated/ and output/ (default: data/, else the bundled sample).")
@option("--output", type=PATH, default="locobench_dataset.jsonl", help="JSONL file to write.")
@option("--quiet", is_flag=True, help="No progress and no summary.")
def main(data_dir: Path | None, output: Path, quiet: bool) -> int:
    """Run the command; the exit code is 1 if scenarios were skipped."""
    from locobench.dataset.data_folder import find_data_folder
    from locobench.dataset.extract import extract

    # Records hold no cycles; looking for some among millions of strings takes a tenth of the time.
    gc.disable()
    found = extract(
        find_data_folder(data_dir, quiet=quiet),
        output,
        watch=lambda names: progress(names, len(names), "Extracting", quiet=quiet),
    )
    for path, reason in found.failures:
        complain(f"{path}: {reason}; skipped")
    if not quiet:
        for heading, counts in found.counts.items():
            say(f"By {heading}: " + ", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
        say(f"{found.written} scenarios written to {output}, {len(found.failures)} skipped")
    return SOME_FAILED if found.failures else DONE


if __name__ == "__main__":
    main()
