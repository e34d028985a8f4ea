"""How much do runs and tasks vary? The noise of an experiment to come, as assumed or as earlier results show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pvariance, variance

from harness import statistics
from harness.compare.metrics import by_arm, by_task, resolve_metric
from harness.compare.verdicts import Metric, MetricChoice
from harness.compare.wording import metric_name
from harness.errors import InputError
from harness.models import EvalResult


@dataclass(frozen=True)
class Noise:
    """What an experiment's runs and tasks are taken to vary by."""

    metric: Metric
    mean: float
    """Of A, 0 to 1."""
    run_sd: float | None = None
    """Standard deviation of one run's metric within a task; None for passes, whose mean tells it."""
    task_sd: float = 0.0
    """Standard deviation of the tasks' true pass rates."""
    effect_sd: float = 0.0
    """Standard deviation of the true effect over tasks."""

    def sd(self, change: float, runs: int) -> float:
        """Standard deviation of one task's difference when B's mean is `change` more than A's."""
        if self.run_sd is not None:
            return statistics.score_sd(self.run_sd, runs, self.effect_sd)
        return statistics.design_sd(self.mean, change, runs, self.task_sd, self.effect_sd)


def measured_by_task(results: Iterable[EvalResult]) -> list[list[EvalResult]]:
    """Measured runs of each task in each config and model."""
    arms = by_arm(run for run in results if run.measured)
    return [runs for arm in arms.values() for runs in by_task(arm).values()]


def spread_of_runs(tasks: Iterable[Sequence[float]]) -> float | None:
    """Standard deviation over runs of one task, pooled over tasks; None without a task that was run twice."""
    repeated = [variance(values) for values in tasks if len(values) > 1]
    return fmean(repeated) ** 0.5 if repeated else None


def observed_noise(results: Sequence[EvalResult], choice: MetricChoice, run_sd: float | None, source: Path) -> Noise:
    """Mean over tasks, and how much runs of a task vary, in results.

    Args:
        results: runs of any configs and models.
        choice: the metric to look at.
        run_sd: stands for what the results show, where it is given.
        source: where the results are from, for the message.

    Raises:
        InputError: nothing was measured, or only `run_sd` could tell how much runs vary.
    """
    metric = resolve_metric(choice, results)
    tasks = [
        [float(run.passed) if metric == "pass_rate" else run.overall_score for run in runs]
        for runs in measured_by_task(results)
    ]
    if not tasks:
        raise InputError(f"{source}: holds no measured run")
    mean = fmean(fmean(values) for values in tasks)
    if run_sd is not None:
        return Noise(metric, mean, run_sd)
    spread = spread_of_runs(tasks)
    if spread is None:
        most = pvariance([value for values in tasks for value in values]) ** 0.5
        raise InputError(
            f"{source}: holds one run of each task, which cannot tell how much runs of a task vary; give --run-sd "
            f"(over all tasks together the {metric_name(metric)} varies by {most:.2f}, which is a cautious choice) or "
            "results with two runs of a task"
        )
    if metric == "score":
        return Noise(metric, mean, spread)
    repeated = [values for values in tasks if len(values) > 1]
    noise = fmean(fmean(values) * (1 - fmean(values)) / (len(values) - 1) for values in repeated)
    return Noise(metric, mean, task_sd=max(0.0, pvariance([fmean(values) for values in repeated]) - noise) ** 0.5)
