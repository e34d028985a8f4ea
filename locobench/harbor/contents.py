"""What an agent, the tests and Harbor left in a trial's folder, read in one go; the agent may have tampered with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from locobench.harbor.trial import TrialFolder
from locobench.shared.files import read_below

MOST_BYTES = 100_000_000
"""Limit for a log or a trajectory, which takes some ten times as much memory."""
MOST_OUTPUT_BYTES = 1_000_000
"""Limit for what the tests printed, and for the verifier's metrics."""
MOST_ANSWER_BYTES = 1 << 18
"""Bytes read of the graded answer, as many as the verifier reads."""
SHORTEST_NAME = 2
"""Letters of an agent's name, which its log is known by; `pi` has the fewest."""


@dataclass(frozen=True)
class AgentFiles:
    """The files of an agent, in a trial or in a step of one."""

    folder: Path
    log: bytes | None
    """What its program printed, and logs of its own; None if there is none."""
    trajectories: Mapping[str, bytes]
    """trajectory.json and the files that it may refer to, by name."""


@dataclass(frozen=True)
class TrialContents:
    """The files of a trial besides its result.json, config.json and lock.json; None for one that is not there."""

    agents: tuple[AgentFiles, ...]
    """One, or one for each step."""
    outputs: tuple[bytes, ...]
    """What the tests printed, by step; the shell makes the file before it starts them."""
    metrics: bytes | None
    """The verifier's metrics.json."""
    answer: str | None
    """The graded answer, cut at MOST_ANSWER_BYTES."""
    log: bytes
    """Harbor's log of the trial if there is no answer; else empty."""


def read_contents(trial: TrialFolder) -> TrialContents:
    """Read a trial's files. What is no regular file, or is behind a link, counts as not there."""
    steps = [f"steps/{step.step_name}/" for step in trial.result.step_results if step.step_name]
    verifiers = [f"{step}verifier/test-stdout.txt" for step in ("", *steps)]
    outputs = (_read(trial.path, name, MOST_OUTPUT_BYTES, cut=True) for name in verifiers)
    answer = answer_of(trial.path)
    return TrialContents(
        agents=tuple(_agent_files(trial.path, name, trial.result.agent) for name in _agent_folders(trial, steps)),
        outputs=tuple(output for output in outputs if output is not None),
        metrics=_read(trial.path, "verifier/metrics.json", MOST_OUTPUT_BYTES),
        answer=answer,
        log=(_read(trial.path, "trial.log", cut=True) or b"") if answer is None else b"",
    )


def answer_of(folder: Path) -> str | None:
    """Read the graded answer in a trial's folder, cut at MOST_ANSWER_BYTES; None if Harbor downloaded none."""
    content = _read(folder, "artifacts/app/solution.md", MOST_ANSWER_BYTES, cut=True)
    return None if content is None else content.decode("utf-8", errors="replace")


def _read(folder: Path, path: str, most: int = MOST_BYTES, *, cut: bool = False) -> bytes | None:
    """Read a file of a trial's folder; None if it is no regular file.

    Args:
        folder: the trial's folder.
        path: relative to it. No link on the way is followed.
        most: size limit in bytes; a longer file counts as missing.
        cut: read the first `most` bytes of a longer file instead.
    """
    try:
        return read_below(folder, path, most, cut=cut)
    except OSError:
        return None


def _agent_folders(trial: TrialFolder, steps: list[str]) -> list[str]:
    found = [f"{step}agent" for step in steps if (trial.path / step / "agent").is_dir()] or ["agent"]
    # Each step's session holds those before it.
    return found[-1:] if trial.result.config.agent.resume_trajectory else found


def _agent_files(folder: Path, name: str, agent: str) -> AgentFiles:
    own = folder / name
    try:
        files = sorted(entry.name for entry in own.iterdir() if entry.suffix in (".txt", ".json", ".jsonl"))
    except OSError:
        files = []
    texts = {
        file: text
        for file in files
        if (_is_log(file, agent) or _is_trajectory(file)) and (text := _read(folder, f"{name}/{file}")) is not None
    }
    logs = [text for file, text in texts.items() if _is_log(file, agent)]
    return AgentFiles(
        folder=own,
        log=b"\n".join(logs) if logs else None,
        trajectories={file: text for file, text in texts.items() if _is_trajectory(file)},
    )


def _is_log(file: str, agent: str) -> bool:
    """Decide whether Harbor, or the agent, logs to a file: `cline.txt` is that of cline-cli."""
    stem = _letters(file.partition(".")[0])
    return len(stem) >= SHORTEST_NAME and _letters(agent).startswith(stem)


def _is_trajectory(file: str) -> bool:
    return file.startswith("trajectory") and file.endswith(".json")


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
