"""How did each task go? One row per task with reward, tokens, cost, time and lost runs of both arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.compare.metrics import AggregatedMetrics, aggregate
from harness.compare.verdicts import Comparison, UnitComparison, UnitKey
from harness.models import EvalResult
from harness.statistics.estimates import TIE


@dataclass(frozen=True)
class TaskRow:
    """A task in both arms."""

    name: str
    key: UnitKey
    arms: tuple[AggregatedMetrics, AggregatedMetrics]
    unit: UnitComparison | None
    """None where one arm measured nothing."""
    groups: tuple[int, ...]
    """Indices into `TaskTable.groups`."""

    @property
    def difference(self) -> float:
        """Difference of the metric, in points; 0 where one arm measured nothing."""
        return 100 * self.unit.difference if self.unit else 0.0

    @property
    def state(self) -> str:
        """The words won, lost or same; empty where one arm measured nothing."""
        if self.unit is None:
            return ""
        return "won" if self.unit.difference > TIE else "lost" if self.unit.difference < -TIE else "same"


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
        name = comparison.decision.name(unit) if unit else key.task_id
        of_groups = tuple(places[group] for group in unit.groups.items() if group in places) if unit else ()
        rows.append(TaskRow(name, key, (aggregate(of_a), aggregate(of_b)), unit, of_groups))
    rows.sort(key=lambda row: (row.unit is None, -row.difference, row.name))
    return TaskTable(tuple(rows), groups, max((abs(row.difference) for row in rows), default=0.0) or 1.0)
