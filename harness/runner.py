"""Orchestrates evaluation runs across tasks, configs and models."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.config_importer import ConfigImporter
from harness.errors import InputError, IsolationError, StopMatrix
from harness.executor import ClaudeExecutor, Executor
from harness.graders.composite_grader import CompositeGrader, ungraded
from harness.host import scratch, trees
from harness.host.redaction import Redactor, server_secrets
from harness.isolator import EnvironmentIsolator
from harness.models import Conditions, Config, ConfigSnapshot, ErrorKind, EvalResult, ExecutionTrace, Outcome, Task
from harness.results import files
from harness.results.journal import Journal, read_journal
from harness.run.matrix import Callback, Matrix, RetryPolicy
from harness.run.plan import PlannedRun, finished_before, plan, refuse_other_experiment
from harness.run.repair import repair
from harness.suite import fingerprint, load
from locobench.scoring.judge.prices import price_of
from locobench.shared.files import write_whole


class EvalRunner:
    """Runs tasks with configs, and saves and loads the results."""

    def __init__(
        self,
        executor: Executor | None = None,
        grader: CompositeGrader | None = None,
        isolator: EnvironmentIsolator | None = None,
        results_dir: Path | str | None = None,
    ) -> None:
        """`results_dir`: where results are saved if no path is given; created when something is saved."""
        self.executor = executor or ClaudeExecutor()
        self.grader = grader or CompositeGrader()
        self.isolator = isolator or EnvironmentIsolator()
        self.results_dir = Path(results_dir or files.DEFAULT_RESULTS_DIR)
        # Copying and hashing hold the interpreter. In turns, each worker's agent starts as early as possible; side by
        # side, all would wait for the last. Two at a time, since one may be waiting for the disk.
        self._turn = threading.BoundedSemaphore(2)

    def run_single(self, task: Task, config: Config, run_index: int = 0) -> EvalResult:
        """Run a task once with a config and grade it. Failures are outcomes of the result, not exceptions.

        InputError if the config names skills, a variable or an MCP file that this host does not have.
        """
        (run,) = self.plan([task], [config], None, 1)
        self._prepare([task])
        self.grader.prepare(task)
        result = self._run(replace(run, run_index=run_index))
        if not result.is_ungraded:
            return result
        graded = self._grade(run, result)
        if graded.kept_project is None:
            release(result)
        else:
            keep(graded)
        return graded

    def plan(
        self, tasks: Iterable[Task], configs: Iterable[Config], models: Iterable[str] | None, runs_per_combo: int
    ) -> list[PlannedRun]:
        """Return the runs that `run_matrix` would make.

        InputError if two runs have the same task, config and model, or a config names what this host does not have.
        """
        return plan(tasks, configs, models, runs_per_combo, self.executor.resolve, self.executor.identity)

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
        retry: RetryPolicy | None = None,
        max_cost_usd: float | None = None,
    ) -> list[EvalResult]:
        """Run every task with every config and model, `runs_per_combo` times each, in the plan's order.

        Each finished run is written to `journal` at once (default: a new file in results_dir). Runs that the journal
        already holds are not repeated if their content is unchanged. `models` replaces the models of the configs. Once
        `max_cost_usd` is spent, no further run starts; runs in progress still finish. MatrixStopped if the matrix ended
        early; carries the results so far.
        """
        runs = self.plan(tasks, configs, models, runs_per_combo)
        path = Path(journal) if journal else files.unused(self.results_dir, "matrix", ".journal.jsonl")
        earlier = read_journal(path)
        for result in earlier:
            keep(result)  # before the first new folder removes what killed processes left
        self.refuse_other_experiment(path, earlier, runs)
        done = finished_before(runs, earlier)
        left = {run.task.id: run.task for run in runs if run.key not in done or done[run.key].is_ungraded}
        if max_cost_usd is not None and any(task.llm_assertions for task in left.values()):
            judge = self.grader.judge_model
            if price_of(judge) is None:
                raise InputError(f"the price of the judge {judge} is not known, so that --max-cost-usd cannot be kept")
        if left:
            self._prepare(left.values())
        with Journal(path, EvalResult) as open_journal:
            matrix = Matrix(
                self._run,
                self._grade,
                open_journal,
                self.executor.cancel,
                keep,
                release,
                workers,
                retry or RetryPolicy(),
                max_cost_usd,
            )
            return matrix.run(runs, callback)

    def refuse_other_experiment(self, journal: Path, earlier: Sequence[EvalResult], runs: Sequence[PlannedRun]) -> None:
        """Refuse to mix the runs of two experiments in one journal.

        InputError if the journal was started with another judge, --mcp-config or snapshot.
        """
        refuse_other_experiment(journal, earlier, runs, self.grader.judge_model)

    def save_results(
        self,
        results: list[EvalResult],
        filename: Path | str | None = None,
        save_debug: bool = False,
        *,
        stop_reason: str = "",
    ) -> Path:
        """Write a results file and return its path; a relative `filename` is relative to results_dir.

        `save_debug` writes <name>.debug.json next to it. A `stop_reason` marks the file as incomplete.
        """
        path = self.results_dir / filename if filename else files.unused(self.results_dir, "results", ".json")
        files.save_results(results, path, stop_reason=stop_reason)
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

    def _run(self, run: PlannedRun) -> EvalResult:
        """Try a run once. The result has its secrets redacted and is not graded yet."""
        servers = server_secrets(run.config.servers)
        return files.without_secrets(self._try(run), Redactor(os.environ, run.config.env, values=servers))

    def _try(self, run: PlannedRun) -> EvalResult:
        _refuse_changed(run)
        try:
            self.grader.prepare(run.task)
        except InputError as error:
            raise StopMatrix(str(error)) from None
        started = datetime.now(UTC)
        task, config = run.task, run.config
        try:
            with self._turn:
                env = self.isolator.create_environment_for_task(
                    task.fixture_path, config.claude_md, agents_md=config.agents_md, skills=config.skills
                )
        except (IsolationError, OSError) as error:
            failure = _failure(Outcome.SETUP_ERROR, ErrorKind.FIXTURE, str(error))
            trace = ExecutionTrace(config_snapshot=ConfigSnapshot.of(config), **failure)
            return _result(run, started, trace, self.executor.agent)
        result: EvalResult | None = None
        variables = dict(env.variables)
        try:
            if config.user_configuration is not None:
                home = env.temp_root / "user"
                variables |= ConfigImporter().setup_ci_environment(config.user_configuration, home, disable_mcp=False)
            with self._turn:
                before = self.isolator.snapshot_files(env.path)
            trace = ExecutionTrace(config_snapshot=ConfigSnapshot.of(config))
            try:
                trace = self._executed(run, env.path, variables)
                with self._turn:
                    trees.restore(env.path)
                    trace = trace.model_copy(update={"file_changes": self.isolator.diff_files(before, env.path)})
            except (OSError, MemoryError) as error:
                text = f"what the agent left cannot be read: {error or type(error).__name__}"
                trace = trace.model_copy(update=_failure(Outcome.INFRA_ERROR, ErrorKind.UNREADABLE, text))
            result = _result(run, started, trace, self.executor.agent)
            if trace.outcome.measured and task.assertions:
                result = result.model_copy(update={"grades": ungraded(task), "kept_project": env.path})
            return result
        finally:
            if result is not None and result.kept_project:
                env.keep_project()
            else:
                env.cleanup()

    def _executed(self, run: PlannedRun, folder: Path, variables: dict[str, str]) -> ExecutionTrace:
        """Run the agent. A user's executor may raise anything; that loses only this run."""
        task, config = run.task, run.config
        try:
            return self.executor.run(task.prompt, config, folder, task.timeout_seconds, variables)
        except (InputError, OSError, MemoryError):
            raise
        except Exception as error:
            traceback.print_exc()
            text = f"the executor raised {type(error).__name__}: {error}"
            failed = _failure(Outcome.INFRA_ERROR, ErrorKind.EXECUTOR, text)
            return ExecutionTrace(config_snapshot=ConfigSnapshot.of(config), **failed)

    def _grade(self, run: PlannedRun, result: EvalResult) -> EvalResult:
        """Add the missing grades to a finished run."""
        _refuse_changed(run)
        graded = repair(result, run.task, self.grader)
        servers = server_secrets(run.config.servers)
        return files.grades_without_secrets(graded, Redactor(os.environ, run.config.env, values=servers))


def keep(result: EvalResult) -> None:
    """Leave the files that the checks of a run need, if there are any, to later commands."""
    if result.kept_project is not None:
        scratch.keep(scratch.root_of(result.kept_project))


def release(result: EvalResult) -> None:
    """Remove the files that were kept for the checks of a run."""
    if result.kept_project is not None:
        scratch.remove(scratch.root_of(result.kept_project))


def _refuse_changed(run: PlannedRun) -> None:
    """Raise StopMatrix if the files of a task or its skills changed since the matrix was planned."""
    skills = fingerprint.of_folder(run.config.skills_path)
    if fingerprint.of_task(run.task) != run.fingerprints.task or skills != run.config.skills_digest:
        raise StopMatrix(
            f"files of task {run.task.id} or of config {run.config.name} were changed since the matrix was planned"
        )


def _result(run: PlannedRun, started: datetime, trace: ExecutionTrace, agent: str) -> EvalResult:
    return EvalResult(
        task_id=run.task.id,
        config_name=run.config.name,
        model=run.config.model,
        run_index=run.run_index,
        timestamp=datetime.now(UTC),
        started_at=started,
        trace=trace,
        fingerprints=run.fingerprints,
        category=run.task.category,
        difficulty=run.task.difficulty,
        language=run.task.language,
        conditions=Conditions(agent=agent),
    )


def _failure(outcome: Outcome, kind: ErrorKind, error: str) -> dict[str, Any]:
    """Return the trace fields of a failed run that says nothing about its agent."""
    return {"is_error": True, "outcome": outcome, "error_kind": kind, "error": error}
