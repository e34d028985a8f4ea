"""How do results become one HTML file? It fetches nothing, and unpacks a run once it is opened."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby
from operator import attrgetter

from jinja2 import Environment
from markupsafe import Markup

from harness.compare import wording
from harness.compare.metrics import AggregatedMetrics, aggregate, by_arm, by_task, resolve_metric
from harness.compare.verdicts import ArmsComparison, Comparison
from harness.host.redaction import REDACTED
from harness.host.secret_shapes import replace_shapes
from harness.models import EvalResult, VerifierMetrics
from harness.report.exports import template_environment
from harness.report.forest import Forest, forest
from harness.report.task_table import TaskTable, task_table

MAX_BYTES = 18_000_000
"""Limit for the pages of all runs together; texts are cut shorter until they fit."""
MANY_TASKS = 200
MANY_BYTES = 1_000_000
"""The same beyond MANY_TASKS: a page of 500 tasks then opens within a second."""
TEXT_CHARS = 40_000
"""Longest single text of a run (prompt, answer, diff, tool output), if all of them fit."""
LEAST_CHARS = 100
"""At this limit, a run's page has its grades and its answer, but only the names of its tools."""
WHY_CHARS = 160
NAMES = 12
"""Names shown of a list of evidence before it says how many more there are."""
LONGEST_SECRET = 4000
"""Characters searched beyond a cut, so that no half of a secret is left before it."""


@dataclass(frozen=True)
class Arm:
    """Results, under the name that readers know them by."""

    label: str
    results: Sequence[EvalResult]


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
    """What the page shows of one comparison, besides its numbers."""

    comparison: Comparison
    forest: Forest | None
    tasks: TaskTable | None
    """None with several comparisons; the heat map then shows the tasks."""


@dataclass(frozen=True)
class Runs:
    """All runs: the packed rows of their table, and their packed pages, one pack for each task."""

    count: int
    listed: str
    packs: Sequence[str]


PackFor = Callable[[EvalResult], str | None]
"""Returns the evidence pack of a run's answer, if there is one."""


def render(
    arms: Sequence[Arm],
    comparison: Comparison | ArmsComparison | None = None,
    title: str = "Evaluation report",
    pack_for: PackFor = lambda _result: None,
) -> str:
    """Return the whole page; texts of the agent are escaped, cut to fit and cleared of what looks like a secret.

    Args:
        arms: one arm, or those of `comparison` in its order.
        comparison: shown first if given.
        title: title of the page.
        pack_for: returns the evidence pack to show beside a run's answer.
    """
    found = [comparison] if isinstance(comparison, Comparison) else comparison.comparisons if comparison else []
    everything = [result for arm in arms for result in arm.results]
    metric = comparison.metric if comparison else resolve_metric("auto", everything)
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
    whole = aggregate(everything)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            several=comparison if len(found) > 1 else None,
            views=_views(arms, found),
            metric=metric,
            columns=columns,
            tasks=sorted({result.task_id for result in everything}),
            runs=_runs(arms, pack_for),
            spent=wording.total_cost_text(whole.total_cost, whole.unknown_costs),
            versions=sorted({r.claude_code_version for r in everything if r.claude_code_version}),
        )
    )


def _views(arms: Sequence[Arm], comparisons: Sequence[Comparison]) -> list[View]:
    table = task_table(comparisons[0], arms[0].results, arms[1].results) if len(comparisons) == 1 else None
    return [View(comparison, forest(comparison), table) for comparison in comparisons]


def _runs(arms: Sequence[Arm], pack_for: PackFor) -> Runs:
    results = [(arm.label if len(arms) > 1 else "", result) for arm in arms for result in arm.results]
    evidence_of = [pack_for(result) for _, result in results]
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, (_, result) in enumerate(results):
        by_name[result.task_id].append(number)
    places = {n: (at, place) for at, own in enumerate(by_name.values()) for place, n in enumerate(own)}
    listed = _pack(json.dumps([_line(*results[n], *places[n]) for n in range(len(results))], ensure_ascii=False))
    limit, most = TEXT_CHARS, MANY_BYTES if len(by_name) > MANY_TASKS else MAX_BYTES
    while True:
        packs, size = [], 0
        for own in by_name.values():
            pages = [_run_page(n, results[n][1], evidence_of[n], limit) for n in own]
            packs.append(_pack(json.dumps(pages, ensure_ascii=False)))
            size += len(packs[-1])
            if size > most and limit > LEAST_CHARS:
                break
        else:
            return Runs(len(results), listed, packs)
        limit = max(LEAST_CHARS, limit // 2)


def _line(arm: str, result: EvalResult, pack: int, place: int) -> list[object]:
    """Return a run's row: where its page is packed, further words for the search, and its columns."""
    tools = sorted({call.name for call in result.trace.tool_calls})
    why = _without_shapes(result.why)
    words = [str(result.outcome), result.category, result.language, *map(_without_shapes, tools)]
    shown = [
        result.verdict,
        arm,
        result.task_id,
        result.config_name,
        result.model,
        result.run_index,
        f"{result.overall_score:.2f}" if result.measured else "",
        wording.cost_text(result.cost_usd),
        wording.seconds_text(result.trace.duration_seconds),
        wording.count_text(result.trace.tool_count),
        why if len(why) <= WHY_CHARS else f"{why[:WHY_CHARS]} ...",
    ]
    return [pack, place, " ".join(words), *shown]


def _run_page(index: int, result: EvalResult, pack: str | None, limit: int) -> str:
    template = _environment().get_template("run.html.j2")
    names = Counter(call.name for call in result.trace.tool_calls) if limit <= LEAST_CHARS else None
    return template.render(number=index, r=result, evidence=pack, clip=partial(_clip, limit=limit), names=names)


def _clip(content: object, limit: int) -> str:
    """Return a text as the page shows it: without secrets, and without its middle if it is too long."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
    if len(text) <= limit:
        return _without_shapes(text)
    half = limit // 2
    head = _without_shapes(text[: half + LONGEST_SECRET])[:half]
    tail = _without_shapes(text[-half - LONGEST_SECRET :])[-half:]
    return f"{head}\n[... the middle of these {len(text):,} characters is left out ...]\n{tail}"


def _without_shapes(text: str) -> str:
    """Take out what looks like a secret once more, since older results files were written under older rules."""
    return replace_shapes(text, REDACTED)


def _evidence(metrics: VerifierMetrics) -> list[tuple[str, str]]:
    """List what the verifier found: the kind of finding, with its number and first names."""
    kinds = {
        "identifiers": metrics.identifiers,
        "files": metrics.files,
        "invented": metrics.invented_identifiers,
    }
    return [(kind, "not recorded" if found is None else _listed(list(found))) for kind, found in kinds.items()]


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return f"{len(names)}: {', '.join(names[:NAMES])}{more}"


def _told(text: str) -> str:
    """Return a number as it is, or `not recorded`."""
    return "not recorded" if text == wording.UNKNOWN else text


def _pack(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _breakable(name: str) -> Markup:
    """Let a narrow column break a name between its parts rather than within a word."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/.+-])", name))


def _groupby_in_order(items: Iterable[object], name: str) -> list[tuple[object, list[object]]]:
    """Group neighbours with the same value of an attribute; jinja's own `groupby` sorts."""
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
    environment.filters["evidence"] = _evidence
    environment.filters["redacted"] = _without_shapes
    environment.filters["told"] = _told
    return environment
