"""What two Harbor jobs over the same tasks, without and with an MCP server, will be, cost and find."""

from __future__ import annotations

import io
import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML

from harness import statistics
from harness.design.noise import Noise, observed_noise
from harness.errors import InputError
from harness.models import EvalResult
from locobench.harbor.mcp import McpServer
from locobench.shared import toml

MOST_ATTEMPTS = 10
"""Of what a budget is spent on when nobody says how many; more tasks tell more than an eleventh attempt."""
ARMS = 2


class _Limits(BaseModel):
    model_config = ConfigDict(extra="ignore")

    timeout_sec: float | None = None
    build_timeout_sec: float = 0.0
    mcp_servers: list[Any] = []


class _Task(BaseModel):
    """What of a task.toml decides how long a trial may take and who gets a server."""

    model_config = ConfigDict(extra="ignore")

    agent: _Limits = _Limits()
    verifier: _Limits = _Limits(timeout_sec=600.0)
    environment: _Limits = _Limits(build_timeout_sec=600.0)

    @property
    def seconds(self) -> float | None:
        """The longest that a trial may take by the task's own limits; None when one of them is not set."""
        parts = (self.agent.timeout_sec, self.verifier.timeout_sec, self.environment.build_timeout_sec)
        return None if None in parts else sum(part or 0.0 for part in parts)


@dataclass(frozen=True)
class TaskSet:
    """A folder of tasks, as far as a plan needs it."""

    path: Path
    count: int
    seconds: float | None
    """Sum of the longest that one trial of each task may take; None when a task sets no limit."""
    skipped: tuple[str, ...]
    """Folders that Harbor would leave out without a word."""

    @classmethod
    def read(cls, path: Path) -> TaskSet:
        """Read the task folders in `path`.

        Raises:
            InputError: there are none, one cannot be read, or one brings servers of its own, which both arms would get.
        """
        if not path.is_dir():
            raise InputError(f"{path}: no such folder; name the folder of the tasks")
        if (path / "task.toml").is_file():
            raise InputError(f"{path}: a single task; name the folder that holds the tasks")
        folders = sorted(folder for folder in path.iterdir() if folder.is_dir() and not folder.name.startswith("."))
        whole = [folder for folder in folders if _is_task(folder)]
        if not whole:
            raise InputError(f"{path}: holds no task; name the folder that run_adapter.py wrote")
        tasks = [_read(folder / "task.toml") for folder in whole]
        seconds = [task.seconds for task in tasks]
        return cls(
            path,
            len(tasks),
            None if None in seconds else sum(value or 0.0 for value in seconds),
            tuple(folder.name for folder in folders if folder not in set(whole)),
        )


def _is_task(folder: Path) -> bool:
    return all((folder / needed).exists() for needed in ("task.toml", "instruction.md", "environment", "tests/test.sh"))


def _read(path: Path) -> _Task:
    try:
        task = _Task.model_validate(toml.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(f"{path}: no task.toml of Harbor: {str(error).splitlines()[0]}") from error
    if task.environment.mcp_servers:
        raise InputError(
            f"{path}: brings MCP servers of its own, so both jobs would have them;"
            " generate the tasks without --mcp_config"
        )
    return task


@dataclass(frozen=True)
class Earlier:
    """What results of the same model tell of the runs to come; None where they do not."""

    runs: int
    usd: tuple[float, float] | None
    """Dollars for one run without and one with a server."""
    seconds: tuple[float, float] | None
    """From a trial's beginning to its end, without and with a server."""
    noise: Noise | None
    """How much scores vary."""

    @classmethod
    def of(cls, results: Iterable[EvalResult], model: str | None) -> Earlier:
        """Sum up the results of `model`; Harbor may know it with its provider, as in provider/model."""
        alike = [result for result in results if _bare(result.model) == _bare(model or "none")]
        return cls(
            len(alike),
            _of_arms(alike, lambda run: run.cost_usd),
            _of_arms(alike, lambda run: (run.timestamp - run.started_at).total_seconds() if run.started_at else None),
            observed_noise(alike, "score") if any(run.measured for run in alike) else None,
        )


def _bare(model: str) -> str:
    return model.rpartition("/")[2]


def _of_arms(results: Sequence[EvalResult], value: Callable[[EvalResult], float | None]) -> tuple[float, float] | None:
    """Means without and with a server; where one arm was not run, those of the other stand for it."""
    known = [(bool(run.trace.offered.servers), found) for run in results if (found := value(run)) is not None]
    if not known:
        return None
    means = []
    for served in (False, True):
        own = [found for of, found in known if of is served]
        means.append(fmean(own or [found for _, found in known]))
    return means[0], means[1]


@dataclass(frozen=True)
class JobOptions:
    """What both jobs have in common."""

    agent: str
    """A name that Harbor knows, or module:Class."""
    model: str | None
    attempts: int
    concurrency: int
    retries: int
    environment: str
    extra_docker_compose: tuple[Path, ...]
    jobs_dir: Path


def job_yaml(name: str, tasks: Path, options: JobOptions, servers: Sequence[McpServer]) -> str:
    """Return a job for `harbor run -c`; paths in it are resolved against the folder that Harbor is started in."""
    agent: dict[str, Any] = {"import_path" if ":" in options.agent else "name": options.agent}
    if options.model:
        agent["model_name"] = options.model
    if servers:
        agent["mcp_servers"] = [
            server.model_dump(mode="json", exclude_none=True, exclude_defaults=False) for server in servers
        ]
    environment: dict[str, Any] = {"type": options.environment}
    if options.extra_docker_compose:
        environment["extra_docker_compose"] = [str(path) for path in options.extra_docker_compose]
    job = {
        "job_name": name,
        "jobs_dir": str(options.jobs_dir),
        "n_attempts": options.attempts,
        "n_concurrent_trials": options.concurrency,
        "retry": {"max_retries": options.retries},
        "environment": environment,
        "agents": [agent],
        "datasets": [{"path": str(tasks)}],
    }
    yaml = YAML()
    yaml.default_flow_style = False
    text = io.StringIO()
    yaml.dump(job, text)
    return text.getvalue()


def choose_attempts(asked: int | None, tasks: int, usd: tuple[float, float] | None, budget: float) -> int:
    """Return how often each task is run in each arm: as asked, else what the budget pays for, at most MOST_ATTEMPTS.

    Args:
        usd: for one run without and one with a server; None when not known, which makes it one attempt.
        budget: dollars for both arms.

    Raises:
        InputError: the budget does not pay for it.
    """
    if usd is None:
        return asked or 1
    once = tasks * sum(usd)
    paid = math.floor(budget / once) if once > 0 else MOST_ATTEMPTS
    if paid < (asked or 1):
        needed = once * (asked or 1)
        way_out = f"--attempts {paid}" if paid else f"{math.floor(budget / sum(usd))} of the {tasks} tasks"
        raise InputError(f"--budget-usd {budget:g}: it takes about ${needed:.2f}; it pays for {way_out}")
    return asked or min(paid, MOST_ATTEMPTS)


def hours(earlier: Earlier | None, tasks: TaskSet, attempts: int, concurrency: int) -> str:
    """Say how long both jobs take, one after the other."""
    trials = tasks.count * attempts
    most = "" if tasks.seconds is None else _most(ARMS * attempts * tasks.seconds / concurrency)
    if earlier is None or earlier.seconds is None:
        return f"not known{most}"
    return f"about {trials * sum(earlier.seconds) / concurrency / 3600:.1f}{most}"


def _most(seconds: float) -> str:
    return f"; at most {seconds / 3600:.1f} by the tasks' own limits for build, agent and verifier"


def power(earlier: Earlier | None, tasks: int, attempts: int, effect: float) -> str:
    """Say which difference of the mean score the two jobs will find, and how likely they find `effect` (0 to 1)."""
    if earlier is None or earlier.noise is None:
        reason = "" if earlier is None else " (the earlier results hold no two measured runs of a task)"
        return f"not known{reason}"
    sd = earlier.noise.sd(effect, attempts)
    share = statistics.paired_power(effect, sd, tasks)
    least = statistics.minimal_detectable_effect(sd / math.sqrt(tasks), tasks)
    found = "" if least is None else f"; in 80 % of cases one of {100 * least:.1f} points is found"
    return f"{100 * share:.0f} % to find a difference of {100 * effect:g} points of the mean score{found}"
