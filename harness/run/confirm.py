"""Was the change real? Which tasks looked changed, and how their fresh runs compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.compare.comparison import compare
from harness.compare.verdicts import Comparison
from harness.errors import InputError
from harness.models import Config, EvalResult, Task


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
