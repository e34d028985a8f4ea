"""Try faults on the real commands and write what held: `python -m tests.bench.trust` (`make trust`).

Kills at random moments, agents that print and write without end, odd input, and a full disk. Rewrites the table of
docs/TRUST.md, unless only parts were tried. Exit code 1 when something did not hold.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common.files import write_whole
from tests.bench.trust import floods, full_disk, generation, kills
from tests.bench.trust.faults import ENDS_WITHIN, Fault, adopt_orphans, table
from tests.bench.trust.scenes import installed_claude
from tests.fuzz import odd_inputs
from tests.support.suite import REPOSITORY

PAGE = REPOSITORY / "docs" / "TRUST.md"
PARTS = ("kills", "generation", "disks", "floods", "odd")
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"


def main() -> int:
    """Try everything, print what did not hold, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="of harness commands, and as many of the scripts")
    parser.add_argument("--minutes", type=float, default=30, help="how long odd input is tried (default: 30)")
    parser.add_argument("--flood-seconds", type=float, default=8, help="how long an agent prints (default: 8)")
    parser.add_argument("--workers", type=int, default=floods.WORKERS, help="agents at a time (default: 8)")
    parser.add_argument("--disks", type=int, default=6, help="full disks for each command (default: 6)")
    parser.add_argument("--seed", type=int, help="to repeat a run (default: a new one)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to try (default: all)")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    adopt_orphans()
    started = time.monotonic()
    claude = installed_claude()
    with tempfile.TemporaryDirectory(prefix="trust_") as folder:
        place = Path(folder).resolve()
        parts: dict[str, Callable[[], list[Fault]]] = {
            "kills": lambda: kills.tried_kills(options.kills, random.Random(seed), place / "kills", claude),
            "generation": lambda: generation.tried_kills(options.kills, random.Random(seed), place / "generation"),
            "disks": lambda: full_disk.tried(options.disks, random.Random(seed), place / "disks"),
            "floods": lambda: floods.tried(place / "floods", seconds=options.flood_seconds, workers=options.workers),
            "odd": lambda: odd_inputs.tried(options.minutes, random.Random(seed), place / "odd"),
        }
        faults = [fault for name, part in parts.items() if name in options.only for fault in part()]
    minutes = (time.monotonic() - started) / 60
    text = f"{_how(claude, seed, minutes, options.minutes)}\n\n{table(faults)}"
    if set(options.only) == set(PARTS):
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        write_whole(PAGE, f"{before}{BEGIN}\n{text}\n{END}{after}")
    failures = [failure for fault in faults for failure in fault.failures]
    print(text, *failures, sep="\n")
    return 1 if failures else 0


def _how(claude: Path | None, seed: int, minutes: float, odd: float) -> str:
    """What was run, as the paragraph over the table."""
    if claude is None:
        agent = "a stand-in of the claude CLI that plays a recorded run"
    else:
        told = subprocess.run([claude, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
        agent = f"the real claude CLI {told} against a stand-in of its service"
    return (
        f"Tried in {minutes:.0f} minutes ({odd:g} of them on odd input) with seed {seed}. The agents that were killed "
        f"were {agent}; all of them had hidden children. A kill held when nothing of the command ran {ENDS_WITHIN:g} s "
        "after its end, going on finished the work, every row was still there, nothing that had a row was paid for "
        "again, every file was whole, and nothing stayed in the temporary folder."
    )


if __name__ == "__main__":
    sys.exit(main())
