"""One agent's attempt at one task, graded by the task's own verifier, in a container or without one."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from locobench.smoke.task import TaskError, TaskFolder, read_reward

if TYPE_CHECKING:
    from locobench.smoke.containers import Engine

Agent = Literal["oracle", "nop"]
# Without the judge, where a task has one: here is no network, and a judge makes no promise about the oracle.
VERIFIER = "verify.py"


@dataclass(frozen=True)
class Trial:
    """What became of an attempt: its reward, or why there is none."""

    reward: float | None = None
    fault: str = ""


def run_locally(task: TaskFolder, agent: Agent, *, timeout: float) -> Trial:
    """Let `agent` answer and the task's own verifier grade it in a temporary root, without a container."""
    with tempfile.TemporaryDirectory(prefix="trial-") as name:
        root = Path(name)
        shutil.copytree(task.path / "tests", root / "tests")
        for folder in ("app", "logs/agent", "logs/verifier", "logs/artifacts"):
            (root / folder).mkdir(parents=True)
        (root / "app" / "project").symlink_to((task.environment / "project").resolve())
        try:
            if agent == "oracle" and (code := _bash(task.path / "solution" / "solve.sh", root, timeout)) != 0:
                return Trial(fault=f"oracle: solve.sh failed (exit code {code})")
            output = root / "logs" / "verifier" / "test-stdout.txt"
            _bash(task.path / "tests" / "test.sh", root, min(timeout, task.verifier_seconds), VERIFIER, output=output)
            return Trial(read_reward(root / "logs" / "verifier"))
        except subprocess.TimeoutExpired as error:
            return Trial(fault=f"{agent}: {Path(error.cmd[1]).name} still ran after {error.timeout:g} s and was killed")
        except TaskError as error:
            return Trial(fault=f"{agent}: {error}")


def run_in_container(engine: Engine, image: str, task: TaskFolder, agent: Agent, *, timeout: float) -> Trial:
    """Let `agent` answer in a container and test.sh grade the answer in a fresh one, both without network."""
    from locobench.smoke.containers import CommandTimeout, EngineError

    with tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as name:
        logs = Path(name)
        for folder in ("agent", "artifacts", "verifier"):
            (logs / folder).mkdir()
            (logs / folder).chmod(0o777)
        step = "start"
        try:
            with engine.container(image, memory_mb=task.memory_mb, logs=logs) as box:
                if agent == "oracle":
                    step = "solve.sh"
                    box.put(task.path / "solution", "solution")
                    box.run("chmod +x /solution/solve.sh", timeout=timeout, user="root")
                    code, _ = box.run("(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1", timeout=timeout)
                    if code != 0:
                        return Trial(fault=f"oracle: solve.sh failed (exit code {code})")
                answer = box.take("/app/solution.md")
            step = "test.sh"
            with engine.container(image, memory_mb=task.memory_mb, logs=logs) as box:
                if answer:
                    box.give(answer, "/app")
                box.put(task.path / "tests", "tests")
                box.run("chmod +x /tests/test.sh", timeout=timeout, user="root")
                box.run(
                    f"(/tests/test.sh '' {VERIFIER}) > /logs/verifier/test-stdout.txt 2>&1",
                    timeout=min(timeout, task.verifier_seconds),
                    user="root",
                )
                # The files are root's; whoever runs this must be able to read and delete them.
                box.run(f"chown -R {os.getuid()}:{os.getgid()} /logs", timeout=timeout, user="root")
            return Trial(read_reward(logs / "verifier"))
        except CommandTimeout as error:
            return Trial(fault=f"{agent}: {step} {error}")
        except (EngineError, TaskError) as error:
            return Trial(fault=f"{agent}: {error}")


def _bash(script: Path, root: Path, timeout: float, *arguments: str, output: Path | None = None) -> int:
    """Run `script` with `root` before /app, /logs and /tests; leave no process of it behind."""
    with (
        (output or Path(os.devnull)).open("wb") as said,
        subprocess.Popen(
            ["bash", str(script.resolve()), str(root), *arguments],
            cwd=root / "app",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            return process.wait(timeout)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
