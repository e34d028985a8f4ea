"""What a fault did: how often it was tried, how often everything held, and what did not."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ENDS_WITHIN = 2.0
"""Seconds after a command's end in which everything that it started must be gone."""


@dataclass
class Fault:
    """A row of the table."""

    name: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    note: str = ""
    """What the run itself has to say about it: its worst figure, or why it was not tried."""

    @property
    def held(self) -> int:
        """How often nothing went wrong."""
        return self.tried - len(self.failures)

    def count(self, problems: Iterable[str], where: str) -> None:
        """Take one try with what went wrong in it."""
        self.tried += 1
        found = list(problems)
        if found:
            self.failures.append(f"{where}: {'; '.join(found)}")
            print(f"  NOT HELD {self.failures[-1]}", flush=True)


def added_up(name: str, faults: Iterable[Fault]) -> Fault:
    """All of them as one, with the note that has the largest figure."""
    told = [*faults]
    note = max((fault.note for fault in told), key=lambda text: [*map(int, re.findall(r"\d+", text))], default="")
    failures = [failure for fault in told for failure in fault.failures]
    return Fault(name, sum(fault.tried for fault in told), failures, note)


def table(faults: Iterable[Fault]) -> str:
    """The rows as Markdown."""
    lines = ["| fault | tried | held |", "|---|---:|---:|"]
    for fault in faults:
        name = f"{fault.name} ({fault.note})" if fault.note else fault.name
        tried = f"{fault.tried:,}" if fault.tried else "not tried"
        lines.append(f"| {name} | {tried} | {f'{fault.held:,}' if fault.tried else ''} |")
    return "\n".join(lines)


def adopt_orphans() -> None:
    """Make this process the parent of every process that loses its own below it, so that none can hide from it."""
    if sys.platform != "linux":
        raise SystemExit("only Linux can tell which processes a command left behind")
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def left_running() -> list[str]:
    """Command lines of the processes that are still below this one after ENDS_WITHIN; they are ended then."""
    until = time.monotonic() + ENDS_WITHIN
    while (alive := _alive()) and time.monotonic() < until:
        time.sleep(0.02)
    found = []
    for process in alive:
        try:
            found.append(" ".join(process.cmdline())[:120])
            process.kill()
        except psutil.Error:
            continue
    _reap()
    return found


def _alive() -> list[psutil.Process]:
    _reap()
    processes = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
        except psutil.Error:
            continue
    return processes


def _reap() -> None:
    """Take leave of adopted processes that have ended; the command itself was waited for before."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def torn(folder: Path) -> list[str]:
    """Truncated JSON files, and journals damaged before their last line."""
    found = []
    for path in sorted(folder.rglob("*.json*")):
        if path.suffix not in (".json", ".jsonl") or not path.is_file():
            continue
        content = path.read_bytes()
        parts = content.split(b"\n")[:-1] if path.suffix == ".jsonl" else [content]
        for part in parts:
            try:
                json.loads(part)
            except ValueError:
                found.append(f"{path.name} is not whole")
                break
    return found


def names(folder: Path) -> set[str]:
    """Paths of everything below a folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
