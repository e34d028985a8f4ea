"""How do results become one HTML file? All inside it, nothing fetched, each run compressed until opened."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.compare import wording
from harness.compare.metrics import AggregatedMetrics, aggregate, by_arm, by_task
from harness.compare.verdicts import Comparison
from harness.host.redaction import redact_text
from harness.models import EvalResult
from harness.report import figures

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
        return redact_text(self.result.why)

    @property
    def words(self) -> str:
        """What the search looks at before any transcript is opened."""
        tools = sorted({call.name for call in self.result.trace.tool_calls})
        parts = [self.arm, self.result.task_id, self.result.config_name, self.result.model, self.result.verdict]
        parts += [str(self.result.outcome), self.result.category, self.result.language, self.why, *tools]
        return redact_text(" ".join(parts)).lower()


@dataclass(frozen=True)
class Column:
    """One column of the heat map: an arm, config and model."""

    arm: str
    config: str
    model: str
    metrics: AggregatedMetrics
    cells: dict[str, AggregatedMetrics]


def render(arms: Sequence[Arm], comparison: Comparison | None = None, title: str = "Evaluation report") -> str:
    """The whole page. Texts of the agent are escaped, cut to fit and freed of what looks like a secret.

    Args:
        arms: one, or the two of `comparison`.
        comparison: shown first, when there is one.
        title: of the page.
    """
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
    everything = [result for arm in arms for result in arm.results]
    drawn = [figures.paired_differences(comparison)] if comparison and comparison.decision.units else []
    drawn.append(figures.cost_against_score(everything))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            comparison=comparison,
            columns=columns,
            tasks=sorted({result.task_id for result in everything}),
            rows=_rows(arms),
            figures=[svg for svg in drawn if svg],
            total_cost=sum(column.metrics.total_cost for column in columns),
            versions=sorted({r.claude_code_version for r in everything if r.claude_code_version}),
        )
    )


def _rows(arms: Sequence[Arm]) -> list[Row]:
    limit = TEXT_CHARS
    while True:
        rows: list[Row] = []
        for arm in arms:
            for result in arm.results:
                packed = _pack(_run_page(len(rows), result, limit))
                rows.append(Row(len(rows), arm.label if len(arms) > 1 else "", result, packed))
        size = sum(len(row.packed) for row in rows)
        if limit <= LEAST_CHARS or size <= MAX_BYTES:
            return rows
        limit = max(LEAST_CHARS, int(0.8 * limit * MAX_BYTES / size))


def _run_page(index: int, result: EvalResult, limit: int) -> str:
    def clip(content: object) -> str:
        """A text as the page shows it: its middle left out when it is too long, and without secrets."""
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
        if len(text) <= limit:
            return redact_text(text)
        half = limit // 2
        head = redact_text(text[: half + LONGEST_SECRET])[:half]
        tail = redact_text(text[-half - LONGEST_SECRET :])[-half:]
        return f"{head}\n[... the middle of these {len(text):,} characters is left out ...]\n{tail}"

    return _environment().get_template("run.html.j2").render(number=index, r=result, clip=clip)


def _pack(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=4, mtime=0)).decode()


def _diff_class(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "file"
    return {"+": "add", "-": "del", "@": "hunk"}.get(line[:1], "")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["diff_class"] = _diff_class
    environment.globals["wording"] = wording
    return environment
