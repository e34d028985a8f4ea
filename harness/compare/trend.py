"""How do rewards move over time? Each job's mean with its interval, the slope of the last, the tasks that moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness.compare.findings import Frozen
from harness.compare.metrics import by_task
from harness.compare.wording import LEVEL, points
from harness.models import EvalResult
from harness.statistics import CONFIDENCE, Interval

LAST = 10
"""How many jobs the slope goes over."""
DRAWS = 2000
SEED = 20260101
MOVED_Q = 0.05
"""False discovery rate over all tasks and steps: without any trend, the chance that a single one is named."""


class TrendPoint(Frozen):
    """One job."""

    name: str
    started: datetime
    """When its first run began."""
    tasks: int
    runs: int
    """Measured ones."""
    lost: int
    mean: float | None
    """Mean over tasks of their mean reward, 0 to 1; None without a measured run."""
    interval: Interval | None
    """Bootstrap interval of the mean, over tasks and their runs; None below two tasks."""


class TaskDrift(Frozen):
    """A task whose reward, or number of runs, is not what it was in the job before."""

    task: str
    job: str
    before: float | None
    """Mean reward in the job before; None when it was not measured there."""
    after: float | None
    runs_before: int
    runs_after: int

    @property
    def change(self) -> float | None:
        """`after` minus `before`; None when one is not known."""
        return None if self.before is None or self.after is None else self.after - self.before


class Trend(Frozen):
    """Jobs in the order of time."""

    points: tuple[TrendPoint, ...]
    slope: float | None
    """Change of the mean reward from one job to the next, -1 to 1: least squares over the last LAST measured jobs;
    None below three."""
    slope_jobs: int
    slope_interval: Interval | None
    """Bootstrap interval of the slope: each job's tasks and runs drawn again."""
    moved: tuple[TaskDrift, ...]
    """From one job to the next, the largest changes first, as many as chance does not explain: a permutation test of
    each task's runs, the false discovery rate over all tasks and steps held at MOVED_Q."""
    attempts: tuple[TaskDrift, ...]
    """Tasks with another number of measured runs than in the job before, in the order of time."""


def find_trend(jobs: Sequence[tuple[str, Sequence[EvalResult]]]) -> Trend:
    """The trend of the mean reward over jobs, which are put into the order of their first run.

    Args:
        jobs: name and results of each, none of them empty.
    """
    ordered = sorted(jobs, key=lambda job: (_started(job[1]), job[0]))
    rewards = [_rewards(results) for _, results in ordered]
    # One generator for each job: a further job does not change the intervals of the others.
    draws = [_draw_means(found, np.random.default_rng(SEED)) for found in rewards]
    points = tuple(
        _point(name, results, found, drawn)
        for (name, results), found, drawn in zip(ordered, rewards, draws, strict=True)
    )
    measured = [number for number, point in enumerate(points) if point.mean is not None][-LAST:]
    slope, interval = _slope([points[n].mean or 0.0 for n in measured], [draws[n] for n in measured])
    changes = [
        TaskDrift(
            task=task,
            job=points[number].name,
            before=_mean(rewards[number - 1].get(task)),
            after=_mean(rewards[number].get(task)),
            runs_before=len(rewards[number - 1].get(task, ())),
            runs_after=len(rewards[number].get(task, ())),
        )
        for number in range(1, len(points))
        for task in sorted(rewards[number - 1].keys() | rewards[number].keys())
    ]
    moved = _moved([(drift, *_runs_of(drift, points, rewards)) for drift in changes if drift.change is not None])
    return Trend(
        points=points,
        slope=slope,
        slope_jobs=len(measured),
        slope_interval=interval,
        moved=tuple(sorted(moved, key=lambda drift: (-abs(drift.change or 0.0), drift.task, drift.job))),
        attempts=tuple(drift for drift in changes if drift.runs_before != drift.runs_after),
    )


def _started(results: Sequence[EvalResult]) -> datetime:
    return min(result.started_at or result.timestamp for result in results)


def _rewards(results: Sequence[EvalResult]) -> dict[str, list[float]]:
    return {
        task: scores
        for task, runs in by_task(results).items()
        if (scores := [run.overall_score for run in runs if run.measured])
    }


def _point(
    name: str, results: Sequence[EvalResult], rewards: dict[str, list[float]], draws: NDArray[np.float64]
) -> TrendPoint:
    runs = sum(map(len, rewards.values()))
    means = [float(np.mean(scores)) for scores in rewards.values()]
    return TrendPoint(
        name=name,
        started=_started(results),
        tasks=len(rewards),
        runs=runs,
        lost=len(results) - runs,
        mean=float(np.mean(means)) if means else None,
        interval=_interval(draws) if len(means) > 1 else None,
    )


def _draw_means(rewards: dict[str, list[float]], random: np.random.Generator) -> NDArray[np.float64]:
    """Means of DRAWS jobs drawn again: tasks with replacement, and of each its runs with replacement.

    Davison and Hinkley 1997, "Bootstrap Methods and their Application", section 3.8.
    """
    if not rewards:
        return np.empty(0)
    scores = list(rewards.values())
    counts = np.array([len(found) for found in scores])
    table = np.zeros((len(scores), counts.max()))
    for row, found in zip(table, scores, strict=True):
        row[: len(found)] = found
    tasks = random.integers(len(scores), size=(DRAWS, len(scores)))
    of_task = counts[tasks]
    total = np.zeros(tasks.shape)
    for run in range(counts.max()):
        picked = (random.random(tasks.shape) * of_task).astype(np.int64)
        total += np.where(run < of_task, table[tasks, picked], 0.0)
    means: NDArray[np.float64] = (total / of_task).mean(axis=1)
    return means


def _interval(draws: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(draws, (0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2))
    return Interval(float(low), float(high))


def _slope(means: Sequence[float], draws: Sequence[NDArray[np.float64]]) -> tuple[float | None, Interval | None]:
    if len(means) < 3:
        return None, None
    at = np.arange(len(means)) - (len(means) - 1) / 2
    weights = at / (at**2).sum()
    return float(weights @ np.array(means)), _interval(weights @ np.stack(draws))


def _mean(scores: Sequence[float] | None) -> float | None:
    return float(np.mean(scores)) if scores else None


def _runs_of(
    drift: TaskDrift, points: Sequence[TrendPoint], rewards: Sequence[dict[str, list[float]]]
) -> tuple[list[float], list[float]]:
    at = [point.name for point in points].index(drift.job)
    return rewards[at - 1][drift.task], rewards[at][drift.task]


def _moved(steps: Sequence[tuple[TaskDrift, list[float], list[float]]]) -> list[TaskDrift]:
    tests = [statistics.mean_permutation_test(before, after) for _, before, after in steps]
    less = statistics.discrete_benjamini_hochberg([p.less for p in tests], [p.steps_less for p in tests])
    greater = statistics.discrete_benjamini_hochberg([p.greater for p in tests], [p.steps_greater for p in tests])
    return [drift for (drift, _, _), down, up in zip(steps, less, greater, strict=True) if min(down, up) <= MOVED_Q / 2]


def slope_sentence(trend: Trend) -> str:
    """How the mean reward moves from job to job, and how sure that is."""
    if trend.slope is None or trend.slope_interval is None:
        return "Fewer than three jobs were measured: no slope."
    low, high = trend.slope_interval.low, trend.slope_interval.high
    sure = "" if low > 0 or high < 0 else " That is no evidence of a trend."
    return (
        f"Over the last {trend.slope_jobs} jobs the mean reward changed by {points(trend.slope)} from one job to the "
        f"next ({LEVEL} interval {100 * low:+.1f} to {100 * high:+.1f}).{sure}"
    )
