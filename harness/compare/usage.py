"""What did the difference cost, and what did the runs do? Effect per dollar, tool calls, and calls against score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import fmean

import numpy as np
import scipy

from harness import statistics
from harness.compare.findings import CostEffect, ToolAssociation, ToolCount, ToolUse
from harness.compare.verdicts import UnitKey
from harness.models import EvalResult, ToolCall

Runs = Mapping[UnitKey, Sequence[EvalResult]]
Value = Callable[[EvalResult], float | None]

FEWEST_TASKS = 5
"""Fewest tasks for a correlation."""


def cost_effect(
    runs_a: Runs,
    runs_b: Runs,
    value: Value,
    clusters: Mapping[str, str],
    confidence: float,
    spent: Value = lambda run: run.cost_usd,
) -> CostEffect | None:
    """Return what the metric and a further point of it cost; None without recorded costs.

    A point's price is the incremental cost-effectiveness ratio of health economics (Drummond et al. 2015, "Methods for
    the Economic Evaluation of Health Care Programmes", chapter 4), with a bootstrap interval over projects.

    Args:
        runs_a: measured runs of A by task.
        runs_b: measured runs of B by task; tasks of one arm alone do not count.
        value: the metric of a run, 0 to 1.
        clusters: the project of each task, or the task itself.
        confidence: level of the interval.
        spent: the cost of a run, in US$ or in seconds; None where it was not recorded.
    """
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    for key in runs_a.keys() & runs_b.keys():
        known_a, known_b = ([r for r in runs[key] if spent(r) is not None] for runs in (runs_a, runs_b))
        if known_a and known_b:
            means = (_mean(known_a, spent), _mean(known_b, spent), _mean(known_a, value), _mean(known_b, value))
            rows.setdefault(key.task_id, []).append(means)
    if not rows:
        return None
    tasks = sorted(rows)
    table = np.array([np.mean(rows[task], axis=0) for task in tasks])
    cost_a, cost_b, mean_a, mean_b = (float(mean) for mean in table.mean(axis=0))
    of_task = [clusters[task] for task in tasks]
    dearer, better = (
        statistics.cluster_sums(column, of_task)[0]
        for column in (table[:, 1] - table[:, 0], 100 * (table[:, 3] - table[:, 2]))
    )
    interval = statistics.ratio_bootstrap(list(dearer), list(better), confidence)
    return CostEffect(
        tasks=len(table),
        cost_a=cost_a,
        cost_b=cost_b,
        per_dollar_a=mean_a / cost_a if cost_a else None,
        per_dollar_b=mean_b / cost_b if cost_b else None,
        per_point=(cost_b - cost_a) / (100 * (mean_b - mean_a)) if interval else None,
        per_point_interval=interval,
    )


def _mean(runs: Sequence[EvalResult], value: Value) -> float:
    return fmean(value(run) or 0.0 for run in runs)


def recorded_calls(result: EvalResult) -> list[ToolCall] | None:
    """Return the tool calls of a run; None when it left no transcript, which is not the same as no calls."""
    return None if result.trace.tool_count is None else result.trace.tool_calls


def tool_use(results: Iterable[EvalResult]) -> ToolUse | None:
    """Count how often the measured runs called each tool; None when no run recorded its calls."""
    recorded = [calls for result in results if result.measured and (calls := recorded_calls(result)) is not None]
    if not recorded:
        return None
    total = Counter(call.name for run in recorded for call in run)
    users = Counter(name for run in recorded for name in {call.name for call in run})
    tools = [ToolCount(name=name, calls=total[name], runs=users[name]) for name in total]
    return ToolUse(
        runs=len(recorded), calls=total.total(), tools=tuple(sorted(tools, key=lambda tool: (-tool.calls, tool.name)))
    )


def tool_association(runs: Runs, value: Value, tools: Sequence[str] = ()) -> ToolAssociation | None:
    """Correlate, over tasks, the ranks of tool calls per run and of the metric.

    Spearman 1904, "The Proof and Measurement of Association between Two Things", Am. J. Psychol. 15, 72-101; p from
    Student's t with n - 2 degrees of freedom. Points are tasks, since runs of a task share its difficulty.

    Args:
        runs: measured runs by task.
        value: the metric of a run, 0 to 1.
        tools: patterns of the tools that count; all when empty.

    Returns:
        None below five tasks with a transcript, or if the calls or the metric never vary.
    """
    by_task: dict[str, list[tuple[float, float]]] = {}
    for key, of_unit in runs.items():
        for run in of_unit:
            calls = recorded_calls(run)
            if calls is not None:
                number = sum(not tools or any(fnmatchcase(c.name, pattern) for pattern in tools) for c in calls)
                by_task.setdefault(key.task_id, []).append((float(number), value(run) or 0.0))
    points = [(fmean(n for n, _ in of_task), fmean(v for _, v in of_task)) for _, of_task in sorted(by_task.items())]
    if len(points) < FEWEST_TASKS:
        return None
    calls_ranks, value_ranks = (_ranks([point[at] for point in points]) for at in (0, 1))
    spread = float(calls_ranks.std() * value_ranks.std())
    if spread < statistics.TIE:
        return None
    covariance = float(((calls_ranks - calls_ranks.mean()) * (value_ranks - value_ranks.mean())).mean())
    rho = max(-1.0, min(1.0, covariance / spread))
    freedom = len(points) - 2
    t = abs(rho) * (freedom / max(1e-300, 1 - rho**2)) ** 0.5
    p = min(1.0, 2 * float(scipy.special.stdtr(freedom, -t)))
    return ToolAssociation(tools=tuple(tools), points=tuple(points), rho=rho, p=p)


def _ranks(values: Sequence[float]) -> np.typing.NDArray[np.float64]:
    """Rank values from 1; equal values share their mean rank."""
    _, inverse, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse], dtype=np.float64)
