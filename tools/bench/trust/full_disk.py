"""Every command that writes, onto a disk that is full before it is done: one line, nothing lost, and it goes on."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from measure.results.journal import ROOM_BYTES
from tests.support.results import arm, results_json
from tests.support.suite import REPOSITORY, environment
from tools.bench.trust.faults import Fault, left_running, torn
from tools.bench.trust.generation import SAMPLE
from tools.bench.trust.kills import run_killed
from tools.bench.trust.scenes import SCENES, Scene

DISK_BYTES = 64_000_000
PAGE = 4096


def tried(times: int, rng: random.Random, place: Path) -> list[Fault]:
    """Fill the disk so that it has room for a random part of what is written, `times` times a command."""
    place.mkdir(parents=True)
    faults = [Fault(f"`{make.__name__.lower()}` onto a disk that gets full") for make in SCENES]
    writers = Fault("extraction, selection, generation and reports onto a disk that gets full")
    faults.append(writers)
    try:
        with mounted(place / "probe"):
            pass
    except (OSError, subprocess.CalledProcessError):
        for fault in faults:
            fault.note = "no disk could be mounted here"
        return faults
    for make, fault in zip(SCENES, faults, strict=False):
        needed = _needed(make, place / "whole")
        for attempt in range(times):
            room = rng.randrange(0, needed, PAGE)
            fault.count(
                _tried(make, place / f"{fault.tried}-{attempt}", room), f"{fault.name}, {room} of {needed} bytes"
            )
        print(f"{fault.name}: {fault.held} of {fault.tried}", flush=True)
    for name, command in _writers(place).items():
        with mounted(place / "disk") as disk:
            undisturbed = _run(command, disk)
            needed = _used(disk)
            if not needed:
                raise SystemExit(f"{name} without any fault: {undisturbed}")
        for _ in range(times):
            room = rng.randrange(0, needed, PAGE)
            writers.count(_written(command, place / "disk", room), f"{name}, {room} of {needed} bytes")
    print(f"{writers.name}: {writers.held} of {writers.tried}", flush=True)
    return faults


@contextlib.contextmanager
def mounted(folder: Path, size: int = DISK_BYTES) -> Iterator[Path]:
    """A small disk in memory; OSError or CalledProcessError for a user who may mount none."""
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    subprocess.run(["mount", *options], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _fill(disk: Path, room: int) -> Path:
    """Leave so many bytes."""
    ballast = disk / "ballast"
    status = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(PAGE, status.f_bavail * status.f_frsize - room))
    return ballast


def _used(disk: Path) -> int:
    status = os.statvfs(disk)
    return (status.f_blocks - status.f_bavail) * status.f_frsize


@contextlib.contextmanager
def _scene(make: Callable[..., Scene], root: Path) -> Iterator[tuple[Scene, Path]]:
    scene = make(root, None, "disk/out.json")
    with scene.api, mounted(root / "disk") as disk:
        yield scene, disk
    shutil.rmtree(root, ignore_errors=True)


def _needed(make: Callable[..., Scene], root: Path) -> int:
    """Bytes of disk that the command needs: what it writes, and what it reserves for two runs at a time."""
    with _scene(make, root) as (scene, disk):
        run_killed(scene.command(), scene.root, scene.environment())
        return _used(disk) + 2 * ROOM_BYTES + PAGE


def _tried(make: Callable[..., Scene], root: Path, room: int) -> list[str]:
    with _scene(make, root) as (scene, disk):
        ballast = _fill(disk, room)
        full = run_killed(scene.command(), scene.root, scene.environment())
        kept, paid = scene.rows(), scene.calls()
        wrong = _wrong_end(full.code, full.said) + torn(disk)
        # `run` keeps a result or has none; all others keep what they announced.
        if scene.announced(full.said) > len(kept):
            wrong.append(f"{scene.announced(full.said)} runs announced, {len(kept)} kept")
        ballast.unlink()
        again = run_killed(scene.command(again=scene.journal.exists()), scene.root, scene.environment())
        if again.code not in (0, 2) or "Traceback" in again.said or not scene.out.exists():
            return [*wrong, f"going on ended with {again.code}: {again.said[-300:]}"]
        if scene.rows()[: len(kept)] != kept:
            wrong.append(f"of the rows {kept} there are {scene.rows()}")
        for run, times in scene.expected.items():
            if scene.calls()[run] - paid[run] != times - kept.count(run):
                wrong.append(f"{run}: {kept.count(run)} kept, {scene.calls()[run] - paid[run]} more paid")
        left = {path.name for path in disk.iterdir()} - {scene.out.name, scene.journal.name}
        wrong += scene.wrong_at_the_end() + torn(disk) + ([f"left on disk: {sorted(left)}"] if left else [])
        return wrong + [f"still running: {line}" for line in left_running()]


def _writers(place: Path) -> dict[str, list[str]]:
    """Commands that can simply be run again, each with OUT where it writes."""
    for name, passes in (("a", 5), ("b", 0)):
        (place / f"{name}.json").write_text(results_json(arm({f"t{n}": passes for n in range(20)}, 5, config=name)))
    dataset = str(place / "dataset.jsonl")
    extract = [str(REPOSITORY / "extract_dataset.py"), "--data_dir", str(SAMPLE), "--quiet", "--output"]
    subprocess.run([sys.executable, *extract, dataset], check=True)
    select = [str(REPOSITORY / "select_tasks.py"), "--dataset_path", dataset, "--min_context_length", "5000"]
    results = [str(place / "a.json"), str(place / "b.json")]
    return {
        "extract_dataset.py": [*extract, "OUT/out.jsonl"],
        "select_tasks.py": [*select, "--min_files_count", "5", "--quiet", "--output", "OUT/selected.json"],
        "run_adapter.py": [
            str(REPOSITORY / "run_adapter.py"), "--data_dir", str(SAMPLE), "--dataset_path", dataset,
            "--quiet", "--dataset_name", "a/b", "--output_dir", "OUT/tasks",
        ],
        "compare --html": ["-m", "harness", "compare", *results, "--html", "OUT/page.html"],
    }  # fmt: skip


def _run(command: list[str], disk: Path) -> subprocess.CompletedProcess[str]:
    given = [part.replace("OUT", str(disk)) for part in command]
    return subprocess.run([sys.executable, *given], capture_output=True, text=True, env=environment(), check=False)


def _written(command: list[str], folder: Path, room: int) -> list[str]:
    with mounted(folder) as disk:
        ballast = _fill(disk, room)
        full = _run(command, disk)
        wrong = _wrong_end(full.returncode, full.stderr, one_line="run_adapter" not in command[0])
        wrong += torn(disk) if "run_adapter" not in command[0] else []
        ballast.unlink()
        again = _run(command, disk)
        if again.returncode not in (0, 1) or again.stderr.count("Traceback"):
            wrong.append(f"going on ended with {again.returncode}: {again.stderr[-300:]}")
        left = [path.name for path in disk.rglob("*") if path.name.endswith(".tmp")]
        return wrong + [f"left on disk: {name}" for name in left]


def _wrong_end(code: int, said: str, *, one_line: bool = False) -> list[str]:
    """A full disk ends a command with exit code 1 (some tasks failed) or 2, unless what was lacking was not needed."""
    wrong = [] if code in (0, 1, 2) else [f"ended with {code}"]
    if "Traceback" in said:
        wrong.append(f"traceback: {said[-400:]}")
    if one_line and code and len(said.splitlines()) != 1:
        wrong.append(f"said {said[-300:]}")
    return wrong
