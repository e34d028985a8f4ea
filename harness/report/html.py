"""How does a comparison become one HTML file? The page fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from operator import attrgetter

from jinja2 import Environment
from markupsafe import Markup

from harness.compare import wording
from harness.compare.metrics import aggregate
from harness.compare.verdicts import ArmsComparison, Comparison
from harness.host.redaction import REDACTED
from harness.host.secret_shapes import replace_shapes
from harness.models import EvalResult
from harness.report.exports import template_environment
from harness.report.forest import Forest, forest
from harness.report.task_table import TaskTable, task_table


@dataclass(frozen=True)
class View:
    """What the page shows of one comparison, besides its numbers."""

    comparison: Comparison
    forest: Forest | None
    tasks: TaskTable


def render(arms: Sequence[tuple[str, Sequence[EvalResult]]], found: ArmsComparison, title: str) -> str:
    """Return the whole page; foreign texts are escaped and cleared of what looks like a secret.

    Args:
        arms: label and results of each arm, as they were given to `compare_arms`.
        found: what that returned.
        title: title of the page.
    """
    (_, baseline), *others = arms
    everything = [result for _, results in arms for result in results]
    whole = aggregate(everything)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            found=found,
            views=[
                View(comparison, forest(comparison), task_table(comparison, baseline, results))
                for comparison, (_, results) in zip(found.comparisons, others, strict=True)
            ],
            arms=arms,
            runs=len(everything),
            tasks=len({result.task_id for result in everything}),
            spent=wording.total_cost_text(whole.total_cost, whole.unknown_costs),
            versions=sorted({r.claude_code_version for r in everything if r.claude_code_version}),
        )
    )


def _redacted(text: str) -> str:
    """Take out what looks like a secret: Harbor's trials are read as they are."""
    return replace_shapes(text, REDACTED)


def _breakable(name: str) -> Markup:
    """Let a narrow column break a name between its parts rather than within a word."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/.+-])", name))


def _groupby_in_order(items: Iterable[object], name: str) -> list[tuple[object, list[object]]]:
    """Group neighbours with the same value of an attribute; jinja's own `groupby` sorts."""
    return [(value, list(group)) for value, group in groupby(items, attrgetter(name))]


@cache
def _environment() -> Environment:
    environment = template_environment(is_page=True)
    environment.filters["groupby_in_order"] = _groupby_in_order
    environment.filters["breakable"] = _breakable
    environment.filters["redacted"] = _redacted
    return environment
