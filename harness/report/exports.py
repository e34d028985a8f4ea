"""How do results and comparisons leave the harness? As JSON, CSV, JUnit XML and Markdown text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from harness.compare import sentences, wording
from harness.compare.arms import ArmsComparison
from harness.compare.metrics import aggregate, by_arm
from harness.compare.sentences import verdict_sentence
from harness.compare.verdicts import Comparison, Verdict
from harness.compare.wording import p_text, runs_text
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

Problem = Error | Failure

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def results_junit(results: Sequence[EvalResult]) -> str:
    """Return a suite per config and model with a case per run; lost runs are errors, failed ones failures."""
    suites = []
    for (config, model), runs in by_arm(results).items():
        cases = []
        for run in runs:
            case = _case(config, f"{run.task_id}[{run.run_index}]", run.trace.duration_seconds)
            if run.verdict == "lost":
                reasons = [run.trace.error, *(g.details for g in run.grades if g.status != "graded")]
                message = f"{run.lost_to}: {'; '.join(reason for reason in reasons if reason)}"
                case.result = [_problem(Error, message, run.trace.stderr)]
            elif run.verdict == "fail":
                failed = [f"{g.assertion_id}: {g.details or g.reasoning}" for g in run.grades if not g.passed]
                message = f"score {run.overall_score:.2f}, {run.outcome}"
                case.result = [_problem(Failure, message, "\n".join(failed))]
            cases.append(case)
        suites.append(_suite(f"{config} | {model}", cases))
    return _xml("harness", suites)


def comparison_junit(*comparisons: Comparison) -> str:
    """Return a suite per comparison, with verdict and tasks as cases; regressions fail, too little data is an error."""
    return _xml("harness compare", [_comparison_suite(comparison) for comparison in comparisons])


def _comparison_suite(comparison: Comparison) -> TestSuite:
    whole = _case("compare", "verdict")
    warnings = "\n".join(comparison.warnings)
    if comparison.verdict is Verdict.REGRESSION:
        whole.result = [_problem(Failure, verdict_sentence(comparison), warnings)]
    elif comparison.verdict is Verdict.NOT_ENOUGH_DATA:
        whole.result = [_problem(Error, verdict_sentence(comparison), warnings)]
    cases = [whole]
    for unit in comparison.decision.units:
        case = _case("compare", comparison.decision.name(unit))
        if unit.verdict is Verdict.REGRESSION:
            case.result = [_problem(Failure, f"{runs_text(unit)}, adjusted p = {p_text(unit.adjusted.less)}", "")]
        cases.append(case)
    return _suite(f"{comparison.label_b} against {comparison.label_a}", cases)


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


def _case(group: str, name: str, seconds: float | None = None) -> TestCase:
    return TestCase(_clean(name), classname=_clean(group), time=seconds)


def _problem(kind: type[Error] | type[Failure], message: str, text: str) -> Problem:
    problem = kind(_clean(message))
    problem.text = _clean(text)
    return problem


def _suite(name: str, cases: Sequence[TestCase]) -> TestSuite:
    suite = TestSuite(_clean(name))
    suite.add_testcases(list(cases))
    return suite


def _clean(text: str) -> str:
    """Replace the characters that XML cannot hold."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _xml(name: str, suites: Sequence[TestSuite]) -> str:
    file = JUnitXml(name)
    for suite in suites:
        file.add_testsuite(suite)
    file.update_statistics()
    text = io.BytesIO()
    file.write(text, pretty=True)
    return text.getvalue().decode()
