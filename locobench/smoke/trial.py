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
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from locobench.smoke.task import OUTPUT, SmokeTask, TaskError, read_reward

if TYPE_CHECKING:
    from locobench.smoke.containers import Engine

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
    with _local_root(task) as root:
        try:
            if agent == "oracle" and (code := _bash(task.path / "solution" / "solve.sh", root, timeout)) != 0:
                return Attempt(fault=f"oracle: solve.sh failed (exit code {code})")
            _verify(task, root, timeout, VERIFIER)
            return Attempt(read_reward(root / "logs" / "verifier"))
        except subprocess.TimeoutExpired as error:
            return Attempt(fault=f"{agent}: {_too_long(error)}")
        except TaskError as error:
            return Attempt(fault=f"{agent}: {error}")


def grade_locally(task: SmokeTask, answer: bytes, *, timeout: float) -> Attempt:
    """Grade an answer in a temporary root with the task's own verifier, including its judge if it has one."""
    with _local_root(task) as root:
        logs = root / "logs" / "verifier"
        (root / "app" / "solution.md").write_bytes(answer)
        reward, fault = None, ""
        try:
            _verify(task, root, timeout)
            reward = read_reward(logs)
        except subprocess.TimeoutExpired as error:
            fault = _too_long(error)
        except TaskError as error:
            fault = str(error)
        return Attempt(reward, fault, _text(logs / OUTPUT), _text(logs / "metrics.json"))


@contextlib.contextmanager
def _local_root(task: SmokeTask) -> Iterator[Path]:
    """Yield a temporary folder with everything that a verifier expects below / in a container."""
    with tempfile.TemporaryDirectory(prefix="trial-") as name:
        root = Path(name)
        shutil.copytree(task.path / "tests", root / "tests")
        for folder in ("app", "logs/agent", "logs/verifier", "logs/artifacts"):
            (root / folder).mkdir(parents=True)
        (root / "app" / "project").symlink_to((task.environment / "project").resolve())
        yield root


def _verify(task: SmokeTask, root: Path, timeout: float, *program: str) -> None:
    output = root / "logs" / "verifier" / OUTPUT
    _bash(task.path / "tests" / "test.sh", root, min(timeout, task.toml.verifier.timeout_sec), *program, output=output)


def _too_long(error: subprocess.TimeoutExpired) -> str:
    return f"{Path(error.cmd[1]).name} still ran after {error.timeout:g} s and was killed"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def run_in_container(engine: Engine, image: str, task: SmokeTask, agent: Agent, *, timeout: float) -> Attempt:
    """Run `agent` in a container and test.sh in a fresh one, both without network."""
    from locobench.smoke.containers import CommandTimeout, EngineError

    with tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as name:
        logs, answer = Path(name, "logs"), Path(name, "solution.md")
        for folder in ("agent", "artifacts", "verifier"):
            (logs / folder).mkdir(parents=True)
            (logs / folder).chmod(0o777)
        step = "start"
        try:
            with engine.container(image, memory_mb=task.toml.environment.memory_mb, logs=logs) as box:
                if agent == "oracle":
                    step = "solve.sh"
                    box.put(task.path / "solution", "/solution")
                    box.run("chown -R 0:0 /solution && chmod +x /solution/solve.sh", timeout=timeout, user="root")
                    code, _ = box.run("(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1", timeout=timeout)
                    if code != 0:
                        return Attempt(fault=f"oracle: solve.sh failed (exit code {code})")
                answered = box.take("/app/solution.md", answer)
            step = "test.sh"
            with engine.container(image, memory_mb=task.toml.environment.memory_mb, logs=logs) as box:
                if answered:
                    box.put(answer, "/app/solution.md")
                box.put(task.path / "tests", "/tests")
                # Root owns the logs; this process must be able to read and delete them.
                box.run(
                    "chown -R 0:0 /tests && chmod +x /tests/test.sh;"
                    f" (/tests/test.sh '' {VERIFIER}) > /logs/verifier/{OUTPUT} 2>&1;"
                    f" chown -R {os.getuid()}:{os.getgid()} /logs",
                    timeout=min(timeout, task.toml.verifier.timeout_sec),
                    user="root",
                )
            return Attempt(read_reward(logs / "verifier"))
        except CommandTimeout as error:
            return Attempt(fault=f"{agent}: {step} {error}")
        except (EngineError, TaskError) as error:
            return Attempt(fault=f"{agent}: {error}")


def _bash(script: Path, root: Path, timeout: float, *arguments: str, output: Path | None = None) -> int:
    """Run `script` with `root` as the parent of app, logs and tests; kill any processes it leaves behind."""
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
