"""What did the difference cost, and what did the runs do? Effect per dollar, tool calls, and calls against score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np

from harness.compare.findings import CostEffect, ToolCount, ToolUse
from harness.compare.verdicts import UnitKey
from harness.models import EvalResult, ToolCall
from harness.statistics import intervals

Runs = Mapping[UnitKey, Sequence[EvalResult]]
Value = Callable[[EvalResult], float | None]


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
        intervals.cluster_sums(column, of_task)[0]
        for column in (table[:, 1] - table[:, 0], 100 * (table[:, 3] - table[:, 2]))
    )
    interval = intervals.ratio_bootstrap(list(dearer), list(better), confidence)
    return CostEffect(
        tasks=len(table),
        cost_a=cost_a,
        cost_b=cost_b,
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
