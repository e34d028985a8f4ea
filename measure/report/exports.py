"""How do results and comparisons leave the harness? As JSON and Markdown text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from measure.compare import sentences
from measure.compare.verdicts import ArmsComparison, Comparison
from measure.records import SCHEMA_VERSION, EvalResult
from measure.report import grids
from measure.secrets.redaction import redact_text
from measure.summary.metrics import aggregate

MARKS: dict[grids.Tone, str] = {"good": "🟢", "bad": "🔴", "equal": "🔵", "": "⚫", "doubt": "⚪"}


def summary_of(results: Sequence[EvalResult]) -> dict[str, Any]:
    """Return the summary at the head of a report's results file; None for what no run recorded."""
    metrics = aggregate(results)
    return {
        "total_runs": metrics.total_runs,
        "passed": metrics.passed,
        "failed": metrics.failed,
        "pass_rate": metrics.pass_rate if metrics.total_runs else None,
        "avg_score": metrics.avg_score if metrics.total_runs else None,
        "avg_tokens": metrics.avg_tokens,
        "avg_duration_seconds": metrics.avg_duration,
        "total_cost_usd": metrics.total_cost,
        **{f"pass_at_{k}": value for k, value in metrics.pass_at_k.items()},
        **{f"pass_hat_{k}": value for k, value in metrics.pass_hat_k.items()},
        "errors": metrics.errors,
    }


def arms_markdown(found: ArmsComparison) -> str:
    """Return a comment for a pull request: of several arms, a table of every pair, then each against the first."""
    tables = [f"{_table(grid(found))}\n" for grid in (grids.arms_grid, grids.pairs_grid)] if found.between else []
    return "\n".join([*tables, *map(comparison_markdown, found.comparisons)])


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comment for a pull request: verdict, numbers, warnings, and the tasks with a verdict of their own."""
    c = comparison
    groups = _table(grids.groups_grid(c))
    warnings = "\n".join(f"- {_cell(text)}" for text in c.warnings)
    moved = _table(grids.tasks_grid(c, [unit for unit in c.decision.units if unit.verdict.decided]))
    parts = (
        f"## {MARKS[grids.TONES[c.verdict]]} {_cell(c.label_b)} against {_cell(c.label_a)}",
        _cell(sentences.headroom_sentence(c)),
        f"**{_cell(sentences.answer(c))}**",
        _cell(" ".join(sentences.reasons(c))),
        *(_table(grid(c)) for grid in (grids.metrics_grid, grids.costs_grid, grids.reach_grid)),
        _cell(redact_text(" ".join(sentences.notes(c)))),
        groups and f"<details><summary>By group</summary>\n\n{groups}\n\n</details>",
        warnings and f"### Before you believe it\n\n{warnings}",
        moved and f"### Tasks that changed by themselves\n\n{moved}",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(grid: grids.Grid) -> str:
    """Return a grid in Markdown; empty without rows."""
    columns = (grid.columns[0] or grid.title, *grid.columns[1:])
    lines = [columns, ["---", *("---:" for _ in columns[1:])]]
    for row in grid.rows:
        first, *others = map(_cell, row.cells)
        lines.append([f"{first} ({_cell(row.hint)})" if row.hint else first, *others])
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines) if grid.rows else ""


def comparison_json(found: ArmsComparison) -> str:
    """Return a comparison as JSON; of several arms, their means and costs, and each against the first."""
    data = [_comparison_data(comparison) for comparison in found.comparisons]
    several = {
        "schema_version": SCHEMA_VERSION,
        "metric": found.metric,
        "arms": [{"label": label, **(vars(level) if level else {})} for label, level in found.arms.items()],
        "comparisons": data,
        "between": [_comparison_data(comparison) for comparison in found.between],
    }
    return json.dumps(several if len(data) > 1 else data[0], indent=1, ensure_ascii=False) + "\n"


def _comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON data, without values that only the computation needs."""
    steps = {"steps_less", "steps_greater"}
    left_out: dict[str, Any] = {"decision": {"suite": steps, "units": {"__all__": {"p": steps, "adjusted": steps}}}}
    data = comparison.model_dump(mode="json", exclude=left_out)
    return {"schema_version": SCHEMA_VERSION, "verdict": str(comparison.verdict), **data}


def _cell(text: str) -> str:
    """Escape text so that it cannot end a table cell or turn into markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))
