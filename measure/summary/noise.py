"""The noise of a planned experiment, between runs and tasks: assumed, or estimated from earlier results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance, variance

from locobench.shared.errors import InputError
from measure.records import EvalResult
from measure.statistics.estimates import ALPHA, effect_found
from measure.summary.metrics import Metric, by_arm, by_task, metric_value, resolve_metric
from measure.summary.wording import counted, rise_and_fall


@dataclass(frozen=True)
class Noise:
    """How much the runs and tasks of an experiment are assumed to vary."""

    metric: Metric
    mean: float
    """A's mean of the metric, 0 to 1."""
    run_sd: float | None = None
    """Standard deviation of one run's metric within a task; None for passes, where it follows from the mean."""
    task_sd: float = 0.0
    """Standard deviation of the tasks' true pass rates."""
    effect_sd: float = 0.0
    """Standard deviation of the true effect over tasks."""

    def sd(self, change: float, runs: int) -> float:
        """Return the standard deviation of one task's difference of means, `runs` in each arm.

        The variances of independent means add up: effect_sd^2 + (variance of a run in A + in B) / runs. A pass of
        probability p varies by p (1 - p), of which the spread of the tasks is a part (law of total variance).
        Differences between tasks do not matter, since each task is compared with itself. `change` is B's mean minus
        A's, -1 to 1.
        """
        means = (self.mean, self.mean + change)
        of_runs = [max(0.0, mean * (1 - mean) - self.task_sd**2) for mean in means]
        if self.run_sd is not None:
            of_runs = [self.run_sd**2] * 2
        return math.sqrt(self.effect_sd**2 + sum(of_runs) / runs)

    def finds(self, sign: int, tasks: int, runs: int, alpha: float = ALPHA / 2) -> float | None:
        """Return the rise (sign 1) or fall (-1) that is found in 80 % of experiments; None if that exceeds the room.

        `runs` is the number of runs of each task in each arm.
        """
        room = self.mean if sign < 0 else 1 - self.mean
        return effect_found(lambda change: self.sd(sign * change, runs) / math.sqrt(tasks), tasks, room, alpha)

    def found_text(self, tasks: int, runs: int, alpha: float = ALPHA / 2) -> str:
        """Say which rise and fall such an experiment finds."""
        sides = rise_and_fall(*(self.finds(sign, tasks, runs, alpha) for sign in (1, -1)))
        return f"At 80 % power, {counted(tasks, 'task')} with {counted(runs, 'run')} in each arm detect {sides}"


def observed_noise(results: Sequence[EvalResult]) -> Noise | None:
    """Estimate the mean over tasks, how much a task's runs vary, and how much the effect varies between tasks.

    Results of two arms show the spread of the paired differences, on which `compare` relies; the part that runs do
    not explain is due to the effect. Results of one arm only show how much runs vary; None when none was repeated.
    InputError if nothing was measured.
    """
    metric = resolve_metric("auto", results)
    arms = [
        {task: [metric_value(run, metric) for run in runs] for task, runs in by_task(arm).items()}
        for arm in by_arm(run for run in results if run.measured).values()
    ]
    tasks = [values for arm in arms for values in arm.values()]
    if not tasks:
        raise InputError("no run was measured")
    mean = fmean(fmean(values) for values in tasks)
    repeated = [values for values in tasks if len(values) > 1]
    within = fmean(map(variance, repeated)) ** 0.5 if repeated else None
    both = sorted(arms[0].keys() & arms[1].keys()) if len(arms) == 2 else []
    if len(both) > 1:
        spread = variance(fmean(arms[1][task]) - fmean(arms[0][task]) for task in both)
        # The share of each run's variance that enters the difference of a task's two means.
        share = fmean(1 / len(arm[task]) for arm in arms for task in both) * 2
        within = min(within or 0.0, (spread / share) ** 0.5)
        return Noise(metric, mean, within, effect_sd=max(0.0, spread - share * within**2) ** 0.5)
    if within is None:
        return None
    if metric == "score":
        return Noise(metric, mean, within)
    noise = fmean(fmean(values) * (1 - fmean(values)) / (len(values) - 1) for values in repeated)
    return Noise(metric, mean, task_sd=max(0.0, pvariance([fmean(values) for values in repeated]) - noise) ** 0.5)
