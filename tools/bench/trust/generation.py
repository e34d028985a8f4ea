"""Extraction and generation over the bundled sample, ended at a random moment and run again."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
from pathlib import Path

from tests.support.suite import REPOSITORY
from tools.bench.trust.faults import Fault, left_running
from tools.bench.trust.kills import SIGNALS, run_killed, wrong_end

SAMPLE = REPOSITORY / "data" / "sample"

Tree = dict[str, tuple[int, str]]
"""Mode and SHA-256 of every file."""


def tried_kills(kills: int, rng: random.Random, place: Path) -> list[Fault]:
    """End extraction and generation `kills` times in all; a row each."""
    place.mkdir(parents=True)
    sample = shutil.copytree(SAMPLE, place / "sample")
    dataset = place / "dataset.jsonl"
    extract = ["extract_dataset.py", "--data_dir", str(sample), "--output"]
    generate = ["run_adapter.py", "--data_dir", str(sample), "--dataset_path", str(dataset), "--output_dir"]
    made = _command([*extract, str(dataset)])
    if run_killed(made, place, dict(os.environ)).code:
        raise SystemExit("without any fault: extraction failed")
    ways = {"`extract_dataset.py`": extract, "`run_adapter.py`": generate}
    faults = []
    for number, (name, arguments) in enumerate(ways.items()):
        fault = Fault(f"{name} ended in the same ways")
        faults.append(fault)
        times = len(range(number, kills, len(ways)))
        if not times:
            continue
        whole = place / f"whole{number}" / "out"
        whole.parent.mkdir()
        undisturbed = run_killed(_command([*arguments, str(whole)]), place, dict(os.environ))
        if undisturbed.code:
            raise SystemExit(f"without any fault: {undisturbed}")
        wanted = _tree(whole.parent)
        for attempt in range(times):
            signal_sent = SIGNALS[attempt % len(SIGNALS)]
            after = rng.uniform(0.02, undisturbed.seconds)
            root = place / f"{number}-{attempt}"
            root.mkdir()
            command = _command([*arguments, str(root / "out")])
            killed = run_killed(command, root, dict(os.environ), signal_sent, after, to_group=rng.random() < 0.5)
            wrong = [f"still running: {line}" for line in left_running()]
            wrong += [*wrong_end(killed, signal_sent), *_not_whole(_tree(root), wanted)]
            again = run_killed(command, root, dict(os.environ))
            if again.code:
                wrong.append(f"going on ended with {again.code}: {again.said[-300:]}")
            if (found := _tree(root)) != wanted:
                wrong.append(f"another result: {sorted(found.items() ^ wanted.items())[:3]}")
            fault.count(wrong, f"{name}, {signal_sent.name} after {after:.2f} s of {undisturbed.seconds:.2f}")
            shutil.rmtree(root)
        print(f"{fault.name}: {fault.held} of {fault.tried}", flush=True)
    return faults


def _command(arguments: list[str]) -> list[str]:
    script, *rest = arguments
    return [sys.executable, str(REPOSITORY / script), *rest, "--quiet"]


def _tree(root: Path) -> Tree:
    """Everything below a folder but what a killed process left of a file."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".tmp":
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


def _not_whole(found: Tree, wanted: Tree) -> list[str]:
    """Tasks and files that are in their place and not whole; what is still being built has a name of its own."""
    there = {_unit(path) for path in found if not any(part.startswith(".") for part in path.split("/")[:2])}
    return [
        f"{unit} is there and not whole"
        for unit in sorted(there)
        if {p: s for p, s in found.items() if _unit(p) == unit} != {p: s for p, s in wanted.items() if _unit(p) == unit}
    ]


def _unit(path: str) -> str:
    """What is whole or not there: a task's folder, or a file."""
    return "/".join(path.split("/")[:2])
