"""What will two Harbor jobs over the same tasks, without and with an MCP server, run, cost and find?"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ruamel.yaml import YAML

from harness import statistics
from harness.design.noise import Noise, observed_noise
from harness.errors import InputError
from harness.models import EvalResult
from locobench.harbor.mcp import McpServer
from locobench.harbor.task import TASK_FILE, TaskToml, task_folders
from locobench.shared.installation import GENERATE

MOST_ATTEMPTS = 10
"""Most attempts that a budget is spent on. Beyond ten, add tasks instead: they reduce the error faster."""
EFFECT = 0.1
"""Difference of the mean score, 0 to 1, whose chance to be found is told."""
ARMS = 2


def count_tasks(path: Path) -> int:
    """Return how many whole tasks a folder holds; Harbor skips the others.

    InputError if there are none, one cannot be read, or one has its own MCP servers, which both arms would get.
    """
    folders = task_folders(path)
    if folders == [path]:
        raise InputError(f"{path}: a single task; name the folder that holds the tasks")
    whole = [folder for folder in folders if all((folder / needed).exists() for needed in NEEDED)]
    if not whole:
        raise InputError(f"{path}: holds no task; name the folder that {GENERATE} wrote")
    for folder in whole:
        if TaskToml.read(folder).environment.mcp_servers:
            raise InputError(
                f"{folder}: brings MCP servers of its own, so both jobs would have them;"
                " generate the tasks without --mcp_config"
            )
    return len(whole)


NEEDED = (TASK_FILE, "instruction.md", "environment", "tests/test.sh")
"""What a folder must have for Harbor to run it."""


@dataclass(frozen=True)
class Earlier:
    """What earlier results of the same model say about the runs to come; None where they say nothing."""

    runs: int
    usd: tuple[float, float] | None
    """Dollars for one run without and one with a server."""
    seconds: tuple[float, float] | None
    """Duration of a trial without and with a server."""
    noise: Noise | None
    """How much scores vary."""

    @classmethod
    def of(cls, results: Iterable[EvalResult], model: str | None) -> Earlier:
        """Sum up the results of `model`; Harbor may name it with its provider, as in provider/model."""
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
    """Return the means without and with a server; if one arm was not run, the other's mean stands in for it."""
    known = [(bool(run.trace.offered.servers), found) for run in results if (found := value(run)) is not None]
    if not known:
        return None
    means = []
    for served in (False, True):
        own = [found for of, found in known if of is served]
        means.append(fmean(own or [found for _, found in known]))
    return means[0], means[1]


def job_yaml(
    settings: dict[str, Any], tasks: Path, agent: str, model: str | None, servers: Sequence[McpServer] = ()
) -> str:
    """Return a job for `harbor run -c`; paths in it are resolved against the folder that Harbor is started in.

    `settings` are further keys of the job. `agent` is a name that Harbor knows, or `module:Class`.
    """
    given: dict[str, Any] = {"import_path" if ":" in agent else "name": agent}
    if model:
        given["model_name"] = model
    if servers:
        given["mcp_servers"] = [server.model_dump(mode="json", exclude_none=True) for server in servers]
    yaml = YAML()
    yaml.default_flow_style = False
    text = io.StringIO()
    yaml.dump({**settings, "agents": [given], "datasets": [{"path": str(tasks)}]}, text)
    return text.getvalue()


def choose_attempts(tasks: int, usd: tuple[float, float] | None, budget: float) -> int:
    """Return how often each task is run in each arm: what the budget for both pays for, up to MOST_ATTEMPTS.

    `usd` is the cost of one run without and one with a server; if None, the answer is 1. InputError if the budget is
    too small.
    """
    if not usd or not sum(usd):
        return 1 if usd is None else MOST_ATTEMPTS
    once = tasks * sum(usd)
    paid = math.floor(budget / once)
    if not paid:
        fewer = f"{math.floor(budget / sum(usd))} of the {tasks} tasks"
        raise InputError(f"--budget-usd {budget:g}: it takes about ${once:.2f}; it pays for {fewer}")
    return min(paid, MOST_ATTEMPTS)


def hours(earlier: Earlier | None, tasks: int, attempts: int, concurrency: int) -> str:
    """Say how many hours both jobs take, one after the other."""
    if earlier is None or earlier.seconds is None:
        return "not known"
    return f"about {tasks * attempts * sum(earlier.seconds) / concurrency / 3600:.1f}"


def power(earlier: Earlier | None, tasks: int, attempts: int) -> str:
    """Say which difference of the mean score the two jobs will find, and how likely they find EFFECT."""
    if earlier is None or earlier.noise is None:
        reason = "" if earlier is None else " (the earlier results hold no two measured runs of a task)"
        return f"not known{reason}"
    sd = earlier.noise.sd(EFFECT, attempts)
    share = statistics.paired_power(EFFECT, sd, tasks)
    least = statistics.minimal_detectable_effect(sd / math.sqrt(tasks), tasks)
    found = "" if least is None else f"; in 80 % of cases one of {100 * least:.1f} points is found"
    return f"{100 * share:.0f} % to find a difference of {100 * EFFECT:g} points of the mean score{found}"
