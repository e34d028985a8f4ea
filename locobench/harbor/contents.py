"""The files of a trial's folder that are read, in one go. The agent may have tampered with most of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from locobench.shared.files import read_below

RESULT, CONFIG, LOCK = "result.json", "config.json", "lock.json"
TRIAL_LOG = "trial.log"
METRICS, OUTPUT = "verifier/metrics.json", "verifier/test-stdout.txt"
ANSWER = "artifacts/app/solution.md"

MOST_BYTES = 100_000_000
"""Limit for a file. A longer one counts as missing; of a trajectory, memory takes some ten times as much."""
SHORTENED = {OUTPUT: 1_000_000, TRIAL_LOG: 1_000_000, ANSWER: 1 << 18}
"""Bytes that are read of longer files: of the answer as many as the verifier reads."""


def read_contents(folder: Path) -> dict[str, bytes]:
    """Return the content of the files by path in the folder. What is no regular file, or behind a link, is left out."""
    found = {}
    for name in (RESULT, CONFIG, LOCK, TRIAL_LOG, METRICS, ANSWER, *_of_steps(folder)):
        most = next((most for end, most in SHORTENED.items() if name.endswith(end)), None)
        with contextlib.suppress(OSError):
            found[name] = read_below(folder, name, most or MOST_BYTES, cut=most is not None)
    return found


def _of_steps(folder: Path) -> Iterator[str]:
    """Yield what the tests printed and what agents logged, of the trial as a whole and of its steps."""
    for part in ("", *(f"steps/{step}/" for step in _listed(folder / "steps"))):
        yield f"{part}{OUTPUT}"
        for name in _listed(folder / part / "agent"):
            if name.endswith((".txt", ".jsonl")) or (name.startswith("trajectory") and name.endswith(".json")):
                yield f"{part}agent/{name}"


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
