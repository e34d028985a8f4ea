"""The headroom of a set of tasks, judged by a pilot: one arm of the user's own agent, a few runs a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from locobench.shared.errors import InputError
from locobench.shared.grouping import grouped
from measure.records import EvalResult
from measure.summary.metrics import Metric, by_arm, by_task, mean_of_known, metric_value, resolve_metric
from measure.summary.noise import Noise, observed_noise

GROUPINGS: dict[str, Callable[[EvalResult], str]] = {
    "kind": lambda run: run.groups.get("kind") or run.category,
    "language": lambda run: run.language,
    "repository": lambda run: run.groups.get("repository") or run.groups.get("project_id", ""),
}
"""What a pilot's tasks are grouped by, with a run's value; empty where it has none."""


@dataclass(frozen=True)
class Level:
    """How the agent did on some tasks."""

    tasks: int
    mean: float
    """Of the metric over the tasks, 0 to 1."""
    ceiling: int
    """Tasks at 1.0 in every run."""
    floor: int
    """Tasks at 0 in every run."""
    spread: float
    """Standard deviation of the tasks' means."""
    typical: float
    """The median task's mean."""
    tokens: float | None
    """A run; None where not recorded, as the others."""
    calls: float | None
    cost: float | None
    """US$ a run."""


@dataclass(frozen=True)
class PilotHeadroom:
    """What a pilot says about the full experiment."""

    metric: Metric
    whole: Level
    groups: Mapping[str, Mapping[str, Level]]
    """Levels by grouping and value."""
    noise: Noise
    noise_is_bound: bool
    """Whether no task was run twice, so that all differences between tasks count as noise."""


def pilot_headroom(results: Sequence[EvalResult]) -> PilotHeadroom:
    """Work out what tasks can show from runs of one arm; InputError if there are several, or nothing was measured."""
    if len(arms := by_arm(results)) > 1:
        names = ", ".join(" | ".join(arm) for arm in arms)
        raise InputError(f"holds {len(arms)} arms ({names}), and a pilot has one; name its job, or a table of its runs")
    metric = resolve_metric("auto", results)
    whole = level_of(results, metric)
    if whole is None:
        raise InputError("no run was measured, so nothing tells what the tasks can show; `analyze` says why")
    noise = observed_noise(results)
    groups = {name: grouped(filter(value_of, results), value_of) for name, value_of in GROUPINGS.items()}
    return PilotHeadroom(
        metric=metric,
        whole=whole,
        groups={
            name: {value: level for value, runs in sorted(values.items()) if (level := level_of(runs, metric))}
            for name, values in groups.items()
            if values
        },
        # The variance over all runs is that within tasks and that between them (law of total variance). Where that is
        # 0, runs may vary all the same: at most as passes do (Bhatia & Davis 2000, Am. Math. Monthly 107).
        noise=noise or Noise(metric, whole.mean, (metric == "score" and whole.spread) or None),
        noise_is_bound=noise is None,
    )


def level_of(runs: Sequence[EvalResult], metric: Metric) -> Level | None:
    """Return how an arm did on the tasks of its measured runs; None without any."""
    measured = [run for run in runs if run.measured]
    means = [fmean(metric_value(run, metric) for run in of_task) for of_task in by_task(measured).values()]
    if not means:
        return None
    return Level(
        tasks=len(means),
        mean=fmean(means),
        ceiling=sum(mean >= 1 for mean in means),
        floor=sum(mean <= 0 for mean in means),
        spread=pstdev(means),
        typical=median(means),
        tokens=mean_of_known(run.tokens for run in runs),
        calls=mean_of_known(run.trace.tool_count for run in runs),
        cost=mean_of_known(run.cost_usd for run in runs),
    )
