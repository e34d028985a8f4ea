"""The runs of a matrix, those already done, and whether their journal may be continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
    cells = []
    for config in variants:
        digest = fingerprint.of_data([config.fingerprint, executor.identity])
        cells.append((config, Fingerprints(config=digest, user_level=config.user_level)))
    return [
        PlannedRun(task, config, run_index, hashes.model_copy(update={"task": task_hash}))
        for run_index in range(runs_per_combo)
        for task, task_hash in task_hashes
        for config, hashes in cells
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


def refuse_other_experiment(
    journal: Path, earlier: Sequence[EvalResult], runs: Sequence[PlannedRun], judge: str
) -> None:
    """Refuse to mix the runs of two experiments in one journal.

    InputError if the journal was started with another judge, or other content of --mcp-config or of a snapshot.
    """
    planned = {run.config.name: run.fingerprints.user_level for run in runs}
    for result in earlier:
        name, begun_with = result.config_name, result.fingerprints.user_level
        if planned.get(name, begun_with) != begun_with:
            raise InputError(
                f"{journal}: started with another --mcp-config or snapshot for config {name}; "
                "use the same files to continue it, or start another journal"
            )
    for grade in (grade for result in find_finished(runs, earlier).values() for grade in result.grades):
        if grade.judge is not None and grade.status == "graded" and grade.judge.model != judge:
            raise InputError(
                f"{journal}: started with the judge {grade.judge.model}, not with {judge}; "
                "use the same judge to continue it, or start another journal"
            )


def count_repeats(runs: Iterable[PlannedRun], results: Iterable[EvalResult]) -> dict[str, int]:
    """Count the runs in a journal that have to be repeated, by reason."""
    rows = list(results)
    done = find_finished(runs, rows)
    last = {row.key[:4]: row for row in rows}
    reasons = Counter(_why_again(run, last[run.key[:4]]) for run in runs if run.key not in done if run.key[:4] in last)
    return dict(reasons.most_common())


UNFINISHED = "they did not finish"


def _why_again(run: PlannedRun, row: EvalResult) -> str:
    if not row.outcome.measured:
        return UNFINISHED
    if row.fingerprints.task != run.fingerprints.task:
        return "the task changed (its text, checks or files), or the version of this harness"
    if row.fingerprints.config != run.fingerprints.config:
        return "the config changed (its content, agent or sandbox), or the version of this harness"
    return f"their files were deleted before they were checked (from {row.kept_project and row.kept_project.parent})"
