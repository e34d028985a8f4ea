"""The runs of a matrix, those already done, and whether their journal may be continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.executor.base import Executor
from harness.models import Config, EvalResult, Fingerprints, Task
from harness.sandbox import scratch
from harness.suite import fingerprint
from harness.suite.resolve import ResolvedConfig
from locobench.shared.errors import InputError

Key = tuple[str, str, str, int, Fingerprints]


@dataclass(frozen=True)
class PlannedRun:
    """One cell of the matrix."""

    task: Task
    config: ResolvedConfig
    """The config, with the model that this run uses."""
    run_index: int
    fingerprints: Fingerprints

    @property
    def key(self) -> Key:
        """The key that a result must have to count as this run."""
        return (self.task.id, self.config.name, self.config.model, self.run_index, self.fingerprints)


def plan(
    tasks: Iterable[Task],
    configs: Iterable[Config],
    models: Iterable[str] | None,
    runs_per_combo: int,
    executor: Executor,
) -> list[PlannedRun]:
    """Return all runs, ordered so that the configs of one task run close together in time.

    `executor` resolves the configs and adds what it gives to every run; runs of another agent or in a container do not
    count as runs of Claude Code on this machine. InputError if two runs have the same task, config and model, or a
    config names what this host does not have.
    """
    tasks, model_list = list(tasks), list(models or [])
    resolved = [executor.resolve(config) for config in configs]
    for config in resolved:
        config.refuse_unknown_servers()
    variants = [c.model_copy(update={"model": m}) for c in resolved for m in model_list or [c.model]]
    names = Counter(f"{t.id} / {c.name} / {c.model}" for t in tasks for c in variants)
    if twice := [name for name, times in names.items() if times > 1]:
        raise InputError(f"task / config / model is given twice: {twice[0]}; rename one of them")
    task_hashes = [(task, fingerprint.of_task(task)) for task in tasks]
    config_hashes = [(config, fingerprint.of_data([config.fingerprint, executor.identity])) for config in variants]
    return [
        PlannedRun(task, config, run_index, Fingerprints(task=task_hash, config=config_hash))
        for run_index in range(runs_per_combo)
        for task, task_hash in task_hashes
        for config, config_hash in config_hashes
    ]


def find_finished(runs: Iterable[PlannedRun], results: Iterable[EvalResult]) -> dict[Key, EvalResult]:
    """Return the earlier results that count as planned runs: same content, no infrastructure or setup error.

    A run whose files were deleted before every check was run does not count: the agent has to run again. The
    same holds if the named folder was not made by the harness.
    """
    planned = {run.key for run in runs}
    kept = {}
    for result in results:
        key = result.key
        if result.kept_project is not None and scratch.find_root(result.kept_project) is None:
            result = result.model_copy(update={"kept_project": None})
        if key not in planned or not result.outcome.measured:
            continue
        if result.lost_to != "grading_error" or result.is_ungraded:
            kept[key] = result
        else:
            kept.pop(key, None)
    return kept


def refuse_other_judge(journal: Path, done: Iterable[EvalResult], judge: str) -> None:
    """Raise InputError if another judge graded the finished runs of a journal: verdicts of two judges do not mix."""
    for grade in (grade for result in done for grade in result.grades):
        if grade.judge is not None and grade.status == "graded" and grade.judge.model != judge:
            raise InputError(
                f"{journal}: started with the judge {grade.judge.model}, not with {judge}; "
                "use the same judge to continue it, or start another journal"
            )
