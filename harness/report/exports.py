"""How do results and comparisons leave the harness? As JSON, CSV and Markdown text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.compare import sentences, wording
from harness.compare.metrics import aggregate, by_arm
from harness.compare.verdicts import ArmsComparison, Comparison, Verdict
from harness.models import SCHEMA_VERSION, EvalResult
from locobench.shared.installation import HARNESS

COLUMNS: dict[str, Callable[[EvalResult], object]] = {
    "task_id": lambda r: r.task_id,
    "config_name": lambda r: r.config_name,
    "model": lambda r: r.model,
    "run_index": lambda r: r.run_index,
    "timestamp": lambda r: r.timestamp.isoformat(),
    "outcome": lambda r: r.outcome,
    "measured": lambda r: r.measured,
    "passed": lambda r: r.passed,
    "overall_score": lambda r: r.overall_score,
    "category": lambda r: r.category,
    "language": lambda r: r.language,
    "difficulty": lambda r: r.difficulty,
    "duration_seconds": lambda r: r.trace.duration_seconds,
    "num_turns": lambda r: r.trace.num_turns,
    "tool_calls": lambda r: r.trace.tool_count,
    "input_tokens": lambda r: r.trace.usage and r.trace.usage.input_tokens,
    "output_tokens": lambda r: r.trace.usage and r.trace.usage.output_tokens,
    "cache_read_tokens": lambda r: r.trace.usage and r.trace.usage.cache_read_tokens,
    "cache_creation_tokens": lambda r: r.trace.usage and r.trace.usage.cache_creation_tokens,
    "cost_usd": lambda r: r.cost_usd,
    "claude_code_version": lambda r: r.claude_code_version,
    "error": lambda r: r.trace.error,
}
"""The columns of the CSV, with the value of each for a run."""

MARKS = {
    Verdict.IMPROVEMENT: "🟢",
    Verdict.REGRESSION: "🔴",
    Verdict.NO_EVIDENCE: "⚫",
    Verdict.NOT_ENOUGH_DATA: "⚪",
}


def results_json(results: Sequence[EvalResult]) -> str:
    """Return a results file that starts with a summary; `load_results` reads it like any other."""
    metrics = aggregate(results)
    return json.dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "timestamp": datetime.now(UTC).isoformat(),
            "num_results": len(results),
            "summary": {
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
            },
            "results": [result.model_dump(mode="json") for result in results],
        },
        indent=1,
        ensure_ascii=False,
    )


def results_csv(results: Iterable[EvalResult]) -> str:
    """Return one line per run; unknown values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        writer.writerow([_inert(value(result)) for value in COLUMNS.values()])
    return text.getvalue()


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comment for a pull request: verdict, numbers, warnings, and the tasks that moved."""
    moved = [unit for unit in comparison.decision.units if unit.moved]
    return _markdown("comparison.md.j2", comparison=comparison, moved=moved, mark=MARKS[comparison.verdict])


def results_markdown(results: Sequence[EvalResult]) -> str:
    """Return a table of all configs and models."""
    rows = [(config, model, aggregate(runs)) for (config, model), runs in by_arm(results).items()]
    return _markdown("results.md.j2", rows=rows)


def comparison_json(found: ArmsComparison) -> str:
    """Return a comparison as JSON; of several arms, their means and costs, and each against the first."""
    data = [_comparison_data(comparison) for comparison in found.comparisons]
    several = {
        "schema_version": SCHEMA_VERSION,
        "metric": found.metric,
        "arms": [arm.model_dump(mode="json") for arm in found.arms],
        "comparisons": data,
    }
    return json.dumps(several if len(data) > 1 else data[0], indent=1, ensure_ascii=False) + "\n"


def _comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON data, without values that only the computation needs."""
    steps = {"steps_less", "steps_greater"}
    data = comparison.model_dump(
        mode="json",
        exclude={
            "decision": {"suite": steps, "units": {"__all__": {"p": steps, "adjusted": steps}}},
            "metrics": {"__all__": {"p": steps}},
        },
    )
    return {"schema_version": SCHEMA_VERSION, "verdict": str(comparison.verdict), **data}


def template_environment(*, is_page: bool) -> Environment:
    """Return an environment with the templates, `wording` and `sentences`.

    Args:
        is_page: True for HTML; False for Markdown, where names go through the filter `cell`.
    """
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=is_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not is_page,
    )
    environment.globals |= {"wording": wording, "sentences": sentences, "harness": HARNESS}
    return environment


def _markdown(template: str, **values: object) -> str:
    environment = template_environment(is_page=False)
    environment.filters["cell"] = _cell
    return environment.get_template(template).render(**values)


def _cell(text: str) -> str:
    """Escape text so that it cannot end a table cell or turn into markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))


def _inert(value: object) -> object:
    """Keep a spreadsheet from taking a value for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
