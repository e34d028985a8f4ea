"""How much time the harness itself takes: per run, to load results, and with eight workers.

python -m tools.bench.harness        exit code 1 when a bound is not met
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from harness.executor import ClaudeExecutor
from harness.models import CodeAssertion, Config, EvalResult, FileChange, Task
from harness.runner import EvalRunner
from tests.support.fake_claude import RECORDED

FIXTURE_FILES = 100
OVERHEAD_BOUND = 0.15
"""Seconds of a run outside of the CLI."""

LOADED_RESULTS = 500
LOAD_BOUND = 0.5
"""Seconds to load and validate them."""

WORKERS = 8
CLI_SECONDS = 3.0
"""How long the CLI of the utilisation test takes; real runs take minutes, which is easier."""
UTILISATION_BOUND = 0.90


def main() -> int:
    """Measure, print one line each, and say whether all bounds hold. On a busy machine they may not."""
    busy = os.getloadavg()[0]
    print(f"load {busy:.1f} on {os.cpu_count()} CPUs" + (", figures are too high" if busy > 1 else ""))
    root = Path(tempfile.mkdtemp(prefix="bench_"))
    try:
        checks = [_overhead(root), _loading(root), _utilisation(root)]
    finally:
        shutil.rmtree(root)
    return 0 if all(checks) else 1


def _overhead(root: Path) -> bool:
    runner = _runner(root / "quick", seconds=0.0)
    task = _task(_fixture(root / "fixture"))
    spent = []
    for index in range(30):
        started = time.perf_counter()
        result = runner.run_single(task, Config(name="c", claude_md=None), index)
        spent.append(time.perf_counter() - started - (result.trace.duration_seconds or 0.0))
        assert result.passed, result.trace.error
    return _report(f"overhead of a run, fixture of {FIXTURE_FILES} files", median(spent), OVERHEAD_BOUND, "s", _at_most)


def _loading(root: Path) -> bool:
    runner = _runner(root / "quick", seconds=0.0)
    result = runner.run_single(_task(root / "fixture"), Config(name="c"))
    changes = [FileChange(path=f"f{n}", action="created", content_after="x = 1\n" * 300) for n in range(5)]
    trace = result.trace.model_copy(update={"file_changes": changes, "tool_calls": result.trace.tool_calls * 15})
    results = [result.model_copy(update={"trace": trace, "run_index": n}) for n in range(LOADED_RESULTS)]
    path = runner.save_results(results, str(root / "results.json"))
    spent = []
    for _ in range(5):
        started = time.perf_counter()
        loaded: list[EvalResult] = runner.load_results(path)
        spent.append(time.perf_counter() - started)
        assert len(loaded) == LOADED_RESULTS
    label = f"loading {LOADED_RESULTS} results ({path.stat().st_size / 1e6:.0f} MB)"
    return _report(label, median(spent), LOAD_BOUND, "s", _at_most)


def _utilisation(root: Path) -> bool:
    runner = _runner(root / "slow", seconds=CLI_SECONDS)
    tasks = [_task(root / "fixture", f"t{n}") for n in range(WORKERS)]
    started = time.perf_counter()
    results = runner.run_matrix(tasks, [Config(name="c")], None, 5, workers=WORKERS, journal=root / "journal.jsonl")
    wall = time.perf_counter() - started
    busy = sum(r.trace.duration_seconds or 0.0 for r in results) / (WORKERS * wall)
    label = f"time that {WORKERS} workers keep a CLI of {CLI_SECONDS:g} s busy"
    return _report(label, busy, UTILISATION_BOUND, "", _at_least)


def _report(label: str, value: float, bound: float, unit: str, holds: Callable[[float, float], bool]) -> bool:
    fine = holds(value, bound)
    sign = "<=" if holds is _at_most else ">="
    print(f"{'ok  ' if fine else 'MISS'} {label}: {value:.3f} {unit} (bound {sign} {bound} {unit})")
    return fine


def _at_most(value: float, bound: float) -> bool:
    return value <= bound


def _at_least(value: float, bound: float) -> bool:
    return value >= bound


def _runner(folder: Path, seconds: float) -> EvalRunner:
    """A runner whose CLI is a shell script: it waits, touches a file and prints a recorded run."""
    folder.mkdir(exist_ok=True)
    claude = folder / "claude"
    recorded = RECORDED / "ok_stream.stdout"
    claude.write_text(f"#!/bin/sh\ncat > /dev/null\n: > done.txt\nsleep {seconds}\nexec cat '{recorded}'\n")
    claude.chmod(0o755)
    return EvalRunner(ClaudeExecutor(str(claude)), results_dir=folder)


def _fixture(folder: Path) -> Path:
    for number in range(FIXTURE_FILES):
        path = folder / f"package{number % 10}/module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 200)
    return folder


def _task(fixture: Path, name: str = "t") -> Task:
    assertion = CodeAssertion.model_validate({"check": "file_exists", "file": "done.txt"})
    fields = {"id": name, "category": "coding", "description": "d", "prompt": "p", "fixture_path": fixture}
    return Task.model_validate({**fields, "assertions": [assertion]})


if __name__ == "__main__":
    sys.exit(main())
