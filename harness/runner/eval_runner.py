"""Orchestrates evaluation runs across tasks, configs and models."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from harness.executor import ClaudeExecutor, Executor
from harness.graders.composite_grader import CompositeGrader
from harness.isolator import EnvironmentIsolator
from harness.models import Config, EvalResult, Task
from harness.runner.matrix import Callback, Matrix, MatrixStopped
from harness.runner.plan import PlannedRun, find_finished, plan, refuse_other_judge
from harness.runner.single import SingleRun
from harness.sandbox import scratch
from harness.suite import load
from locobench.scoring.judge.prices import price_of
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole
from measure.results import files
from measure.results.journal import Journal, read_journal

__all__ = ["EvalRunner", "MatrixStopped"]


class EvalRunner:
    """Runs tasks with configs, and saves and loads the results."""

    def __init__(
        self,
        executor: Executor | None = None,
        grader: CompositeGrader | None = None,
        isolator: EnvironmentIsolator | None = None,
        results_dir: Path | str | None = None,
    ) -> None:
        """Take the parts of a runner, or their defaults.

        `results_dir` is where results are saved if no path is given; it is created when something is saved.
        """
        self.executor = executor or ClaudeExecutor()
        self.grader = grader or CompositeGrader()
        self.isolator = isolator or EnvironmentIsolator()
        self.results_dir = Path(results_dir or files.DEFAULT_RESULTS_DIR)

    def run_single(self, task: Task, config: Config, run_index: int = 0) -> EvalResult:
        """Run a task once with a config and grade it. Failures are outcomes of the result, not exceptions.

        InputError if the config names skills, a variable or an MCP file that this host does not have.
        """
        (run,) = plan([task], [config], None, 1, self.executor)
        self._prepare([task])
        self.grader.prepare(task)
        single, run = SingleRun(self.executor, self.grader, self.isolator), replace(run, run_index=run_index)
        result = single.attempt(run)
        graded = single.grade(run, result) if result.is_ungraded else result
        scratch.keep(graded.kept_project)
        if graded.kept_project is None:
            scratch.discard(result.kept_project)
        return graded

    def run_matrix(
        self,
        tasks: Iterable[Task],
        configs: Iterable[Config],
        models: Iterable[str] | None = None,
        runs_per_combo: int = 3,
        callback: Callback | None = None,
        *,
        workers: int = 1,
        journal: Path | str | None = None,
        max_cost_usd: float | None = None,
    ) -> list[EvalResult]:
        """Run every task with every config and model, `runs_per_combo` times each, in the plan's order.

        Each finished run is written to `journal` at once (default: a new file in results_dir). Runs that the journal
        already holds are not repeated if their content is unchanged. `models` replaces the models of the configs. Once
        `max_cost_usd` is spent, no further run starts; runs in progress still finish. MatrixStopped if the matrix ended
        early; carries the results so far.
        """
        runs = plan(tasks, configs, models, runs_per_combo, self.executor)
        path = Path(journal) if journal else files.unused(self.results_dir, "matrix", ".journal.jsonl")
        return self.run_plan(runs, path, callback, workers=workers, max_cost_usd=max_cost_usd)

    def run_plan(
        self,
        runs: list[PlannedRun],
        journal: Path,
        callback: Callback | None = None,
        *,
        workers: int = 1,
        max_cost_usd: float | None = None,
    ) -> list[EvalResult]:
        """Make the runs of a plan, as `run_matrix` does."""
        earlier = read_journal(journal)
        for result in earlier:
            scratch.keep(result.kept_project)  # before the first new folder removes what killed processes left
        done, judge = find_finished(runs, earlier), self.grader.judge.model
        refuse_other_judge(journal, done.values(), judge)
        left = {run.task.id: run.task for run in runs if run.key not in done or done[run.key].is_ungraded}
        if max_cost_usd is not None and any(t.llm_assertions for t in left.values()) and price_of(judge) is None:
            raise InputError(f"the price of the judge {judge} is not known, so a cost limit cannot be enforced")
        if left:
            self._prepare(left.values())
        with Journal(journal, EvalResult) as open_journal:
            single = SingleRun(self.executor, self.grader, self.isolator)
            return Matrix(single, open_journal, workers, max_cost_usd).run(runs, callback)

    def save_results(
        self, results: list[EvalResult], filename: Path | str | None = None, save_debug: bool = False
    ) -> Path:
        """Write a results file and return its path; a relative `filename` is relative to results_dir.

        `save_debug` writes <name>.debug.json next to it.
        """
        path = self.results_dir / filename if filename else files.unused(self.results_dir, "results", ".json")
        files.save_results(results, path)
        if save_debug:
            write_whole(path.with_suffix(".debug.json"), files.debug_json(results))
        return path

    load_results = staticmethod(files.load_results)
    load_task = staticmethod(load.load_task)
    load_config = staticmethod(load.load_config)
    load_tasks_from_glob = staticmethod(load.load_tasks)
    load_configs_from_glob = staticmethod(load.load_configs)

    def _prepare(self, tasks: Collection[Task]) -> None:
        """Check the judge and the executor before anything costs money; InputError if one is not ready."""
        self.grader.refuse_without_judge(tasks)
        self.executor.prepare()
