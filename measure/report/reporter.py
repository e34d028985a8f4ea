"""How are results shown in a terminal? Prints summaries, comparisons and single runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from measure.compare import sentences
from measure.compare.comparison import compare
from measure.compare.verdicts import ArmsComparison, Comparison, UnitComparison, Verdict
from measure.records import CriterionScore, EvalResult, ExecutionTrace, GradeResult
from measure.report import grids, tables
from measure.report.console import plain, print_table, print_verbatim, report_console
from measure.report.exports import summary_of
from measure.results.files import save_results
from measure.summary.metrics import aggregate
from measure.summary.wording import UNKNOWN, counted, run_facts, total_cost_text

SUGGESTS = 0.05
"""One-sided p-value up to which a task is listed for a regression that no task shows by itself."""


class Reporter:
    """Prints reports to a rich console and writes the JSON export."""

    def __init__(self, console: Console | None = None) -> None:
        """`console`: where to print; default standard output."""
        self.console = console or report_console()

    def print_summary(self, results: list[EvalResult]) -> None:
        """Print rates with intervals, pass@k, cost and lost runs per config and model, then per task."""
        print_table(self.console, tables.summary_table(results))
        print_table(self.console, tables.means_by_task(results))
        metrics = aggregate(results)
        spent = total_cost_text(metrics.total_cost, metrics.unknown_costs)
        note = "" if metrics.total_cost is None else " (judges and lost runs included)"
        self.console.print(f"{counted(len(results), 'run')}, {spent}{note}")

    def print_regression_comparison(self, baseline: list[EvalResult], current: list[EvalResult]) -> None:
        """Print the verdict on current against baseline, with every task."""
        self.print_comparison(_regression_test(baseline, current), all_tasks=True)

    def print_detailed_result(self, result: EvalResult, verbose: bool = False) -> None:
        """Print one run: how it ended, its grades with reasons, its tools and files; all of it if `verbose`."""
        if verbose:
            self.print_explain(result)
            return
        self._print_head(result)
        self._print_grades(result.grades)
        self._print_tools(result, names_only=True)
        self._print_changes(result.trace, diffs=False)

    def print_analysis(
        self, results: list[EvalResult], task_filter: str | None = None, failed_only: bool = False
    ) -> None:
        """Print every run of the tasks whose id contains `task_filter`, with what failed or was lost."""
        chosen = []
        table = tables.new_table("Runs", "#", "task", "config", "model", "run", "", "score", "outcome", "why")
        for index, result in enumerate(results):
            if (task_filter or "") not in result.task_id or (failed_only and result.passed):
                continue
            chosen.append(result)
            who = map(plain, (result.task_id, result.config_name, result.model))
            how = (tables.verdict_text(result.verdict), f"{result.overall_score:.2f}", str(result.outcome))
            table.add_row(str(index), *who, str(result.run_index), *how, plain(result.why))
        print_table(self.console, table)
        print_table(self.console, tables.assertion_table(chosen))
        self.console.print(f"{len(chosen)} of {counted(len(results), 'run')}; # is the number of a run")

    def print_diff(
        self, results_a: list[EvalResult], results_b: list[EvalResult], label_a: str = "A", label_b: str = "B"
    ) -> None:
        """Print two sets of results side by side, task by task, with the verdict."""
        self.print_comparison(compare(results_a, results_b, label_a=label_a, label_b=label_b), all_tasks=True)

    def print_comparison(self, comparison: Comparison, all_tasks: bool = False) -> None:
        """Print a comparison: answer, metrics, costs, reasons to doubt it, and the tasks that changed or all tasks."""
        if room := sentences.headroom_sentence(comparison):
            self.console.print(plain(room))
        style = f"bold {tables.STYLES[grids.TONES[comparison.verdict]]}".strip()
        self.console.print(plain(sentences.answer(comparison), style=style))
        for text in sentences.reasons(comparison):
            self.console.print(plain(text))
        self._print_grids(grids.metrics_grid(comparison), grids.costs_grid(comparison), grids.reach_grid(comparison))
        for text in comparison.warnings:
            self.console.print(plain("! ", style="yellow").append_text(plain(text, "default")))
        for text in sentences.notes(comparison):
            self.console.print(plain(text))
        shown = [unit for unit in comparison.decision.units if all_tasks or unit.verdict.decided]
        self._print_grids(grids.groups_grid(comparison), grids.tasks_grid(comparison, shown))

    def print_arms(self, found: ArmsComparison, all_tasks: bool = False) -> None:
        """Print several arms and every pair of them in tables, then each against the first in full."""
        if found.between:
            self._print_grids(grids.arms_grid(found), grids.pairs_grid(found))
        for comparison in found.comparisons:
            self.print_comparison(comparison, all_tasks)

    def _print_grids(self, *shown: grids.Grid) -> None:
        for grid in shown:
            if grid.rows:
                print_table(self.console, tables.grid_table(grid))

    def print_explain(self, result: EvalResult) -> None:
        """Print everything about one run: prompt, transcript, changes, grades with the judge's prompt, stderr."""
        self._print_head(result)
        self._print_block("Prompt", result.trace.claude_prompt)
        self._print_tools(result)
        self._print_block("Response", result.trace.claude_response or result.trace.result)
        self._print_changes(result.trace, diffs=True)
        self._print_grades(result.grades)
        for grade in result.grades:
            self._print_block(f"Output of {grade.assertion_id}", grade.full_output)
            self._print_block(f"Prompt of the judge of {grade.assertion_id}", grade.grading_prompt)
        self._print_block("Standard error", result.trace.stderr)

    def export_json(self, results: list[EvalResult], path: Path | str) -> None:
        """Write results without secrets, with a summary; `load_results` reads the file."""
        save_results(results, Path(path), summary=summary_of(results))

    def check_regression(
        self, baseline: list[EvalResult], current: list[EvalResult], threshold: float = 0.05
    ) -> tuple[bool, dict[str, Any]]:
        """Return whether `current` is worse than `baseline`, and the evidence.

        It is if the pass rate fell by more than `threshold` (0 to 1), over the tasks that changed or for one task, and
        chance does not explain the fall: permuting each task's runs rarely gives one as large. Tasks on one side only
        are listed under `unmatched` and never count as a change. If the runs cannot decide, `decided` is False,
        `verdict` is "not enough data", and a False result means nothing.
        """
        comparison = _regression_test(baseline, current, threshold)
        return comparison.got_worse, regression_evidence(comparison)

    def _print_head(self, result: EvalResult) -> None:
        title = f"{result.task_id} | {result.config_name} | {result.model} | run {result.run_index}"
        self.console.print(plain(title, style="bold"), tables.verdict_text(result.verdict))
        self.console.print(plain(run_facts(result)))
        if result.trace.error:
            self.console.print(plain(result.trace.error, style="yellow"))

    def _print_grades(self, grades: Sequence[GradeResult]) -> None:
        if not grades:
            return
        table = tables.new_table("Grades", "assertion", "", "score", "weight", "details")
        for g in grades:
            status = tables.verdict_text("pass" if g.passed else "fail")
            if g.status != "graded":
                status = plain(g.status.replace("_", " "), style="yellow")
            reasons = [g.details, g.reasoning]
            reasons += [_criterion_text(c) for c in g.criteria_scores]
            if g.judge:
                spread = "" if g.judge.spread is None else f", spread {g.judge.spread:.2f}"
                reasons.append(f"judged by {g.judge.model}{spread}")
            weight = UNKNOWN if g.weight is None else f"{g.weight:g}"
            body = plain("\n".join(reason for reason in reasons if reason))
            table.add_row(plain(g.assertion_id), status, f"{g.score:.2f}", weight, body)
        print_table(self.console, table)

    def _print_tools(self, result: EvalResult, *, names_only: bool = False) -> None:
        calls = result.trace.tool_count
        said = "Tool calls not recorded" if calls is None else counted(calls, "tool call")
        self.console.print(plain(said, style="bold"))
        for call in result.trace.tool_calls:
            line = plain(f"  {call.name}", style="cyan")
            if call.input and not names_only:
                line.append_text(plain(" " + json.dumps(call.input, ensure_ascii=False), "default"))
            self.console.print(line, soft_wrap=True)
            if not names_only:
                print_verbatim(self.console, call.error or call.output or "", indent=4)

    def _print_changes(self, trace: ExecutionTrace, diffs: bool) -> None:
        number = len(trace.file_changes) + trace.file_changes_left_out
        of_them = f", of which {len(trace.file_changes):,} are listed" if trace.file_changes_left_out else ""
        self.console.print(plain(f"{counted(number, 'file')} changed{of_them}", style="bold"))
        for change in trace.file_changes:
            self.console.print(plain(f"  {change.action} {change.path}"), soft_wrap=True)
            if diffs:
                print_verbatim(self.console, change.diff or change.content_after or "", indent=4)

    def _print_block(self, title: str, text: str) -> None:
        if text.strip():
            self.console.print(plain(title, style="bold"))
            print_verbatim(self.console, text.rstrip(), indent=2)


def regression_evidence(comparison: Comparison) -> dict[str, Any]:
    """Return the evidence of `check_regression` for a comparison of a baseline (A) with the current state (B)."""
    decision = comparison.decision
    rows = {unit.key: _regression_row(unit) for unit in decision.units}
    fell = decision.having(Verdict.REGRESSION)
    if comparison.verdict is Verdict.REGRESSION and not fell:  # only as a whole: list the tasks that suggest it
        fell = [unit for unit in decision.units if unit.p.less <= SUGGESTS]
    improved = decision.having(Verdict.IMPROVEMENT)
    return {
        "has_regressions": comparison.got_worse,
        "regression_count": len(fell),
        "improvement_count": len(improved),
        "threshold": comparison.threshold,
        "regressions": [rows[unit.key] for unit in fell],
        "improvements": [rows[unit.key] for unit in improved],
        "comparisons": list(rows.values()),
        "verdict": str(comparison.verdict),
        "decided": comparison.got_worse or comparison.verdict is not Verdict.NOT_ENOUGH_DATA,
        "evidence": sentences.verdict_sentence(comparison),
        "p_value": (decision.these_tasks or decision.suite).less,
        "unmatched": {"baseline": list(comparison.only_a), "current": list(comparison.only_b)},
        "warnings": list(comparison.warnings),
    }


def _criterion_text(scored: CriterionScore) -> str:
    """Give a criterion's score, and reasoning and evidence if it has any: 0.92 keyword_overlap."""
    reasoning = f": {scored.reasoning}" if scored.reasoning else ""
    evidence = f" [{scored.evidence}]" if scored.evidence else ""
    return f"{scored.score:.2f} {scored.criterion}{reasoning}{evidence}"


def _regression_row(unit: UnitComparison) -> dict[str, Any]:
    return {
        "task_id": unit.key.task_id,
        "config": unit.groups.get("config", ""),
        "model": unit.groups.get("model", ""),
        "baseline_pass_rate": unit.passed_a / len(unit.scores_a),
        "current_pass_rate": unit.passed_b / len(unit.scores_b),
        "delta": unit.difference,
        "p_value": unit.p.less,
        "adjusted_p_value": unit.adjusted.less,
        "verdict": str(unit.verdict),
    }


def _regression_test(baseline: list[EvalResult], current: list[EvalResult], threshold: float = 0.05) -> Comparison:
    """Compare the pass rates of `current` and `baseline` on exactly these tasks."""
    return compare(
        baseline,
        current,
        label_a="baseline",
        label_b="current",
        metric="pass_rate",
        threshold=threshold,
        fixed_tasks=True,
    )
