"""How did each task go? One row per task with reward, tokens, cost, time and lost runs of both arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.compare.metrics import AggregatedMetrics, aggregate
from harness.compare.verdicts import Comparison, UnitComparison, UnitKey
from harness.compare.wording import cost_text, count_text, mean_text, seconds_text, unit_verdict
from harness.models import EvalResult
from harness.statistics import TIE


@dataclass(frozen=True)
class TaskCell:
    """A task in one arm, as the table shows it."""

    reward: str
    """Empty where no run was measured."""
    tokens: str
    cost: str
    seconds: str
    lost: int


@dataclass(frozen=True)
class TaskRow:
    """A task in both arms."""

    name: str
    key: UnitKey
    arms: tuple[TaskCell, TaskCell]
    difference: float | None
    """Difference of the metric, in points; None where one arm measured nothing."""
    verdict: str
    state: str
    """won, lost or same; empty where one arm measured nothing."""
    groups: tuple[int, ...]
    """Indices into `TaskTable.groups`."""


@dataclass(frozen=True)
class TaskTable:
    """All tasks of a comparison, the largest win first, and the groups to filter them by."""

    rows: tuple[TaskRow, ...]
    groups: tuple[tuple[str, str], ...]
    """Dimension and value."""
    reach: float
    """The largest difference, in points; bars are drawn as shares of it."""


def task_table(comparison: Comparison, a: Sequence[EvalResult], b: Sequence[EvalResult]) -> TaskTable:
    """Return the task table of a comparison; tasks of one arm alone come last.

    Args:
        comparison: compares the two arms.
        a: all runs of A, lost ones included.
        b: all runs of B.
    """
    units = {unit.key: unit for unit in comparison.decision.units}
    groups = tuple((part.dimension, part.value) for part in comparison.slices if part.dimension != "component")
    places = {group: at for at, group in enumerate(groups)}
    whole = next(iter(units), UnitKey(""))
    runs: dict[UnitKey, tuple[list[EvalResult], list[EvalResult]]] = defaultdict(lambda: ([], []))
    for at, results in enumerate((a, b)):
        for run in results:
            key = UnitKey(run.task_id, run.config_name if whole.config else "", run.model if whole.model else "")
            runs[key][at].append(run)
    rows = []
    for key, (of_a, of_b) in runs.items():
        unit = units.get(key)
        rows.append(
            TaskRow(
                name=comparison.decision.name(unit) if unit else key.task_id,
                key=key,
                arms=(_cell(of_a, comparison), _cell(of_b, comparison)),
                difference=None if unit is None else 100 * unit.difference,
                verdict=unit_verdict(unit) if unit else "not in both arms",
                state=_state(unit),
                groups=tuple(places[group] for group in unit.groups.items() if group in places) if unit else (),
            )
        )
    rows.sort(key=lambda row: (row.difference is None, -(row.difference or 0.0), row.name))
    return TaskTable(tuple(rows), groups, max((abs(row.difference or 0.0) for row in rows), default=0.0) or 1.0)


def _cell(runs: Sequence[EvalResult], comparison: Comparison) -> TaskCell:
    m: AggregatedMetrics = aggregate(runs)
    return TaskCell(
        reward=mean_text(m, comparison.metric) if m.total_runs else "",
        tokens=count_text(m.avg_tokens),
        cost=cost_text(m.avg_cost),
        seconds=seconds_text(m.avg_duration),
        lost=sum(m.errors.values()),
    )


def _state(unit: UnitComparison | None) -> str:
    if unit is None:
        return ""
    return "won" if unit.difference > TIE else "lost" if unit.difference < -TIE else "same"
