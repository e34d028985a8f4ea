"""Time and memory of derive_scenarios.py beside plain work on the same files: `python -m tools.bench.derive`.

Looks at the repository that an argument names, at this one without. Its files are also copied under new names until
they have 450,000 lines (made_code.py). Contenders take turns, and every figure is the median of its
rounds. Times are of the processor: derivation works on one, and other work on the machine counts less.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from locobench.shared.installation import REPOSITORY
from tools.bench.pipeline import CACHE, Row, Run, measure, table, take_turns

# The plain ways: a parse of the files that are looked at, and a look at the changes of the whole history.
PLAIN_PARSE = """
import sys
import tree_sitter_python
from pathlib import Path
from tree_sitter import Language, Parser, Query, QueryCursor
grammar = Language(tree_sitter_python.language())
parser, names = Parser(grammar), Query(grammar, "(identifier) @id")
for line in sys.stdin:
    tree = parser.parse((Path(sys.argv[1]) / line.rstrip("\\n")).read_bytes())
    sorted(node.byte_range for node in QueryCursor(names).captures(tree.root_node).get("id", ()))
"""
PARSE = '"$1" -c "$2" "$3/files" < "$3/listed"'
LOG = 'git -C "$1" log -p -U0 --max-count=3000 >/dev/null'


def rows(repository: Path, folder: Path, rounds: int, seconds: float, megabytes: float) -> Iterator[Row]:
    """Yield what a repository costs, whose files lie in a folder; the bounds are those of the whole."""
    output = folder / "derived"

    def derive(*more: object) -> Run:
        shutil.rmtree(output, ignore_errors=True)
        command = ("derive_scenarios.py", repository, "--output_dir", output, "--quiet")
        return measure([sys.executable, *command, *more])

    found = take_turns(
        {
            "whole": derive,
            "without history": lambda: derive("--history", 0),
            "plain parse": lambda: measure(["sh", "-c", PARSE, "sh", sys.executable, PLAIN_PARSE, folder]),
            "git log -p": lambda: measure(["sh", "-c", LOG, "sh", repository]),
        },
        rounds,
    )
    whole, structure, parse, log = found.values()
    history = whole.processor - structure.processor
    name = f"{repository.name}, {int((folder / 'lines').read_text()):,} lines of Python"
    yield Row(name, f"{whole.processor:.2f} s", f"by the clock {whole.seconds:.2f} s", whole.processor, seconds, "s")
    beside = f"plain parse {parse.megabytes:.0f} MB"
    yield Row("- memory", f"{whole.megabytes:.0f} MB", beside, whole.megabytes, megabytes, "MB")
    beside = f"plain parse {parse.processor:.2f} s"
    yield Row("- structure", f"{structure.processor:.2f} s", beside, structure.processor / parse.processor, unit="x")
    beside = f"git log -p {log.processor:.2f} s"
    yield Row("- history", f"{history:.2f} s", beside, history / log.processor, unit="x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path, nargs="?", default=REPOSITORY)
    parser.add_argument("--rounds", type=int, default=3, help="times that each contender runs (default: 3)")
    options = parser.parse_args()
    folder, rounds = CACHE / "derive", options.rounds
    # In a process of its own: the peak of a small process is what its children's begin with.
    made = subprocess.run([sys.executable, "-m", "tools.bench.made_code", options.repository, folder], check=False)
    if made.returncode != 0:
        raise SystemExit("the repository could not be made")
    try:
        found = [
            *rows(options.repository.resolve(), folder / "real", rounds, 3, 60),
            # It has one commit, so its history costs nothing.
            *list(rows(folder / "made" / "made.git", folder / "made", rounds, 40, 400))[:-1],
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, medians of {rounds} rounds")
    print(table(found))


if __name__ == "__main__":
    main()
