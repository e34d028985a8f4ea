"""Run one agent's attempt at one task and grade it with the task's own verifier, with or without a container."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from locobench.smoke.containers import CommandTimeout, Engine, EngineError
from locobench.smoke.task import OUTPUT, SmokeTask, TaskError, read_reward

Agent = Literal["oracle", "nop"]
# Never the judge, even if a task has one: there is no network, and a judge promises nothing about the oracle.
VERIFIER = "verify.py"


@dataclass(frozen=True)
class Attempt:
    """The outcome of an attempt: its reward, or why there is none."""

    reward: float | None = None
    fault: str = ""
    said: str = ""
    """The verifier's output; only from `grade_locally`."""
    metrics: str = ""
    """The verifier's metrics.json; only from `grade_locally`."""


def run_locally(task: SmokeTask, agent: Agent, *, timeout: float) -> Attempt:
    """Run `agent` and the task's own verifier in a temporary root, without a container."""
    with _trial_root(task) as root:
        try:
            if agent == "oracle" and (code := _bash(root / "solution" / "solve.sh", root, timeout)) != 0:
                return Attempt(fault=f"oracle: solve.sh failed (exit code {code})")
            return Attempt(_verify(task, root, timeout, VERIFIER))
        except (CommandTimeout, TaskError) as error:
            return Attempt(fault=f"{agent}: {error}")


def run_in_container(engine: Engine, image: str, task: SmokeTask, agent: Agent, *, timeout: float) -> Attempt:
    """Run `agent` in a container and test.sh in a fresh one, both without network."""
    run = partial(engine.run, image, memory_mb=task.toml.environment.memory_mb)
    with _trial_root(task) as root:
        logs = root / "logs"
        try:
            if agent == "oracle":
                solve = "bash /solution/solve.sh > /logs/agent/oracle.txt 2>&1 || exit; cp /app/solution.md /logs || :"
                mounts = {"/logs": logs, "/solution": root / "solution"}
                code, _ = run(solve, what="solve.sh", timeout=timeout, mounts=mounts)
                if code != 0:
                    return Attempt(fault=f"oracle: solve.sh failed (exit code {code})")
            run(
                "cp /logs/solution.md /app;"
                f" bash /tests/test.sh '' {VERIFIER} > /logs/verifier/{OUTPUT} 2>&1;"
                # This process must be able to read and delete the logs.
                f" chown -R {os.getuid()}:{os.getgid()} /logs",
                what="test.sh",
                timeout=min(timeout, task.toml.verifier.timeout_sec),
                mounts={"/logs": logs, "/tests": root / "tests"},
                user="root",
            )
            return Attempt(read_reward(logs / "verifier"))
        except (EngineError, TaskError) as error:
            return Attempt(fault=f"{agent}: {error}")


def grade_locally(task: SmokeTask, answer: bytes, *, timeout: float) -> Attempt:
    """Grade an answer in a temporary root with the task's own verifier, including its judge if it has one."""
    with _trial_root(task) as root:
        logs = root / "logs" / "verifier"
        (root / "app" / "solution.md").write_bytes(answer)
        reward, fault = None, ""
        try:
            reward = _verify(task, root, timeout)
        except (CommandTimeout, TaskError) as error:
            fault = str(error)
        return Attempt(reward, fault, _text(logs / OUTPUT), _text(logs / "metrics.json"))


@contextlib.contextmanager
def _trial_root(task: SmokeTask) -> Iterator[Path]:
    """Yield a temporary folder with everything that a trial expects below / in a container."""
    with tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        for part in ("solution", "tests"):
            shutil.copytree(task.path / part, root / part)
        for folder in ("app", "logs", "logs/agent", "logs/verifier", "logs/artifacts"):
            (root / folder).mkdir()
            (root / folder).chmod(0o777)  # for an agent that is not root
        (root / "app" / "project").symlink_to((task.path / "environment" / "project").resolve())
        yield root


def _verify(task: SmokeTask, root: Path, timeout: float, *program: str) -> float:
    logs = root / "logs" / "verifier"
    timeout = min(timeout, task.toml.verifier.timeout_sec)
    _bash(root / "tests" / "test.sh", root, timeout, *program, output=logs / OUTPUT)
    return read_reward(logs)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _bash(script: Path, root: Path, timeout: float, *arguments: str, output: Path | None = None) -> int:
    """Run `script` with `root` as the parent of app, logs and tests; kill any processes it leaves behind.

    Raises:
        CommandTimeout: it took longer than `timeout` seconds.
    """
    with (
        (output or Path(os.devnull)).open("wb") as said,
        subprocess.Popen(
            ["bash", str(script), str(root), *arguments],
            cwd=root / "app",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise CommandTimeout(script.name, timeout) from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
