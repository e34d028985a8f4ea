"""Time and memory of the pipeline beside plain ways of doing the same: `python -m tools.bench.pipeline`.

Contenders take turns in one run, every figure is the median of its rounds, and the input is in the page cache.
Prints one table and leaves nothing but the made data in .cache/bench; until then it takes 5 GB there for each round.
Wait six minutes after another run: ext4 passes over recently freed inodes one by one, which slows all who make files.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from locobench.selection.candidates import read_candidates
from locobench.shared.installation import REPOSITORY
from tools.bench import made_data

CACHE = REPOSITORY / ".cache" / "bench"
SCRIPTS = ("derive_scenarios.py", "extract_dataset.py", "select_tasks.py", "run_adapter.py", "smoke_test.py")
ANSWER_BYTES = 5_000_000

# The plain ways: what a reader would write in a minute.
PLAIN_EXTRACTION = """
import json, sys
from pathlib import Path
with open(sys.argv[2], "w") as out:
    for path in sorted(Path(sys.argv[1]).glob("*.json")):
        with open(path) as stream:
            out.write(json.dumps(json.load(stream)) + "\\n")
"""
PLAIN_READING = """
import json, sys
for line in open(sys.argv[1]):
    json.loads(line)
"""
PLAIN_COPY = """
import shutil, sys
target, *projects = sys.argv[1:]
for project in projects:
    for number in range(8):
        shutil.copytree(project, f"{target}/{number}/{project.rpartition('/')[2]}")
"""
CP = 'target=$1; shift; for i in 1 2 3 4 5 6 7 8; do mkdir -p "$target/$i" && cp -r "$@" "$target/$i/"; done'


class Run(NamedTuple):
    """What one command cost."""

    seconds: float
    """Wall clock."""
    megabytes: float
    """Peak of all its processes together (proportional set size, sampled); at least the largest process's peak."""
    processor: float = 0
    """Seconds of processor time, those of its children included."""


class Row(NamedTuple):
    """A line of the table; `limit` is the largest figure that meets the bound, None where there is none."""

    what: str
    own: str
    other: str = ""
    figure: float | None = None
    limit: float | None = None
    unit: str = ""

    def cells(self) -> tuple[str, ...]:
        figure = "" if self.figure is None else f"{self.figure:.2f} {self.unit}"
        if self.figure is None or self.limit is None:
            return self.what, self.own, self.other, figure, "", ""
        verdict = "met" if self.figure <= self.limit else "missed"
        return self.what, self.own, self.other, figure, f"<= {self.limit:g} {self.unit}", verdict


def measure(command: Iterable[object]) -> Run:
    """Run a command to its end.

    Raises:
        SystemExit: it failed; the message is its error output.
    """
    # Nothing written before is left for the disk to do meanwhile.
    os.sync()
    start = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    peaks = [0.0]
    ended = threading.Event()
    sampler = threading.Thread(target=_sample, args=(process.pid, peaks, ended))
    sampler.start()
    assert process.stderr
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    ended.set()
    sampler.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"exit code {process.returncode} of {process.args!r:.300}\n{errors[-2000:]}")
    # Linux counts in KiB, macOS in bytes.
    largest = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Run(seconds, max(largest, *peaks), usage.ru_utime + usage.ru_stime)


def _sample(pid: int, peaks: list[float], ended: threading.Event) -> None:
    # Not often: reading a process's pages holds it up, and whoever works with several is held up more.
    while not ended.wait(0.2):
        with suppress(OSError, ValueError):
            peaks[0] = max(peaks[0], sum(map(_proportional_megabytes, _family(pid))))


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(relative for child in children for relative in _family(int(child)))]


def _proportional_megabytes(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


def median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(figures) for figures in zip(*runs, strict=True)))


def take_turns(contenders: dict[str, Callable[[], Run]], rounds: int) -> dict[str, Run]:
    """Run every contender once a round, each round beginning with another one; return the medians."""
    runs: dict[str, list[Run]] = defaultdict(list)
    names = list(contenders)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            run = contenders[name]()
            print(f"round {turn + 1}: {name} {run.seconds:.2f} s", file=sys.stderr, flush=True)
            runs[name].append(run)
    return {name: median(runs[name]) for name in names}


class Bench:
    """The contenders, over the made data and a scratch folder."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.data = CACHE / "data"
        self.scratch = CACHE / "scratch"
        self.outputs = (self.scratch / str(number) for number in itertools.count())
        """Folders to fill, never one twice and none removed before the end (see above)."""
        self.dataset = CACHE / "dataset.jsonl"
        self.selection = CACHE / made_data.SELECTION

    def python(self, *arguments: object) -> Run:
        return measure([sys.executable, *arguments])

    def extract(self) -> Run:
        # Into no file's place, as its rival: the old one's removal is the file system's work.
        self.dataset.unlink(missing_ok=True)
        return self.python("extract_dataset.py", "--data_dir", self.data, "--output", self.dataset, "--quiet")

    def plain_extract(self) -> Run:
        output = CACHE / "plain.jsonl"
        run = self.python("-c", PLAIN_EXTRACTION, self.data / "output" / "scenarios", output)
        output.unlink()
        return run

    def generate(self, output: Path, *more: object) -> Run:
        return self.python(
            "run_adapter.py", "--data_dir", self.data, "--dataset_path", self.dataset, "--output_dir", output,
            "--quiet", *more,
        )  # fmt: skip

    def thousand(self, output: Path, *more: object) -> Run:
        return self.generate(output, "--selected_tasks", self.selection, *more)

    def extraction_rows(self) -> list[Row]:
        self.extract()  # warms the cache
        found = take_turns({"extract": self.extract, "json loop": self.plain_extract}, self.rounds)
        own, plain = found["extract"], found["json loop"]
        return [
            Row("extraction, 8,000", *_seconds(own, "json loop", plain), own.seconds / plain.seconds, 1.0, "x"),
            Row("- memory", f"{own.megabytes:.0f} MB", f"json loop {plain.megabytes:.0f} MB", own.megabytes, 80, "MB"),
        ]

    def selection_rows(self) -> list[Row]:
        """Compare a selection with a loop that parses the same JSONL: as whole commands, then the reading alone."""
        select = ("select_tasks.py", "--dataset_path", self.dataset, "--output", CACHE / "selected.json", "--quiet")
        found = take_turns(
            {
                "select": lambda: self.python(*select),
                "json loop, reading": lambda: self.python("-c", PLAIN_READING, self.dataset),
            },
            self.rounds,
        )
        own, plain = found["select"], found["json loop, reading"]
        alone = take_turns(
            {
                "reading": lambda: timed(lambda: read_candidates(self.dataset)),
                "json loop": lambda: timed(lambda: parse_lines(self.dataset)),
            },
            self.rounds,
        )
        reading, loop = alone["reading"], alone["json loop"]
        return [
            Row("selection of 8,000", *_seconds(own, "json loop", plain), own.seconds / plain.seconds, 1.2, "x"),
            Row("- its reading alone", *_seconds(reading, "json loop", loop), reading.seconds / loop.seconds, 1.2, "x"),
        ]

    def generation_rows(self) -> list[Row]:
        projects = made_data.whole_projects(CACHE)
        found = take_turns(
            {
                "copytree": lambda: self.python("-c", PLAIN_COPY, next(self.outputs), *projects),
                "cp -r": lambda: measure(["sh", "-c", CP, "cp", next(self.outputs), *projects]),
                "copy": lambda: self.thousand(next(self.outputs)),
                "published": lambda: self.thousand(next(self.outputs), "--scoring", "published"),
            },
            self.rounds,
        )
        plain, own = found["copytree"], found["copy"]
        ratio = {name: run.seconds / plain.seconds for name, run in found.items()}
        return [
            Row("generation, 1,000 tasks, copy", *_seconds(own, "copytree", plain), ratio["copy"], 1.5, "x"),
            Row(
                "- --scoring published", *_seconds(found["published"], "copytree", plain), ratio["published"], 0.7, "x"
            ),
            Row("- cp -r of the same trees", *_seconds(found["cp -r"], "copytree", plain), ratio["cp -r"], unit="x"),
            Row("- memory, copy", f"{own.megabytes:.0f} MB", "", own.megabytes, 80, "MB"),
            self.whole_row(own),
        ]

    def whole_row(self, thousand: Run) -> Row:
        """Compare the memory of all 8,000 tasks with that of 1,000."""
        print("8,000 tasks", file=sys.stderr, flush=True)
        run = self.generate(next(self.outputs))
        own, few = f"{run.megabytes:.0f} MB ({run.seconds:.0f} s)", f"at 1,000 {thousand.megabytes:.0f} MB"
        return Row("- memory, 8,000 tasks", own, few, run.megabytes / thousand.megabytes, 1.2, "x")

    def start_rows(self) -> list[Row]:
        found = take_turns({name: lambda name=name: self.python(name, "--help") for name in SCRIPTS}, self.rounds)  # type: ignore[misc]
        return [
            Row(f"{name} --help", f"{run.seconds:.2f} s", "", run.seconds, 0.25, "s") for name, run in found.items()
        ]

    def verifier_rows(self) -> list[Row]:
        """Score an answer of 5 MB, made of the task's own project, with the task's own verifier."""
        task_id = json.loads(self.selection.read_bytes())["tasks"][0]["id"]
        output = next(self.outputs)
        self.generate(output, "--task_ids", task_id)
        root = output / "root"
        for folder in ("app", "logs/verifier"):
            (root / folder).mkdir(parents=True)
        task = output / task_id
        (root / "tests").symlink_to(task / "tests")
        text = b"".join(path.read_bytes() for path in sorted((task / "environment").rglob("*")) if path.is_file())
        (root / "app" / "solution.md").write_bytes((text * (ANSWER_BYTES // len(text) + 1))[:ANSWER_BYTES])
        verify = task / "tests" / "verify.py"
        run = take_turns({"verifier": lambda: self.python("-I", "-S", verify, root)}, self.rounds)["verifier"]
        return [
            Row("verifier, answer of 5 MB", f"{run.seconds:.2f} s", "", run.seconds, 0.2, "s"),
            Row("- memory", f"{run.megabytes:.0f} MB", "", run.megabytes, 50, "MB"),
        ]


def timed(work: Callable[[], object]) -> Run:
    """Do some work in this process."""
    start = time.perf_counter()
    work()
    return Run(time.perf_counter() - start, 0)


def parse_lines(dataset: Path) -> None:
    with dataset.open() as stream:
        for line in stream:
            json.loads(line)


def _seconds(own: Run, name: str, other: Run) -> tuple[str, str]:
    return f"{own.seconds:.2f} s", f"{name} {other.seconds:.2f} s"


def table(rows: list[Row]) -> str:
    cells = [("", "this", "beside it", "figure", "bound", ""), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="times that each contender runs (default: 3)")
    rounds = parser.parse_args().rounds
    # In a process of its own: the peak of a small process is what its children's begin with.
    made = subprocess.run([sys.executable, "-m", "tools.bench.made_data", CACHE], cwd=REPOSITORY, check=False)
    if made.returncode != 0:
        raise SystemExit("the data could not be made")
    bench = Bench(rounds)
    shutil.rmtree(bench.scratch, ignore_errors=True)
    try:
        rows = [
            *bench.extraction_rows(),
            *bench.selection_rows(),
            *bench.generation_rows(),
            *bench.start_rows(),
            *bench.verifier_rows(),
        ]
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, medians of {rounds} rounds")
    print(table(rows))


if __name__ == "__main__":
    main()
