"""How do results become one HTML file? All inside it, nothing fetched, each run compressed until opened."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from itertools import count, groupby
from operator import attrgetter

from jinja2 import Environment
from markupsafe import Markup

from harness.compare import wording
from harness.compare.arms import ArmsComparison
from harness.compare.metrics import AggregatedMetrics, aggregate, by_arm, by_task, resolve_metric
from harness.compare.verdicts import Comparison, UnitComparison
from harness.host.redaction import REDACTED
from harness.host.secret_shapes import replace_shapes
from harness.models import EvalResult
from harness.report import figures
from harness.report.environment import template_environment
from harness.report.extremes import ANSWER_CHARS, Extreme, evidence, extremes
from harness.report.forest import Forest, forest

MAX_BYTES = 18_000_000
"""Of all runs together; texts are cut harder until they fit."""
TEXT_CHARS = 40_000
"""Longest single text of a run (prompt, answer, diff, tool output), when all fit."""
LEAST_CHARS = 300
LONGEST_SECRET = 4000
"""Characters beyond a cut that are looked at, so that half a secret is not left before it."""


@dataclass(frozen=True)
class Arm:
    """Results under the name a reader knows them by."""

    label: str
    results: Sequence[EvalResult]


@dataclass(frozen=True)
class Row:
    """One run in the list, and the packed page behind it."""

    number: int
    arm: str
    result: EvalResult
    packed: str

    @property
    def why(self) -> str:
        """What failed or was lost, in one line, without what looks like a secret."""
        return _without_shapes(self.result.why)

    @property
    def words(self) -> str:
        """What the search looks at before any transcript is opened."""
        tools = sorted({call.name for call in self.result.trace.tool_calls})
        parts = [self.arm, self.result.task_id, self.result.config_name, self.result.model, self.result.verdict]
        parts += [str(self.result.outcome), self.result.category, self.result.language, self.why, *tools]
        return _without_shapes(" ".join(parts)).lower()


@dataclass(frozen=True)
class Column:
    """One column of the heat map: an arm, config and model."""

    arm: str
    config: str
    model: str
    metrics: AggregatedMetrics
    cells: dict[str, AggregatedMetrics]


@dataclass(frozen=True)
class View:
    """What the page shows of one comparison beside its numbers."""

    comparison: Comparison
    forest: Forest | None
    figure: Markup
    wins: Sequence[Extreme]
    losses: Sequence[Extreme]


PackFor = Callable[[EvalResult], str | None]
"""The evidence pack of a run's answer, where there is one."""


def render(
    arms: Sequence[Arm],
    comparison: Comparison | ArmsComparison | None = None,
    title: str = "Evaluation report",
    pack_for: PackFor = lambda _result: None,
) -> str:
    """The whole page. Texts of the agent are escaped, cut to fit and freed of what looks like a secret.

    Args:
        arms: one, or those of `comparison` in its order.
        comparison: shown first, when there is one.
        title: of the page.
        pack_for: what is shown beside a run's answer.
    """
    several = comparison if isinstance(comparison, ArmsComparison) else None
    comparisons = several.comparisons if several else [comparison] if isinstance(comparison, Comparison) else []
    everything = [result for arm in arms for result in arm.results]
    metric = comparison.metric if comparison else resolve_metric("auto", everything)
    names = _legend(arms)
    columns = [
        Column(
            arm.label if len(arms) > 1 else "",
            config,
            model,
            aggregate(runs),
            {task: aggregate(of_task) for task, of_task in by_task(runs).items()},
        )
        for arm in arms
        for (config, model), runs in by_arm(arm.results).items()
    ]
    drawn = [figures.value_against_cost(names, metric), figures.value_against_calls(names, metric)]
    whole = aggregate(everything)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            several=several,
            views=_views(arms, comparisons),
            units=_units(comparisons),
            metric=metric,
            columns=columns,
            tasks=sorted({result.task_id for result in everything}),
            rows=_rows(arms, pack_for),
            figures=[svg for svg in drawn if svg],
            spent=wording.total_cost_text(whole.total_cost, whole.unknown_costs),
            versions=sorted({r.claude_code_version for r in everything if r.claude_code_version}),
        )
    )


def _views(arms: Sequence[Arm], comparisons: Sequence[Comparison]) -> list[View]:
    numbers = count()
    numbered = [[(next(numbers), result) for result in arm.results] for arm in arms]
    views = []
    for at, comparison in enumerate(comparisons, start=1):
        wins, losses = extremes(comparison, numbered[0], numbered[at])
        figure = figures.task_differences(comparison, f"differences-{at}") if comparison.decision.units else Markup()
        views.append(View(comparison, forest(comparison), figure, wins, losses))
    return views


def _units(comparisons: Sequence[Comparison]) -> dict[str, UnitComparison]:
    """Each task's own difference; empty with several comparisons, or where a task has several of them."""
    if len(comparisons) != 1:
        return {}
    units = {unit.key.task_id: unit for unit in comparisons[0].decision.units}
    return units if len(units) == len(comparisons[0].decision.units) else {}


def _legend(arms: Sequence[Arm]) -> dict[str, Sequence[EvalResult]]:
    """Runs by what a legend calls them: an arm of one config and model by its label."""
    found: dict[str, Sequence[EvalResult]] = {}
    for arm in arms:
        parts = by_arm(arm.results)
        for (config, model), runs in parts.items():
            label = [arm.label] if len(arms) > 1 else []
            found[" | ".join(label if label and len(parts) == 1 else [*label, config, model])] = runs
    return found


def _rows(arms: Sequence[Arm], pack_for: PackFor) -> list[Row]:
    limit = TEXT_CHARS
    packs = [[pack_for(result) for result in arm.results] for arm in arms]
    while True:
        rows: list[Row] = []
        for arm, of_arm in zip(arms, packs, strict=True):
            for result, pack in zip(arm.results, of_arm, strict=True):
                packed = _pack(_run_page(len(rows), result, pack, limit))
                rows.append(Row(len(rows), arm.label if len(arms) > 1 else "", result, packed))
        size = sum(len(row.packed) for row in rows)
        if limit <= LEAST_CHARS or size <= MAX_BYTES:
            return rows
        limit = max(LEAST_CHARS, int(0.8 * limit * MAX_BYTES / size))


def _run_page(index: int, result: EvalResult, pack: str | None, limit: int) -> str:
    template = _environment().get_template("run.html.j2")
    return template.render(number=index, r=result, evidence=pack, clip=partial(_clip, limit=limit))


def _clip(content: object, limit: int = ANSWER_CHARS) -> str:
    """A text as the page shows it: its middle left out when it is too long, and without secrets."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
    if len(text) <= limit:
        return _without_shapes(text)
    half = limit // 2
    head = _without_shapes(text[: half + LONGEST_SECRET])[:half]
    tail = _without_shapes(text[-half - LONGEST_SECRET :])[-half:]
    return f"{head}\n[... the middle of these {len(text):,} characters is left out ...]\n{tail}"


def _without_shapes(text: str) -> str:
    """What looks like a secret is taken out once more: an older results file was written by older rules."""
    return replace_shapes(text, REDACTED)


def _told(text: str) -> str:
    """A number as it is, or that it was not recorded."""
    return "not recorded" if text == wording.UNKNOWN else text


def _pack(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=4, mtime=0)).decode()


def _breakable(name: str) -> Markup:
    """A name that a narrow column breaks between its parts rather than within a word."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/.+-])", name))


def _groupby_in_order(items: Iterable[object], name: str) -> list[tuple[object, list[object]]]:
    """Neighbours with the same value of an attribute; jinja's own `groupby` sorts."""
    return [(value, list(group)) for value, group in groupby(items, attrgetter(name))]


def _diff_class(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "file"
    return {"+": "add", "-": "del", "@": "hunk"}.get(line[:1], "")


@cache
def _environment() -> Environment:
    environment = template_environment(is_page=True)
    environment.filters["diff_class"] = _diff_class
    environment.filters["groupby_in_order"] = _groupby_in_order
    environment.filters["breakable"] = _breakable
    environment.filters["clip"] = _clip
    environment.filters["evidence"] = evidence
    environment.filters["redacted"] = _without_shapes
    environment.filters["told"] = _told
    return environment
