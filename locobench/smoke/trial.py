"""Run one agent's attempt at one task and grade it with the task's own verifier, with or without a container."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from locobench.smoke.containers import Engine
from locobench.smoke.task import OUTPUT, Fault, SmokeTask, read_reward, text_of

Agent = Literal["oracle", "nop"]
# Never the judge, even if a task has one: there is no network, and a judge promises nothing about the oracle.
VERIFIER = "verify.py"


def run_locally(task: SmokeTask, agent: Agent, *, timeout: float) -> float:
    """Run `agent` and the task's own verifier in a temporary root, without a container, and return the reward.

    Raises:
        Fault: a program failed, took longer than `timeout` seconds, or gave no valid reward.
    """
    with _trial_root(task) as root:
        if agent == "oracle" and (code := _bash(root / "solution" / "solve.sh", root, timeout)) != 0:
            raise Fault(f"solve.sh failed (exit code {code})")
        return _verify(task, root, timeout, VERIFIER)


def run_in_container(engine: Engine, image: str, task: SmokeTask, agent: Agent, *, timeout: float) -> float:
    """Run `agent` in a container and test.sh in a fresh one, both without network, and return the reward.

    Raises:
        Fault: as in `run_locally`, or the engine fails.
    """
    run = partial(engine.run, image, memory_mb=task.toml.environment.memory_mb)
    with _trial_root(task) as root:
        logs = root / "logs"
        if agent == "oracle":
            solve = "bash /solution/solve.sh > /logs/agent/oracle.txt 2>&1 || exit; cp /app/solution.md /logs || :"
            mounts = {"/logs": logs, "/solution": root / "solution"}
            code, _ = run(solve, what="solve.sh", timeout=timeout, mounts=mounts)
            if code != 0:
                raise Fault(f"solve.sh failed (exit code {code})")
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
        return read_reward(logs / "verifier")


def grade_locally(task: SmokeTask, answer: bytes, *, timeout: float) -> tuple[float | Fault, str, str]:
    """Grade an answer in a temporary root with the task's own verifier, including its judge if it has one.

    Returns:
        The reward, or why there is none; then the verifier's output and its metrics.json.
    """
    with _trial_root(task) as root:
        logs = root / "logs" / "verifier"
        (root / "app" / "solution.md").write_bytes(answer)
        reward: float | Fault
        try:
            reward = _verify(task, root, timeout)
        except Fault as error:
            reward = error
        return reward, text_of(logs / OUTPUT), text_of(logs / "metrics.json")


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


def _bash(script: Path, root: Path, timeout: float, *arguments: str, output: Path | None = None) -> int:
    """Run `script` with `root` as the parent of app, logs and tests; kill any processes it leaves behind.

    Raises:
        Fault: it took longer than `timeout` seconds.
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
            raise Fault(f"{script.name} still ran after {timeout:g} s and was killed") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
