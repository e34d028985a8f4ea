"""Run one agent's attempt at one task and grade it with the task's own verifier, with or without a container."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from locobench.containers.container import Limits
from locobench.containers.engine import Engine
from locobench.smoke.task import OUTPUT, Fault, SmokeTask, read_reward, text_of

Agent = Literal["oracle", "nop"]
ANSWER = "/app/solution.md"
# The folders that Harbor brings into a container.
_LOGS = ("/logs", "/logs/agent", "/logs/verifier", "/logs/artifacts")
# A command's output, in its container.
_SAID = "/tmp/smoke-test-output"
# More than an answer or a verifier's log holds.
_MOST_BYTES = 16_000_000


def run_locally(task: SmokeTask, agent: Agent, *, timeout: float) -> float:
    """Run `agent` and the task's own verifier in a temporary root, without a container, and return the reward.

    Raises:
        Fault: a program failed, took longer than `timeout` seconds, or gave no valid reward.
    """
    with _trial_root(task) as root:
        if agent == "oracle" and (code := _bash(root / "solution" / "solve.sh", root, timeout)) != 0:
            raise Fault(f"solve.sh failed (exit code {code})")
        return _verify(task, root, timeout)


def run_in_container(engine: Engine, image: str, task: SmokeTask, agent: Agent, *, timeout: float) -> float:
    """Run `agent` in a container and test.sh in a fresh one, both without network, and return the reward.

    Raises:
        Fault: as in `run_locally`.
        EngineError: the engine fails.
    """
    environment = task.toml.environment
    limits = Limits(timeout, environment.memory_mb or Limits.memory_mb, environment.storage_mb or Limits.storage_mb)
    given: dict[str, Path | bytes] = {"/tests": task.path / "tests"}
    if agent == "oracle":
        solve, put = "bash /solution/solve.sh", {"/solution": task.path / "solution"}
        code, output, answer = in_container(engine, image, solve, "solve.sh", limits, put, take=ANSWER)
        if code != 0:
            raise Fault(f"solve.sh failed (exit code {code})", output)
        given |= {ANSWER: answer["solution.md"]} if answer else {}
    limits = replace(limits, seconds=min(timeout, task.toml.verifier.timeout_sec))
    _, output, rewards = in_container(
        engine, image, "bash /tests/test.sh", "test.sh", limits, given, take="/logs/verifier"
    )
    with tempfile.TemporaryDirectory(prefix="trial-") as logs:
        for name, content in {**rewards, OUTPUT: output.encode()}.items():
            Path(logs, name).write_bytes(content)
        return read_reward(Path(logs))


def in_container(
    engine: Engine,
    image: str,
    command: str,
    what: str,
    limits: Limits,
    put: Mapping[str, Path | bytes] = MappingProxyType({}),
    take: str = "",
) -> tuple[int, str, dict[str, bytes]]:
    """Run `command`, called `what` in a message, with bash in a fresh container without network.

    `put` is copied into the container, by place, and the files at the place `take` out of it. Return the exit code, the
    output, and those files by name; raise Fault if it reaches one of its limits.
    """
    argv = ["bash", "-c", f'exec bash -c "$0" > {_SAID} 2>&1', command]
    with engine.container(image, argv, limits, network_mode="none") as container:
        container.put({**dict.fromkeys(_LOGS), **put})
        container.start()
        code = container.wait(limits.seconds)
        output = b"".join(container.take(_SAID, _MOST_BYTES).values()).decode("utf-8", "replace")
        if container.over_storage:
            raise Fault(f"{what} used more than {limits.storage_mb} MB of storage and was killed", output)
        if code is None:
            raise Fault(f"{what} still ran after {limits.seconds:g} s and was killed", output)
        return code, output, container.take(take, _MOST_BYTES) if take else {}


def grade_locally(task: SmokeTask, answer: bytes, *, timeout: float) -> tuple[float | Fault, str, str]:
    """Grade an answer in a temporary root with the task's own verifier.

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


def _verify(task: SmokeTask, root: Path, timeout: float) -> float:
    logs = root / "logs" / "verifier"
    timeout = min(timeout, task.toml.verifier.timeout_sec)
    _bash(root / "tests" / "test.sh", root, timeout, output=logs / OUTPUT)
    return read_reward(logs)


def _bash(script: Path, root: Path, timeout: float, output: Path | None = None) -> int:
    """Run `script` with `root` as the parent of app, logs and tests; kill any processes it leaves behind.

    Raises:
        Fault: it took longer than `timeout` seconds.
    """
    with (
        (output or Path(os.devnull)).open("wb") as said,
        subprocess.Popen(
            ["bash", str(script), str(root)],
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
