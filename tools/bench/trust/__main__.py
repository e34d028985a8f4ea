"""Try faults on the real commands and write what held: `python -m tools.bench.trust` (`make trust`).

Kills at random moments, agents that print and write without end, odd input, and full disks. Each part rewrites its
table of docs/TRUST.md when it is done. Exit code 1 when something did not hold.
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

from locobench.shared.files import write_whole
from tests.support.suite import REPOSITORY
from tools.bench.trust import floods, full_disk, generation, kills
from tools.bench.trust.faults import Fault, adopt_orphans, table
from tools.bench.trust.scenes import installed_claude
from tools.fuzz import odd_inputs

PAGE = REPOSITORY / "docs" / "TRUST.md"
PARTS = ("kills", "generation", "disks", "floods", "odd")


def main() -> int:
    """Try everything, print what did not hold, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="of harness commands, and as many of the scripts")
    parser.add_argument("--minutes", type=float, default=30, help="how long odd input is tried (default: 30)")
    parser.add_argument("--flood-seconds", type=float, default=8, help="how long an agent prints (default: 8)")
    parser.add_argument("--workers", type=int, default=floods.WORKERS, help="agents at a time (default: 8)")
    parser.add_argument("--disks", type=int, default=6, help="full disks for each command (default: 6)")
    parser.add_argument("--seed", type=int, help="to repeat a run (default: a new one)")
    parser.add_argument("--dry-run", action="store_true", help="leave docs/TRUST.md as it is")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to try (default: all)")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    adopt_orphans()
    claude = installed_claude()
    failures = []
    with tempfile.TemporaryDirectory(prefix="trust_") as folder:
        place = Path(folder).resolve()
        parts: dict[str, Callable[[], list[Fault]]] = {
            "kills": lambda: kills.tried_kills(options.kills, random.Random(seed), place / "kills", claude),
            "generation": lambda: generation.tried_kills(options.kills, random.Random(seed), place / "generation"),
            "disks": lambda: full_disk.tried(options.disks, random.Random(seed), place / "disks"),
            "floods": lambda: floods.tried(place / "floods", seconds=options.flood_seconds, workers=options.workers),
            "odd": lambda: odd_inputs.tried(options.minutes, random.Random(seed), place / "odd"),
        }
        for name in options.only:
            started = time.monotonic()
            faults = parts[name]()
            how = f"Seed {seed}, {(time.monotonic() - started) / 60:.0f} minutes{_agent(claude, name)}."
            print(table(faults), flush=True)
            if not options.dry_run:
                _write(name, f"{how}\n\n{table(faults)}")
            failures += [failure for fault in faults for failure in fault.failures]
    print(*failures, sep="\n")
    return 1 if failures else 0


def _write(part: str, text: str) -> None:
    """Put what came of a part between its marks."""
    begin, end = f"<!-- faults {part}: begin -->", f"<!-- faults {part}: end -->"
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(begin)[0], page.split(end)[1]
    write_whole(PAGE, f"{before}{begin}\n{text}\n{end}{after}")


def _agent(claude: Path | None, part: str) -> str:
    """Which agents were killed."""
    if part != "kills":
        return ""
    if claude is None:
        return "; the agents were a stand-in of the claude CLI that plays a recorded run"
    told = subprocess.run([claude, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    return f"; the agents were the real claude CLI {told} with a stand-in of its service"


if __name__ == "__main__":
    sys.exit(main())
