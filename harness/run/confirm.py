"""Was the change real? The tasks that looked changed are run again, with fresh runs, and compared alone."""

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
    """What `EvalRunner.run_matrix` does."""

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
    """Which runs it takes to confirm a comparison."""

    comparison: Comparison
    tasks: tuple[Task, ...]
    """The suspects: tasks that looked changed."""
    configs_a: tuple[Config, ...]
    """The configs of A, each with the model it ran with; none when the runs of A that are there are good enough."""
    configs_b: tuple[Config, ...]
    kept_a: tuple[EvalResult, ...]
    """Those runs of A, when there are no fresh ones."""
    runs: int
    """Fresh runs of each task with each config."""

    @property
    def configs(self) -> tuple[Config, ...]:
        """All configs that are run, each once."""
        return tuple({(config.name, config.model): config for config in (*self.configs_a, *self.configs_b)}.values())

    @property
    def fresh_runs(self) -> int:
        """How many runs it takes."""
        return len(self.tasks) * len(self.configs) * self.runs

    def compare(self, fresh: Sequence[EvalResult]) -> Comparison:
        """The question about these very tasks, the suspects: there are too few for one about tasks like them."""
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
    """What came out."""

    comparison: Comparison | None
    """None when not all runs were made: half an experiment has no verdict."""
    fresh: tuple[EvalResult, ...]
    stop_reason: str = ""
    """Why not all runs were made, when they were not."""
    interrupted: bool = False


def plan_confirmation(
    comparison: Comparison,
    results_a: Sequence[EvalResult],
    results_b: Sequence[EvalResult],
    tasks: Iterable[Task],
    configs: Iterable[Config],
    runs: int,
) -> Confirmation | None:
    """What to run again: the tasks that moved, in both arms where these have different configs or models, else in B.

    Args:
        comparison: what is to be confirmed.
        results_a: the runs of A it was made of.
        results_b: those of B.
        tasks: among which the suspects are found by id.
        configs: among which those of the arms are found by name.
        runs: fresh runs of each task with each config.

    Returns:
        None when no task looks changed.

    Raises:
        InputError: a task or config of the results is not among those given.
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
        plan: what `plan_confirmation` gave.
        run_matrix: makes the runs.
        journal: where each finished run is written at once.
        workers: runs at a time.
        max_cost_usd: no run is started once this is spent.
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
    """Configs and models of an arm."""
    return {(result.config_name, result.model) for result in results}


def _of(results: Iterable[EvalResult], configs: Iterable[Config]) -> list[EvalResult]:
    names = {(config.name, config.model) for config in configs}
    return [result for result in results if (result.config_name, result.model) in names]
