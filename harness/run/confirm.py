"""Was the change real? Reruns the tasks that looked changed, and compares only the fresh runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.compare.comparison import compare
from harness.compare.verdicts import Comparison
from harness.errors import InputError
from harness.models import Config, EvalResult, Task
from harness.run.matrix import MatrixStopped


class RunMatrix(Protocol):
    """The signature of `EvalRunner.run_matrix`."""

    def __call__(
        self,
        tasks: Iterable[Task],
        configs: Iterable[Config],
        models: Iterable[str] | None = None,
        runs_per_combo: int = 3,
        /,
        *,
        workers: int = 1,
        journal: Path | None = None,
        max_cost_usd: float | None = None,
    ) -> list[EvalResult]:
        """Run a matrix and return its results."""
        ...


@dataclass(frozen=True)
class Confirmation:
    """The runs needed to confirm a comparison."""

    comparison: Comparison
    tasks: tuple[Task, ...]
    """The suspects: tasks that looked changed."""
    configs_a: tuple[Config, ...]
    """The configs of A, each with the model it ran with; empty if A's existing runs are reused."""
    configs_b: tuple[Config, ...]
    kept_a: tuple[EvalResult, ...]
    """The reused runs of A, if A is not run again."""
    runs: int
    """Fresh runs per task and config."""

    @property
    def configs(self) -> tuple[Config, ...]:
        """The configs to run, without duplicates."""
        return tuple({(config.name, config.model): config for config in (*self.configs_a, *self.configs_b)}.values())

    @property
    def fresh_runs(self) -> int:
        """The number of runs needed."""
        return len(self.tasks) * len(self.configs) * self.runs

    def compare(self, fresh: Sequence[EvalResult]) -> Comparison:
        """Compare A and B on exactly the suspects; they are too few to say anything about similar tasks."""
        return compare(
            _of(fresh, self.configs_a) if self.configs_a else self.kept_a,
            _of(fresh, self.configs_b),
            label_a=self.comparison.label_a,
            label_b=self.comparison.label_b,
            metric=self.comparison.metric,
            threshold=self.comparison.threshold,
            fixed_tasks=True,
        )


@dataclass(frozen=True)
class Confirmed:
    """The result of a confirmation."""

    comparison: Comparison | None
    """None if some runs are missing: half an experiment has no verdict."""
    fresh: tuple[EvalResult, ...]
    stop_reason: str = ""
    """Why runs are missing, if any are."""
    interrupted: bool = False


def plan_confirmation(
    comparison: Comparison,
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    tasks: Iterable[Task],
    configs: Iterable[Config],
    runs: int,
) -> Confirmation | None:
    """Plan which runs to repeat: the tasks that moved, in both arms if their configs or models differ, else only in B.

    Args:
        comparison: the comparison to confirm.
        results_a: the runs of A that it compares.
        results_b: the runs of B that it compares.
        tasks: candidates; the suspects are selected by id.
        configs: candidates; the arms' configs are selected by name.
        runs: fresh runs per task and config.

    Returns:
        The plan, or None if no task looks changed.

    Raises:
        InputError: a task or config of the results is not among the candidates.
    """
    suspects = {unit.key.task_id for unit in comparison.decision.units if unit.moved}
    if not suspects:
        return None
    by_id = {task.id: task for task in tasks}
    _refuse_missing("task", suspects - by_id.keys())
    by_name = {config.name: config for config in configs}
    variants_a, variants_b = _variants(results_a), _variants(results_b)
    again_a = variants_a if variants_a != variants_b else set()
    _refuse_missing("config", {name for name, _ in again_a | variants_b} - by_name.keys())

    def with_models(variants: set[tuple[str, str]]) -> tuple[Config, ...]:
        return tuple(by_name[name].model_copy(update={"model": model}) for name, model in sorted(variants))

    return Confirmation(
        comparison=comparison,
        tasks=tuple(task for name, task in by_id.items() if name in suspects),
        configs_a=with_models(again_a),
        configs_b=with_models(variants_b),
        kept_a=() if again_a else tuple(result for result in results_a if result.task_id in suspects),
        runs=runs,
    )


def confirm(
    plan: Confirmation, run_matrix: RunMatrix, *, journal: Path, workers: int = 1, max_cost_usd: float | None = None
) -> Confirmed:
    """Make the fresh runs and compare them.

    Args:
        plan: from `plan_confirmation`.
        run_matrix: makes the runs.
        journal: file to which each finished run is written at once.
        workers: number of runs in parallel.
        max_cost_usd: once this is spent, no further run starts.
    """
    try:
        fresh = run_matrix(
            plan.tasks, plan.configs, None, plan.runs, workers=workers, journal=journal, max_cost_usd=max_cost_usd
        )
    except MatrixStopped as stopped:
        return Confirmed(None, tuple(stopped.results), stopped.reason, stopped.interrupted)
    return Confirmed(plan.compare(fresh), tuple(fresh))


def _refuse_missing(what: str, names: Iterable[str]) -> None:
    missing = sorted(names)
    if missing:
        raise InputError(f"no {what} file for {', '.join(missing)} among those named; name more of them")


def _variants(results: Iterable[EvalResult]) -> set[tuple[str, str]]:
    """Return the config and model pairs of an arm."""
    return {(result.config_name, result.model) for result in results}


def _of(results: Iterable[EvalResult], configs: Iterable[Config]) -> list[EvalResult]:
    names = {(config.name, config.model) for config in configs}
    return [result for result in results if (result.config_name, result.model) in names]
