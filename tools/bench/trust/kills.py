"""Commands that run agents or ask judges, ended at a random moment by a signal and gone on with."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bench.trust.faults import Fault, left_running, names, torn
from tools.bench.trust.scenes import SCENES, Scene

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LONGEST_END = 30.0
"""Seconds in which a command must have ended after a signal that it can handle."""
LONGEST_RUN = 180.0


@dataclass(frozen=True)
class Ended:
    """A command that was killed, or not."""

    code: int
    said: str
    seconds: float


def tried_kills(kills: int, rng: random.Random, place: Path, claude: Path | None) -> list[Fault]:
    """End `run`, `matrix` and `grade` `kills` times each; a row a command."""
    found = []
    for make in SCENES:
        name = make.__name__.lower()
        fault = Fault(f"`{name}` ended by SIGKILL, SIGTERM, SIGINT or SIGHUP at a random moment")
        longest = _undisturbed(make, place / name, claude)
        for attempt in range(kills):
            number_of_signal = SIGNALS[attempt % len(SIGNALS)]
            after = rng.uniform(0.02, longest)
            to_group = rng.random() < 0.5
            where = f"{name}, {number_of_signal.name} after {after:.2f} s of {longest:.2f}"
            with _scene(make, place / f"{name}{attempt}", claude) as scene:
                fault.count(_tried(scene, number_of_signal, after, to_group), where)
        print(f"{fault.name}: {fault.held} of {fault.tried}", flush=True)
        found.append(fault)
    return found


@contextlib.contextmanager
def _scene(make: Callable[[Path, Path | None], Scene], root: Path, claude: Path | None) -> Iterator[Scene]:
    scene = make(root, claude)
    try:
        with scene.api:
            yield scene
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _undisturbed(make: Callable[[Path, Path | None], Scene], root: Path, claude: Path | None) -> float:
    """Seconds that the command takes when nothing ends it."""
    with _scene(make, root, claude) as scene:
        ended = run_killed(scene.command(), scene.root, scene.environment())
        wrong = scene.wrong_at_the_end() if ended.code in (0, 2) else []
        if wrong or ended.code == 1 or left_running():
            raise SystemExit(f"without any fault: {wrong} {ended}")
    return ended.seconds


def _tried(scene: Scene, number: signal.Signals, after: float, to_group: bool) -> list[str]:
    before = names(scene.root)
    killed = run_killed(scene.command(), scene.root, scene.environment(), number, after, to_group=to_group)
    wrong = [f"still running: {line}" for line in left_running()]
    wrong += wrong_end(killed, number)
    wrong += torn(scene.root)
    kept, paid = scene.rows(), scene.calls()
    if scene.announced(killed.said) > len(kept):
        wrong.append(f"{scene.announced(killed.said)} runs announced, {len(kept)} kept")
    has_journal = scene.journal.exists()
    done = scene.out.exists() and not has_journal
    again = run_killed(scene.command(again=has_journal), scene.root, scene.environment())
    if again.code not in ((2,) if done else (0, 2)) or "Traceback" in again.said:
        wrong.append(f"going on ended with {again.code}: {again.said[-300:]}")
        return wrong
    if scene.rows()[: len(kept)] != kept:
        wrong.append(f"of the rows {kept} there are {scene.rows()}")
    for run, times in scene.expected.items():
        more = scene.calls()[run] - paid[run]
        if more != times - kept.count(run):
            wrong.append(f"{run}: {kept.count(run)} of {times} kept, and {more} more paid")
    wrong += scene.wrong_at_the_end() + torn(scene.root)
    wrong += [f"still running at the end: {line}" for line in left_running()]
    left = {name for name in names(scene.root) - before - scene.made if not name.startswith("bin/calls")}
    return wrong + ([f"left on disk: {sorted(left)[:4]}"] if left else [])


def wrong_end(killed: Ended, number: signal.Signals) -> list[str]:
    """A command ends as the signal says, or as if there had been none when it was quicker."""
    # While Python itself is loading, nothing has begun, and how it ends is not up to the command.
    if "importlib._bootstrap" in killed.said and killed.said.rstrip().endswith("KeyboardInterrupt"):
        return []
    # 130, or what a shell shows as 130; before and after the command's own time the system's answer to a signal.
    expected = {130, -signal.SIGINT, -number, 0, 2}
    wrong = [] if killed.code in expected else [f"ended with {killed.code}"]
    if "Traceback" in killed.said:
        wrong.append(f"traceback: {killed.said[-400:]}")
    return wrong


def run_killed(
    command: list[str],
    root: Path,
    env: dict[str, str],
    number: signal.Signals | None = None,
    after: float = LONGEST_RUN,
    *,
    to_group: bool = False,
) -> Ended:
    """Run a command in a session of its own; send it (or its group, as a terminal does) a signal after that long."""
    said = root.with_name(f"{root.name}.said")
    started = time.monotonic()
    with said.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if to_group else os.kill)(process.pid, number or signal.SIGKILL)
        try:
            process.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return Ended(-999, f"did not end {LONGEST_END:g} s after {number}", time.monotonic() - started)
    ended = Ended(process.returncode, said.read_text(errors="replace"), time.monotonic() - started)
    said.unlink()
    return ended
