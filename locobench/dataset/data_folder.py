"""Find the benchmark's data: the folder that holds generated/ and output/scenarios/."""

from __future__ import annotations

from pathlib import Path

from locobench.shared.errors import InputError
from locobench.shared.installation import IS_INSTALLED, REPOSITORY
from locobench.shared.terminal import say

SAMPLE = REPOSITORY / "data" / "sample"
"""The bundled sample, which only a checkout has."""


def find_data_folder(requested: Path | None, *, needs: str = "output/scenarios", quiet: bool = False) -> Path:
    """Return `requested`, else data/ in the current folder, else data/ beside the scripts, else the bundled sample.

    Unless `quiet`, a line says so if it is the sample.

    Raises:
        InputError: the folder lacks the subfolder `needs`.
    """
    found = requested or Path("data")
    if requested is None and not IS_INSTALLED:
        unpacked = (place for place in (found, REPOSITORY / "data") if (place / "output" / "scenarios").is_dir())
        found = next(unpacked, SAMPLE)
        if found == SAMPLE and not quiet:
            say(f"No benchmark data in data/: using the bundled sample in {SAMPLE}")
    if not (found / needs).is_dir():
        raise InputError(f"{found}: no {needs}/ in it; --data_dir names the folder that holds generated/ and output/")
    return found
