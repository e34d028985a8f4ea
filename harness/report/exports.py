"""How do results and comparisons leave the harness? As JSON, CSV, JUnit XML and Markdown text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from harness.compare.metrics import AggregatedMetrics, aggregate, by_arm
from harness.compare.verdicts import Comparison, UnitComparison, Verdict
from harness.compare.wording import interval_text, number, percent, points, runs_text, signed, verdict_sentence
from harness.models import SCHEMA_VERSION, EvalResult

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
    "tool_calls": lambda r: len(r.trace.tool_calls),
    "input_tokens": lambda r: r.trace.usage.input_tokens,
    "output_tokens": lambda r: r.trace.usage.output_tokens,
    "cache_read_tokens": lambda r: r.trace.usage.cache_read_tokens,
    "cache_creation_tokens": lambda r: r.trace.usage.cache_creation_tokens,
    "cost_usd": lambda r: r.cost_usd,
    "claude_code_version": lambda r: r.claude_code_version,
    "error": lambda r: r.trace.error,
}
"""One column of the CSV each; a new one is a new line here."""

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def results_json(results: Sequence[EvalResult]) -> str:
    """A results file with a summary in front, which `load_results` reads like any other."""
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
                "pass_rate": metrics.pass_rate,
                "avg_score": metrics.avg_score,
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
    """One line a run; unknown values are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in results:
        writer.writerow([_inert(value(result)) for value in COLUMNS.values()])
    return text.getvalue()


def results_junit(results: Sequence[EvalResult]) -> str:
    """One suite a config and model, one case a run; lost runs are errors, failed ones failures."""
    root = ElementTree.Element("testsuites", name="harness")
    for (config, model), runs in by_arm(results).items():
        suite = _suite(root, f"{config} | {model}", len(runs), sum(r.trace.duration_seconds for r in runs))
        for result in runs:
            case = _case(suite, config, f"{result.task_id}[{result.run_index}]", result.trace.duration_seconds)
            if not result.measured:
                _problem(case, "error", _lost(result), result.trace.stderr)
            elif not result.passed:
                failed = [g for g in result.grades if not g.passed]
                text = "\n".join(f"{g.assertion_id}: {g.details or g.reasoning}" for g in failed)
                _problem(case, "failure", f"score {result.overall_score:.2f}, {result.outcome}", text)
        _count(suite)
    return _xml(root)


def comparison_junit(comparison: Comparison) -> str:
    """The verdict and every task as a case; a regression is a failure, too little data an error."""
    root = ElementTree.Element("testsuites", name="harness compare")
    name = f"{comparison.label_b} against {comparison.label_a}"
    suite = _suite(root, name, len(comparison.decision.units) + 1, 0.0)
    whole = _case(suite, "compare", "verdict", 0.0)
    if comparison.verdict is Verdict.REGRESSION:
        _problem(whole, "failure", verdict_sentence(comparison), "\n".join(comparison.warnings))
    elif comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        _problem(whole, "error", verdict_sentence(comparison), "\n".join(comparison.warnings))
    for unit in comparison.decision.units:
        case = _case(suite, "compare", comparison.decision.name(unit), 0.0)
        if unit.verdict is Verdict.REGRESSION:
            _problem(case, "failure", f"{runs_text(unit)}, adjusted p = {unit.adjusted.less:.2g}", "")
    _count(suite)
    return _xml(root)


def comparison_markdown(comparison: Comparison) -> str:
    """A comment for a pull request: verdict, numbers, warnings, and the tasks that moved."""
    marks = {Verdict.IMPROVEMENT: "🟢", Verdict.REGRESSION: "🔴", Verdict.NOT_ENOUGH_DATA: "⚪"}
    a, b = _cell(comparison.label_a), _cell(comparison.label_b)
    lines = [
        f"## {marks.get(comparison.verdict, '⚫')} {b} against {a}: {comparison.verdict}",
        "",
        verdict_sentence(comparison),
        "",
        f"| | {a} | {b} | difference | 95 % interval | tasks |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {m.name.replace('_', ' ')} ({m.unit}) | {number(m, m.mean_a)} | {number(m, m.mean_b)} "
        f"| {signed(m)} | {interval_text(m)} | {m.tasks} |"
        for m in comparison.metrics
    ]
    if comparison.warnings:
        lines += ["", "### Before you believe it", "", *(f"- {_cell(text)}" for text in comparison.warnings)]
    moved = [u for u in comparison.decision.units if u.verdict.decided or u.suspect]
    if moved:
        lines += ["", "### Tasks that moved", "", f"| task | {a} | {b} | difference | adjusted p | |"]
        lines += [
            "|---|---:|---:|---:|---:|---|",
            *(_unit_row(u, comparison.decision.name(u)) for u in moved),
        ]
    return "\n".join(lines) + "\n"


def results_markdown(results: Sequence[EvalResult]) -> str:
    """A table of all configs and models."""
    lines = [
        "| config | model | runs | passed | 95 % interval | score | cost | lost runs |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for (config, model), runs in by_arm(results).items():
        metrics = aggregate(runs)
        lines.append(
            f"| {_cell(config)} | {_cell(model)} | {metrics.total_runs} | {percent(metrics.pass_rate)} "
            f"| {_interval(metrics)} | {metrics.avg_score:.2f} | ${metrics.total_cost:.2f} "
            f"| {', '.join(f'{count} {name}' for name, count in metrics.errors.items())} |"
        )
    return "\n".join(lines) + "\n"


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON data, without what only the computation needs."""
    steps = {"steps_less", "steps_greater"}
    data = comparison.model_dump(
        mode="json",
        exclude={
            "decision": {"suite": steps, "units": {"__all__": {"p": steps, "adjusted": steps}}},
            "metrics": {"__all__": {"p": steps}},
        },
    )
    return {"schema_version": SCHEMA_VERSION, "verdict": str(comparison.verdict), **data}


def _unit_row(unit: UnitComparison, name: str) -> str:
    p = min(unit.adjusted.less, unit.adjusted.greater)
    verdict = str(unit.verdict) if unit.verdict.decided else "suspect"
    passes = f"{unit.passed_a}/{len(unit.scores_a)} | {unit.passed_b}/{len(unit.scores_b)}"
    return f"| {_cell(name)} | {passes} | {points(unit.difference)} | {p:.2g} | {verdict} |"


def _interval(metrics: AggregatedMetrics) -> str:
    found = metrics.pass_interval
    return f"{percent(found.low)} to {percent(found.high)}" if found else "-"


def _cell(text: str) -> str:
    """Text that can not end a table cell or turn into markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))


def _inert(value: object) -> object:
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def _lost(result: EvalResult) -> str:
    if result.outcome.measured:
        return "judge_error: " + "; ".join(g.details for g in result.grades if g.status != "graded")
    return f"{result.outcome}: {result.trace.error}"


def _suite(root: ElementTree.Element, name: str, tests: int, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=_clean(name), tests=str(tests), time=f"{seconds:.3f}")


def _case(suite: ElementTree.Element, group: str, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_clean(group), name=_clean(name), time=f"{seconds:.3f}")


def _problem(case: ElementTree.Element, kind: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, kind, message=_clean(message)).text = _clean(text)


def _count(suite: ElementTree.Element) -> None:
    for kind in ("failure", "error"):
        suite.set(f"{kind}s", str(len(suite.findall(f"testcase/{kind}"))))


def _clean(text: str) -> str:
    """Text without the characters that XML can not hold."""
    return NOT_XML.sub("�", text)


def _xml(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
