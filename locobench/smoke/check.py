"""Check that every task works: the oracle earns 1.0, doing nothing earns 0.0, and the image is sound."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from locobench.containers.container import EngineError, Limits
from locobench.containers.engine import Engine
from locobench.shared.terminal import progress
from locobench.smoke.task import Fault, SmokeTask, find_leak, read_task_folder
from locobench.smoke.trial import Agent, in_container, run_in_container, run_locally

_VERSION = re.compile(r"\d+\.\d+")
# How many lines of a failed build or command to show.
_SHOWN_LINES = 8


@dataclass
class Row:
    """The result for one task. What was not measured is None or empty."""

    task: str
    language: str = ""
    build_seconds: float | None = None
    size: int | None = None
    """Bytes of the image, including the base image; None if it is not built."""
    toolchain: str = ""
    """The first line with a version in the output of the language's check command."""
    rewards: dict[Agent, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    output: str = ""
    """The last lines of output of what failed first."""

    @property
    def verdict(self) -> str:
        """The task's faults in one line, or `ok`."""
        return "; ".join(self.faults) or "ok"

    def add(self, fault: Fault | EngineError, of: str = "") -> None:
        """Add a fault, of the image or of an agent's trial."""
        self.faults.append(f"{of}{fault}")
        lines = [line.rstrip() for line in fault.tail.splitlines() if line.strip()]
        self.output = self.output or "\n".join(lines[-_SHOWN_LINES:])


def smoke(paths: Iterable[Path], check: Check, *, jobs: int, limit_per_language: int | None, quiet: bool) -> list[Row]:
    """Check the task directories `paths`, whole or broken, and return a row for each, sorted by name.

    Args:
        check: how to check a whole task.
        jobs: Number of tasks at once.
        limit_per_language: Check only this many whole tasks of each language, plus all broken ones.
        quiet: Show no progress.
    """
    rows: list[Row] = []
    tasks: list[SmokeTask] = []
    taken: Counter[str] = Counter()
    for path in paths:
        try:
            task = read_task_folder(path)
        except Fault as fault:
            rows.append(Row(path.name, faults=[str(fault)]))
            continue
        taken[task.language] += 1
        if limit_per_language is None or taken[task.language] <= limit_per_language:
            tasks.append(task)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            checks = [pool.submit(check, task) for task in tasks]
            rows += [done.result() for done in progress(as_completed(checks), len(checks), "Tasks", quiet=quiet)]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if check.engine is not None:
                check.engine.stop()
            raise
    return sorted(rows, key=lambda row: row.task)


@dataclass(frozen=True)
class Check:
    """How a task is checked."""

    engine: Engine | None
    """Builds images and runs containers; None to run only oracle and nop, on this machine."""
    languages: Mapping[str, Mapping[str, Any]]
    """The table of each language, with the command that checks its toolchain."""
    build_timeout: float
    """Seconds for building one image."""
    timeout: float
    """Seconds for one command: the answer, the verifier, the toolchain's check."""

    def __call__(self, task: SmokeTask) -> Row:
        """Build a task's image, ask its toolchain for a version, run oracle and nop, and look for a leaked answer."""
        engine, timeout = self.engine, self.timeout
        row = Row(task.path.name, task.language)
        image = image_of(task.path)
        try:
            if engine is not None:
                row.build_seconds, row.size = engine.build(task.path / "environment", image, timeout=self.build_timeout)
                row.toolchain = self._toolchain(engine, image, task.language)
            if leak := find_leak(task.path):
                row.faults.append(f"environment/ holds the ground truth: {leak[:60]!r}")
        except (Fault, EngineError) as fault:
            row.add(fault)
        if engine is not None and row.size is None:
            return row
        oracle_reward = task.toml.metadata.oracle_reward
        expected_rewards: dict[Agent, float] = {"oracle": oracle_reward or 0.0, "nop": 0.0}
        for agent, expected in expected_rewards.items():
            try:
                if engine is None:
                    reward = run_locally(task, agent, timeout=timeout).reward()
                else:
                    reward = run_in_container(engine, image, task, agent, timeout=timeout).reward()
            except (Fault, EngineError) as fault:
                row.add(fault, f"{agent}: ")
                continue
            row.rewards[agent] = reward
            if oracle_reward is not None and reward != expected:
                row.faults.append(f"{agent}: reward {reward}, not {expected}")
        if not row.faults and len(set(row.rewards.values())) == 1:
            nop = row.rewards["nop"]
            row.faults.append(f"oracle and nop both earn {nop}: the verifier does not tell an answer from none")
        return row

    def _toolchain(self, engine: Engine, image: str, language: str) -> str:
        """Return what the language's check command says about the toolchain's version; raise Fault if it fails."""
        command = self.languages.get(language, {}).get("check")
        if command is None:
            raise Fault(f"toolchain: no table of languages has {language!r}; name a file that has, with --languages")
        code, left = in_container(engine, image, command, Limits(self.timeout))
        if code != 0:
            raise Fault(f"toolchain: `{command}` failed (exit code {code})", left.output)
        return next(filter(_VERSION.search, left.output.splitlines()), "")


def image_of(task: Path) -> str:
    """Return the name of a task's image."""
    return f"smoke-test:{hashlib.sha256(os.fsencode(task.resolve())).hexdigest()[:16]}"
