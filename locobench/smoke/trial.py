"""One agent's attempt at one task, graded by the task's own scripts: in a container, or on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from locobench.containers.container import Limits
from locobench.containers.engine import Engine
from locobench.smoke.task import Fault, SmokeTask

Agent = Literal["oracle", "nop"]
# The folders that Harbor brings into a container.
_LOGS = ("/logs", "/logs/agent", "/logs/verifier", "/logs/artifacts")
# A command's output, in its container.
_SAID = "/tmp/smoke-test-output"
# More than an answer or a verifier's log holds.
_MOST_BYTES = 16_000_000


@dataclass(frozen=True)
class Attempt:
    """What an attempt left."""

    output: str
    """What the scripts printed."""
    logs: Mapping[str, bytes] = field(default_factory=dict)
    """The files in the verifier's log folder."""

    def reward(self) -> float:
        """Return the reward that test.sh wrote.

        Raises:
            Fault: there is none, it is not a number between 0 and 1, or the verifier raised an exception.
        """
        said = self.output.strip()
        if "Traceback (most recent call last):" in said and "metrics.json" not in self.logs:
            raise Fault(f"the verifier raised {said.splitlines()[-1].strip()[:200]}")
        if "reward.json" not in self.logs:
            raise Fault("no reward was written", said)
        try:
            reward = float(json.loads(self.logs["reward.json"])["reward"])
        except (ValueError, KeyError, TypeError):
            raise Fault("test.sh wrote a reward that cannot be read") from None
        if not 0 <= reward <= 1:
            raise Fault(f"test.sh wrote the reward {reward:g}, which is not between 0 and 1")
        return reward


def run_locally(task: SmokeTask, agent: Agent, *, timeout: float, answer: bytes | None = None) -> Attempt:
    """Run `agent`, then test.sh, in a temporary folder that stands for a container's root.

    Args:
        timeout: seconds for both; the task's own limit applies too.
        answer: what the agent hands in, if it is not one of the two.

    Raises:
        Fault: the time is over.
    """
    with tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        for part in ("solution", "tests"):
            shutil.copytree(task.path / part, root / part)
        for folder in ("/app", *_LOGS):
            (root / folder[1:]).mkdir()
        (root / "app" / "project").symlink_to((task.path / "environment" / "project").resolve())
        if answer is not None:
            (root / "app" / "solution.md").write_bytes(answer)
        said = root / "output"
        ended = _run(_command(agent, shlex.quote(name)), root / "app", said, limit := _seconds(task, timeout))
        output = said.read_text(encoding="utf-8", errors="replace")
        if not ended:
            raise _too_slow(limit, output)
        logs = (path for path in (root / "logs" / "verifier").iterdir() if path.is_file())
        return Attempt(output, {path.name: path.read_bytes() for path in logs})


def run_in_container(engine: Engine, image: str, task: SmokeTask, agent: Agent, *, timeout: float) -> Attempt:
    """Run `agent`, then test.sh, in a fresh container without network.

    Raises:
        Fault: as in `run_locally`, or the container used too much storage.
        EngineError: the engine fails.
    """
    environment = task.toml.environment
    memory, storage = environment.memory_mb or Limits.memory_mb, environment.storage_mb or Limits.storage_mb
    put = {f"/{part}": task.path / part for part in (("solution", "tests") if agent == "oracle" else ("tests",))}
    limits = Limits(_seconds(task, timeout), memory, storage)
    return in_container(engine, image, _command(agent), limits, put, take="/logs/verifier")[1]


def in_container(
    engine: Engine,
    image: str,
    command: str,
    limits: Limits,
    put: Mapping[str, Path] = MappingProxyType({}),
    take: str = "",
) -> tuple[int, Attempt]:
    """Run `command` with bash in a fresh container without network, and return its exit code and what it left.

    The folders in `put` are copied into the container, by place, and the files in the folder `take` out of it. Fault
    if it reaches one of its limits.
    """
    argv = ["bash", "-c", f'exec bash -c "$0" > {_SAID} 2>&1', command]
    with engine.container(image, argv, limits, network_mode="none") as container:
        container.put({**dict.fromkeys(_LOGS), **put})
        container.start()
        code = container.wait(limits.seconds)
        output = b"".join(container.take(_SAID, _MOST_BYTES).values()).decode("utf-8", "replace")
        if container.over_storage:
            raise Fault(f"used more than {limits.storage_mb} MB of storage and was killed", output)
        if code is None:
            raise _too_slow(limits.seconds, output)
        return code, Attempt(output, container.take(take, _MOST_BYTES) if take else {})


def _command(agent: Agent, root: str = "") -> str:
    """Return the shell command of an attempt; `root` stands before /app where that is not the container's."""
    solve = f"bash {root}/solution/solve.sh {root} && " if agent == "oracle" else ""
    return f"{solve}bash {root}/tests/test.sh {root}"


def _seconds(task: SmokeTask, timeout: float) -> float:
    return min(timeout, task.toml.verifier.timeout_sec)


def _too_slow(seconds: float, output: str) -> Fault:
    return Fault(f"still ran after {seconds:g} s and was killed", output)


def _run(command: str, folder: Path, said: Path, seconds: float) -> bool:
    """Run `command` in a folder with its output in `said`, and kill what it leaves; return whether it ended in time."""
    with (
        said.open("wb") as stream,
        subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return True
