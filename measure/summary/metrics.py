"""Metrics of one arm: rates, pass@k, means, tool calls; lost runs are counted apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from locobench.shared.grouping import grouped
from measure.records import EvalResult
from measure.statistics import estimates
from measure.statistics.estimates import Interval

Metric = Literal["pass_rate", "score"]
MetricChoice = Literal["auto", "pass_rate", "score"]
"""What a user asks for; `auto` depends on the results (`resolve_metric`)."""

KS = (1, 3, 5)
"""The values of k for which pass@k and pass^k are reported."""


class Frozen(BaseModel):
    """Base of all records of summaries and comparisons."""

    model_config = ConfigDict(frozen=True)


class ToolCount(Frozen):
    """How often one tool was called."""

    name: str
    calls: int
    runs: int
    """Runs that called it at least once."""
    failed: int = 0
    """Calls that the tool answered with an error."""
    seconds: float | None = None
    """Mean seconds from call to result, over the calls whose times were recorded."""


class ToolUse(Frozen):
    """Tool calls of an arm, over the measured runs whose calls were recorded."""

    runs: int
    calls: int
    tools: tuple[ToolCount, ...]
    """Most called first."""


@dataclass(frozen=True)
class AggregatedMetrics:
    """Means over the measured runs; runs lost to infrastructure, setup or judge appear only in `errors`."""

    total_runs: int
    """Measured runs, passed or failed."""
    passed: int
    failed: int
    pass_rate: float
    """0 to 1; 0 without runs."""
    avg_score: float
    avg_tokens: int | None
    """Mean tokens a run, cache included, over the runs that recorded them; None when none did."""
    avg_duration: float | None
    """Mean seconds a run, likewise."""
    pass_at_k: dict[int, float]
    """k -> chance that at least one of k runs passes, mean over the tasks with k runs; no key without such tasks."""
    pass_hat_k: dict[int, float] = field(default_factory=dict)
    """k -> chance that all of k runs pass, likewise."""
    pass_interval: Interval | None = None
    """Wilson interval of pass_rate, for these tasks; None without runs."""
    avg_cost: float | None = None
    """Mean US$ a run, over the runs whose cost is known; None when none is."""
    total_cost: float | None = None
    """US$ of all runs with a known cost, lost ones and judges included; None when no cost is known."""
    unknown_costs: int = 0
    """Runs whose cost was not recorded."""
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Runs that count in no rate."""
        return sum(self.errors.values())


def aggregate(results: Iterable[EvalResult]) -> AggregatedMetrics:
    """Aggregate the metrics of all results."""
    all_results = list(results)
    runs = [result for result in all_results if result.measured]
    passed = sum(run.passed for run in runs)
    tokens = mean_of_known(run.tokens for run in runs)
    costs = [cost for result in all_results if (cost := total_cost(result)) is not None]
    return AggregatedMetrics(
        total_runs=len(runs),
        passed=passed,
        failed=len(runs) - passed,
        pass_rate=passed / len(runs) if runs else 0.0,
        avg_score=mean_of_known(run.overall_score for run in runs) or 0.0,
        avg_tokens=None if tokens is None else round(tokens),
        avg_duration=mean_of_known(run.trace.duration_seconds for run in runs),
        pass_at_k=_over_tasks(runs, estimates.pass_at_k),
        pass_hat_k=_over_tasks(runs, estimates.pass_hat_k),
        pass_interval=estimates.wilson_interval(passed, len(runs)),
        avg_cost=mean_of_known(run.cost_usd for run in runs),
        total_cost=sum(costs) if costs else None,
        unknown_costs=sum(result.cost_usd is None for result in all_results),
        errors=count_errors(all_results),
    )


def resolve_metric(choice: MetricChoice, results: Iterable[EvalResult]) -> Metric:
    """Return the metric to compare by; `auto` takes the score if any measured run has one between 0 and 1.

    Passes are scores cut at a threshold, which loses most of what a continuous reward says.
    """
    if choice != "auto":
        return choice
    return "score" if any(0 < r.overall_score < 1 for r in results if r.measured) else "pass_rate"


def metric_value(run: EvalResult, metric: Metric) -> float:
    """Return the metric of one measured run, 0 to 1."""
    return float(run.passed) if metric == "pass_rate" else run.overall_score


def count_errors(results: Iterable[EvalResult]) -> dict[str, int]:
    """Count the lost runs by what they were lost to."""
    return dict(sorted(Counter(result.lost_to for result in results if result.lost_to).items()))


def total_cost(result: EvalResult) -> float | None:
    """Return the US$ of a run with its failed tries and judges, as --max-cost-usd counts it; None when unknown."""
    return None if result.cost_usd is None and not result.spent_usd else result.spent_usd


def with_calls(results: Iterable[EvalResult]) -> list[EvalResult]:
    """Return the measured runs whose tool calls were recorded, which is not the same as runs with calls."""
    return [result for result in results if result.measured and result.trace.tool_count is not None]


def tool_use(results: Iterable[EvalResult]) -> ToolUse | None:
    """Count how often the measured runs called each tool; None when no run recorded its calls."""
    recorded = [result.trace.tool_calls for result in with_calls(results)]
    users = Counter(name for calls in recorded for name in {call.name for call in calls})
    by_tool = grouped((call for calls in recorded for call in calls), lambda call: call.name)
    counts = tuple(
        ToolCount(
            name=name,
            calls=len(calls),
            runs=users[name],
            failed=sum(call.error is not None for call in calls),
            seconds=mean_of_known(call.duration_seconds for call in calls),
        )
        for name, calls in sorted(by_tool.items(), key=lambda tool: (-len(tool[1]), tool[0]))
    )
    return ToolUse(runs=len(recorded), calls=sum(map(len, recorded)), tools=counts) if recorded else None


def by_arm(results: Iterable[EvalResult]) -> dict[tuple[str, str], list[EvalResult]]:
    """Group results by (config, model), sorted by name."""
    return dict(sorted(grouped(results, lambda result: (result.config_name, result.model)).items()))


def by_task(results: Iterable[EvalResult]) -> dict[str, list[EvalResult]]:
    """Group results by task, sorted by id."""
    return dict(sorted(grouped(results, lambda result: result.task_id).items()))


def _over_tasks(runs: Sequence[EvalResult], estimate: Callable[[int, int, int], float | None]) -> dict[int, float]:
    """Average an estimate over tasks, each config and model of a task counting as one."""
    groups = grouped(runs, lambda run: (run.task_id, run.config_name, run.model)).values()
    counts = [(len(group), sum(run.passed for run in group)) for group in groups]
    means: dict[int, float] = {}
    for k in KS:
        values = [value for total, passed in counts if (value := estimate(total, passed, k)) is not None]
        if values:
            means[k] = fmean(values)
    return means


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Average the known values; None when none is known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
