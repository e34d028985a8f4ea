"""Everything that a trial's folder says, read once. Files that are cut or invalid are named in a warning."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import RootModel

from locobench.harbor.contents import read_contents
from locobench.harbor.files import Model, read
from locobench.harbor.task import TASK_FILE, MetadataSection, TaskFolder
from locobench.harbor.trajectory import Actions, actions_of
from locobench.harbor.trial import AgentResult, Lock, Trial, TrialFolder
from locobench.shared.errors import InputError

GONE = b'service "main" is not running'
"""In a trial's log: the container was gone when the agent had finished. Harbor raises no exception for this."""


@dataclass(frozen=True)
class TrialRecord:
    """A trial with all its files."""

    path: Path
    """Its folder."""
    result: Trial
    problem: str
    """Why there is no valid result.json; empty if there is one."""
    task: TaskFolder | None
    """The task as it ran; None when it is missing, or was generated again since."""
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


def read_records(found: list[TrialFolder]) -> Iterator[TrialRecord]:
    """Read the trials one by one; the folder of a task that several ran is read once."""
    task_at = cache(_task_folder)
    for trial in found:
        if trial.problem:
            warnings.warn(f"{trial.problem}; the trial is lost", stacklevel=2)
        folder = task_at(trial.result.task_path)
        task = _as_it_ran(trial.path, folder)
        servers, skills = _offered(trial.result, task)
        files = read_contents(trial)
        yield TrialRecord(
            path=trial.path,
            result=trial.result,
            problem=trial.problem,
            task=task,
            about=folder.toml.metadata if folder else MetadataSection(),
            servers=servers,
            skills=skills,
            actions=actions_of(files.agents, trial.result.agent, servers or ()),
            output=b"\n".join(filter(None, files.outputs)).decode("utf-8", errors="replace"),
            tests_started=bool(files.outputs),
            container_gone=GONE in files.log,
            metrics=_metrics(trial.path, files.metrics),
            answer=files.answer,
        )


def read_or_warn(file: Path, model: type[Model], content: bytes | None = None) -> Model | None:
    """Read a file, or its `content`; warn and return None if it is invalid."""
    try:
        return read(file, model, content)
    except InputError as error:
        warnings.warn(f"{error}; its contents are ignored", stacklevel=2)
        return None


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


def _as_it_ran(folder: Path, task: TaskFolder | None) -> TaskFolder | None:
    """Return the task of the trial in `folder`, whose lock has the digest of what it ran."""
    lock = folder / "lock.json"
    ran = read_or_warn(lock, Lock) if task and lock.is_file() else None
    return task if task is None or ran is None or ran.digest in (None, task.digest) else None


def _offered(trial: Trial, task: TaskFolder | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the servers and skills that the agent was given. Without the task, it may have had more servers."""
    agent = trial.config.agent
    if trial.is_utility_agent:
        return (), ()
    given = [server.name for server in agent.mcp_servers or []]
    names = [server.name for server in task.toml.environment.mcp_servers] if task else []
    skills = (re.split(r"[\\/]", skill.rstrip("\\/"))[-1].partition("@")[0] for skill in agent.skills or ())
    servers = tuple(dict.fromkeys(names + given)) if task or given else None
    return servers, None if agent.skills is None else tuple(skills)


def _metrics(folder: Path, content: bytes | None) -> object:
    told = None if content is None else read_or_warn(folder / "verifier/metrics.json", RootModel[object], content)
    return told and told.root
