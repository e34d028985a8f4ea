"""Search for data that breaks extraction or generation, and for files that break a command.

`python -m tools.fuzz --minutes N`: three quarters of the time for the former, which knows what data may look like.

Every round draws new data; failing examples are kept in .cache/fuzz and tried first in the next run. Exit code 1
when something broke, with the smallest example found on stdout.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from locobench.shared.installation import REPOSITORY
from tests.support.invariants import check_extraction, check_generation
from tests.support.strategies import Entry, flags, projects, scenarios
from tools.fuzz import odd_inputs

KEPT = REPOSITORY / ".cache" / "fuzz"
EXAMPLES_PER_ROUND = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5, help="how long to search (default: 5)")
    parser.add_argument("--seed", type=int, help="first seed, to repeat a run (default: a new one)")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {first}, {options.minutes:g} minutes; failing examples are kept in {KEPT}", flush=True)
    end = time.monotonic() + 60 * options.minutes * 0.75
    counts: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        number = first
        while time.monotonic() < end:
            for search in (search_extraction, search_generation):
                try:
                    search(number, Path(place).resolve(), counts)
                except Exception:
                    failures += 1
                    traceback.print_exc(limit=-6)
                    print(f"broken with seed {number}", flush=True)
            number += 1
        for fault in odd_inputs.tried(options.minutes / 4, random.Random(first), Path(place).resolve() / "odd"):
            counts[fault.name] += fault.tried
            failures += len(fault.failures)
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())), f"failures {failures}", sep=", ")
    return 1 if failures else 0


def search_extraction(number: int, place: Path, counts: Counter[str]) -> None:
    @seed(number)
    @_thorough("extraction")
    @given(st.lists(scenarios(), max_size=6))
    def extraction(found: list[tuple[str, bytes]]) -> None:
        with tempfile.TemporaryDirectory(dir=place) as root:
            counts["records extracted"] += len(check_extraction(Path(root), found))
        counts["extractions"] += 1

    extraction()


def search_generation(number: int, place: Path, counts: Counter[str]) -> None:
    @seed(number)
    @_thorough("generation")
    @given(st.lists(scenarios(), min_size=1, max_size=4), projects, flags)
    def generation(found: list[tuple[str, bytes]], project: list[Entry], chosen: set[str]) -> None:
        with tempfile.TemporaryDirectory(dir=place) as root:
            counts["tasks written"] += check_generation(Path(root), found, project, chosen)
        counts["generations"] += 1

    generation()


def _thorough(name: str) -> settings:
    return settings(
        max_examples=EXAMPLES_PER_ROUND,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        database=DirectoryBasedExampleDatabase(KEPT / name),
        print_blob=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
