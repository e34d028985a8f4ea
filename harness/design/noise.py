"""How much do runs and tasks vary? The noise of an experiment to come, as assumed or as earlier results show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance, variance

from harness import statistics
from harness.compare.metrics import by_arm, by_task, resolve_metric
from harness.compare.verdicts import Metric, MetricChoice
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
            return statistics.difference_sd(self.run_sd, self.run_sd, runs, self.effect_sd)
        sd_a, sd_b = (statistics.pass_sd(mean, self.task_sd) for mean in (self.mean, self.mean + change))
        return statistics.difference_sd(sd_a, sd_b, runs, self.effect_sd)


def spread_of_runs(tasks: Iterable[Sequence[float]]) -> float | None:
    """Standard deviation over runs of one task, pooled over tasks; None without a task that was run twice."""
    repeated = [variance(values) for values in tasks if len(values) > 1]
    return fmean(repeated) ** 0.5 if repeated else None


def observed_noise(results: Sequence[EvalResult], choice: MetricChoice, run_sd: float | None = None) -> Noise | None:
    """What results show: the mean over tasks, how much runs of a task vary, and how much the effect differs by task.

    Results of two arms show the spread of the paired differences, which `compare` goes by; what runs do not explain
    of it is the effect's own. Results of one arm show the runs alone.

    Args:
        results: runs of any configs and models.
        choice: the metric to look at.
        run_sd: stands for what the results show of runs, where it is given.

    Returns:
        None when neither tells how much runs vary.

    Raises:
        InputError: nothing was measured.
    """
    metric = resolve_metric(choice, results)
    arms = [
        {task: [_value(run, metric) for run in runs] for task, runs in by_task(arm).items()}
        for arm in by_arm(run for run in results if run.measured).values()
    ]
    tasks = [values for arm in arms for values in arm.values()]
    if not tasks:
        raise InputError("no run was measured")
    mean = fmean(fmean(values) for values in tasks)
    within = spread_of_runs(tasks) if run_sd is None else run_sd
    both = sorted(arms[0].keys() & arms[1].keys()) if len(arms) == 2 else []
    if len(both) > 1:
        spread = variance(fmean(arms[1][task]) - fmean(arms[0][task]) for task in both)
        # Of each run's variance so much reaches the difference of a task's two means.
        share = fmean(1 / len(arm[task]) for arm in arms for task in both) * 2
        within = min(within or 0.0, (spread / share) ** 0.5)
        return Noise(metric, mean, within, effect_sd=max(0.0, spread - share * within**2) ** 0.5)
    if within is None:
        return None
    if metric == "score" or run_sd is not None:
        return Noise(metric, mean, within)
    repeated = [values for values in tasks if len(values) > 1]
    noise = fmean(fmean(values) * (1 - fmean(values)) / (len(values) - 1) for values in repeated)
    return Noise(metric, mean, task_sd=max(0.0, pvariance([fmean(values) for values in repeated]) - noise) ** 0.5)


def _value(run: EvalResult, metric: Metric) -> float:
    return float(run.passed) if metric == "pass_rate" else run.overall_score
