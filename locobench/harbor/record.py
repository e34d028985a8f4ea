"""Trials, each with everything that its folder says, read once. Invalid files are named in a warning."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import RootModel

from locobench.harbor.contents import ANSWER, LOCK, METRICS, OUTPUT, TRIAL_LOG, read_contents
from locobench.harbor.files import read_or_warn
from locobench.harbor.task import TASK_FILE, MetadataSection, TaskFolder
from locobench.harbor.trajectory import Actions, actions_of
from locobench.harbor.trial import AgentResult, Lock, Trial, read_trial
from locobench.shared.errors import InputError

LEVELS = 2
"""How many folders below the one that is named a trial may lie: in a job, in a folder of jobs."""
GONE = b'service "main" is not running'
"""In a trial's log: the container was gone when the agent had finished. Harbor raises no exception for this."""


@dataclass(frozen=True)
class TrialRecord:
    """A trial with all its files."""

    path: Path
    """Its folder."""
    result: Trial
    """What its result.json says; of a trial without a valid one, what its config.json says."""
    problem: str
    """Why there is no valid result.json; empty if there is one."""
    task: TaskFolder | None
    """The task as it ran; None when it is missing, or was generated again since."""
    has_lock: bool
    """Whether the trial says which version of the task it ran."""
    about: MetadataSection
    """What the task's folder says today about category, language and so on."""
    servers: tuple[str, ...] | None
    """MCP servers that the job and the task gave to the agent; None when unknown."""
    skills: tuple[str, ...] | None
    actions: Actions
    """What the agent did."""
    output: str
    """What the tests printed; of a trial with steps one step after the other."""
    tests_started: bool
    container_gone: bool
    """Whether the agent's container was gone before the agent was graded."""
    metrics: object
    """The verifier's metrics.json; None without one."""
    answer: str | None
    """The graded answer, cut at 256 KB; None if Harbor downloaded none."""

    @property
    def spent(self) -> AgentResult:
        """What Harbor recorded, with the cost in the last result line of Claude Code's log; Harbor takes the first.

        A cost of 0 means an unknown price.
        """
        logged = [log.cost_usd for log in self.actions.logs]
        cost = sum(filter(None, logged)) if logged and all(logged) else self.result.spent.cost_usd
        return self.result.spent.model_copy(update={"cost_usd": cost or None})


def read_trials(path: Path) -> Iterator[TrialRecord]:
    """Read the trials in a job folder, in a folder of job folders, or the one that `path` itself is.

    Nothing inside a trial is a trial: agents leave files of any name. A trial whose result.json is missing, cut or
    invalid is yielded with its problem.
    """
    task_at = cache(_task_folder)  # several trials ran the same task
    for found in _found(path, LEVELS):
        yield _record(*found, task_at(found[2].task_path))


def _found(path: Path, levels: int) -> Iterator[tuple[Path, dict[str, bytes], Trial, str]]:
    """Yield the folder, files, result and problem of each trial that lies up to `levels` folders below."""
    files = read_contents(path)
    result, problem = read_trial(path, files)
    if result:
        yield path, files, result, problem
    elif levels:
        # Harbor keeps downloaded trials in hidden folders.
        for folder in sorted(one for one in path.iterdir() if one.is_dir() and not one.name.startswith(".")):
            yield from _found(folder, levels - 1)


def _record(
    path: Path, files: Mapping[str, bytes], result: Trial, problem: str, folder: TaskFolder | None
) -> TrialRecord:
    """Make a record of a trial's files; `folder` is its task as it is today."""
    lock = read_or_warn(path / LOCK, Lock, files[LOCK]) if folder and LOCK in files else None
    changed = folder is not None and lock is not None and lock.digest not in (None, folder.digest)
    task = None if changed else folder
    servers, skills = _offered(result, task)
    metrics = read_or_warn(path / METRICS, RootModel[object], files[METRICS]) if METRICS in files else None
    # Of a trial with steps, as Harbor ran them.
    parts = ["", *(f"steps/{step.step_name}/" for step in result.step_results if step.step_name)]
    outputs = [output for part in parts if (output := files.get(f"{part}{OUTPUT}")) is not None]
    answer = files.get(ANSWER)
    return TrialRecord(
        path=path,
        result=result,
        problem=problem,
        task=task,
        has_lock=LOCK in files,
        about=folder.toml.metadata if folder else MetadataSection(),
        servers=servers,
        skills=skills,
        actions=actions_of(path, files, result, servers or ()),
        output=b"\n".join(filter(None, outputs)).decode("utf-8", errors="replace"),
        tests_started=bool(outputs),  # the shell makes the file before it starts them
        container_gone=answer is None and GONE in files.get(TRIAL_LOG, b""),
        metrics=metrics and metrics.root,
        answer=None if answer is None else answer.decode("utf-8", errors="replace"),
    )


def _task_folder(path: Path | None) -> TaskFolder | None:
    """Read a task where a trial says that it was; None when it is not there, or is no longer a valid task."""
    # For a name that no file can have, os.path returns False where Path may raise.
    if path is None or not os.path.isfile(path / TASK_FILE):  # noqa: PTH113
        return None
    try:
        return TaskFolder.read(path)
    except InputError as error:
        warnings.warn(f"{error}; the task's category, difficulty and language are not known", stacklevel=2)
        return None


def _offered(trial: Trial, task: TaskFolder | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the servers and skills that the agent was given. Without the task, it may have had more servers."""
    agent = trial.agent_config
    if trial.is_utility_agent:
        return (), ()
    given = [server.name for server in agent.mcp_servers or []]
    names = [server.name for server in task.toml.environment.mcp_servers] if task else []
    skills = (re.split(r"[\\/]", skill.rstrip("\\/"))[-1].partition("@")[0] for skill in agent.skills or ())
    servers = tuple(dict.fromkeys(names + given)) if task or given else None
    return servers, None if agent.skills is None else tuple(skills)
