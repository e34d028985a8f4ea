"""How does a comparison become one HTML file? The page fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from locobench.shared.grouping import grouped
from locobench.shared.installation import HARNESS
from measure.compare import sentences, wording
from measure.compare.pairing import pairing
from measure.compare.verdicts import ArmsComparison, Comparison, UnitComparison, UnitKey
from measure.records import EvalResult
from measure.report import grids
from measure.report.forest import forest
from measure.report.timeline import timelines
from measure.secrets.redaction import redact_text
from measure.statistics.estimates import TIE
from measure.summary import wording as words
from measure.summary.metrics import AggregatedMetrics, aggregate
from measure.summary.wording import total_cost_text


@dataclass(frozen=True)
class TaskRow:
    """A task in both arms."""

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
    """Return the task table of a comparison of all runs of A and B; tasks of one arm alone come last."""
    units = {unit.key: unit for unit in comparison.decision.units}
    groups = tuple((part.dimension, part.value) for part in comparison.slices)
    places = {group: at for at, group in enumerate(groups)}
    of_a, of_b = (grouped(runs, pairing(a, b)) for runs in (a, b))
    rows = []
    for key in of_a | of_b:
        unit = units.get(key)
        of_groups = tuple(places[group] for group in unit.groups.items() if group in places) if unit else ()
        rows.append(TaskRow(key, (aggregate(of_a.get(key, ())), aggregate(of_b.get(key, ()))), unit, of_groups))
    rows.sort(key=lambda row: (row.unit is None, -row.difference, row.key))
    return TaskTable(tuple(rows), groups, max((abs(row.difference) for row in rows), default=0.0) or 1.0)


def render(arms: Sequence[tuple[str, Sequence[EvalResult]]], found: ArmsComparison, title: str) -> str:
    """Return the whole page on arms that `compare_arms` compared.

    Foreign texts are escaped and cleared of what looks like a secret.
    """
    (_, baseline), *others = arms
    everything = [result for _, results in arms for result in results]
    whole = aggregate(everything)
    views = [
        (comparison, forest(comparison), task_table(comparison, baseline, runs), timelines(baseline, runs))
        for comparison, (_, runs) in zip(found.comparisons, others, strict=True)
    ]
    template = _environment().get_template("report.html.j2")
    return template.render(
        title=title,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        found=found,
        views=views,
        arms=arms,
        runs=len(everything),
        tasks=len({result.task_id for result in everything}),
        spent=total_cost_text(whole.total_cost, whole.unknown_costs),
        versions=sorted({r.claude_code_version for r in everything if r.claude_code_version}),
    )


def _breakable(text: str) -> Markup:
    """Let a narrow column break names between their parts rather than within a word."""
    return Markup("<wbr>").join(re.split(r"(?<=\w[_/.+-])(?=\w)", text))


def _groupby_in_order(items: Iterable[object], name: str) -> Iterable[tuple[object, list[object]]]:
    """Group items by an attribute in their order; jinja's own `groupby` sorts."""
    return grouped(items, attrgetter(name)).items()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("measure.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(wording=wording, words=words, sentences=sentences, grids=grids, harness=HARNESS)
    environment.filters.update(groupby_in_order=_groupby_in_order, breakable=_breakable, redacted=redact_text)
    return environment
