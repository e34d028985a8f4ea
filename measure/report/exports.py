"""How do results and comparisons leave the harness? As JSON and Markdown text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from locobench.shared.installation import HARNESS
from measure.compare import sentences, wording
from measure.compare.verdicts import ArmsComparison, Comparison, Verdict
from measure.records import SCHEMA_VERSION, EvalResult
from measure.summary import wording as words
from measure.summary.metrics import aggregate

MARKS = {
    Verdict.IMPROVEMENT: "🟢",
    Verdict.REGRESSION: "🔴",
    Verdict.AS_GOOD: "🔵",
    Verdict.NO_EVIDENCE: "⚫",
    Verdict.NOT_ENOUGH_DATA: "⚪",
}


def summary_of(results: Sequence[EvalResult]) -> dict[str, Any]:
    """Return the summary that stands in front of a report's results file; what no run recorded is None."""
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


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comment for a pull request: verdict, numbers, warnings, and the tasks with a verdict of their own."""
    moved = [unit for unit in comparison.decision.units if unit.verdict.decided]
    environment = template_environment(is_page=False)
    environment.filters["cell"] = _cell
    template = environment.get_template("comparison.md.j2")
    return template.render(comparison=comparison, moved=moved, mark=MARKS[comparison.verdict])


def comparison_json(found: ArmsComparison) -> str:
    """Return a comparison as JSON; of several arms, their means and costs, and each against the first."""
    data = [_comparison_data(comparison) for comparison in found.comparisons]
    several = {
        "schema_version": SCHEMA_VERSION,
        "metric": found.metric,
        "arms": [arm.model_dump(mode="json") for arm in found.arms],
        "comparisons": data,
        "between": [_comparison_data(comparison) for comparison in found.between],
    }
    return json.dumps(several if len(data) > 1 else data[0], indent=1, ensure_ascii=False) + "\n"


def _comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON data, without values that only the computation needs."""
    steps = {"steps_less", "steps_greater"}
    data = comparison.model_dump(
        mode="json",
        exclude={
            "decision": {"suite": steps, "units": {"__all__": {"p": steps, "adjusted": steps}}},
        },
    )
    return {"schema_version": SCHEMA_VERSION, "verdict": str(comparison.verdict), **data}


def template_environment(*, is_page: bool) -> Environment:
    """Return an environment with the templates, `wording` of comparisons, `words` of summaries, and `sentences`.

    Args:
        is_page: True for HTML; False for Markdown, where names go through the filter `cell`.
    """
    environment = Environment(
        loader=PackageLoader("measure.report"),
        autoescape=is_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not is_page,
    )
    environment.globals |= {"wording": wording, "words": words, "sentences": sentences, "harness": HARNESS}
    return environment


def _cell(text: str) -> str:
    """Escape text so that it cannot end a table cell or turn into markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))
