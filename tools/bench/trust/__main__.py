"""Try faults on the real commands and write what held: `python -m tools.bench.trust` (`make trust`).

Kills at random moments, agents that attack, print and write without end, odd input, and full disks. Each part rewrites
its rows of the table in docs/TRUST.md when it is done. Exit code 1 when something did not hold.
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
from tools.bench.trust import containers, floods, full_disk, generation, kills
from tools.bench.trust.faults import Fault, added_up, adopt_orphans, table
from tools.bench.trust.scenes import installed_claude
from tools.fuzz import odd_inputs

PAGE = REPOSITORY / "docs" / "TRUST.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
PARTS = ("kills", "generation", "disks", "floods", "odd", "containers")
ONE_ROW = {
    "generation": "extraction and generation ended in the same ways",
    "disks": "commands onto a disk that gets full",
    "floods": "matrices whose agents print or write without end",
    "odd": "files of a command changed at random",
}
"""Parts whose faults are added up."""


def main() -> int:
    """Try everything, print what did not hold, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="of each command of the harness, and of the scripts")
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
            "containers": containers.tried,
        }
        for name in options.only:
            started = time.monotonic()
            faults = parts[name]()
            print(table(faults), f"{(time.monotonic() - started) / 60:.0f} minutes{_agent(claude, name)}", flush=True)
            if not options.dry_run:
                _write([added_up(ONE_ROW[name], faults)] if name in ONE_ROW else faults)
            failures += [failure for fault in faults for failure in fault.failures]
    print(*failures, sep="\n")
    return 1 if failures else 0


def _write(faults: list[Fault]) -> None:
    """Put rows into the table of the page, in the place of those of the same name."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    rows = dict(_named(row) for row in old.strip().splitlines()[2:])
    head, rule, *new = table(faults).splitlines()
    rows |= dict(map(_named, new))
    write_whole(PAGE, "\n".join([f"{before}{BEGIN}", head, rule, *rows.values(), f"{END}{after}"]))


def _named(row: str) -> tuple[str, str]:
    """A row of the table by what it is about, without its note."""
    return row.split("|")[1].split(" (")[0].strip(), row


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
