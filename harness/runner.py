"""Orchestrates evaluation runs across tasks, configs and models."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.claude.trace import snapshot_of
from harness.config_importer import ConfigImporter
from harness.errors import InputError, IsolationError
from harness.executor import ClaudeExecutor, Executor
from harness.graders.composite_grader import CompositeGrader, ungraded
from harness.host import scratch, trees
from harness.host.redaction import Redactor, server_secrets
from harness.isolator import EnvironmentIsolator
from harness.models import Config, ErrorKind, EvalResult, ExecutionTrace, Outcome, Task
from harness.results import files
from harness.results.journal import Journal, read_journal
from harness.run.earlier import refuse_other_judge, refuse_other_user_level
from harness.run.matrix import (
    Callback,
    Matrix,
    PlannedRun,
    RetryPolicy,
    StopMatrix,
    finished_before,
    plan,
)
from harness.run.repair import repair
from harness.suite import fingerprint, load
from locobench.scoring.judge.prices import price_of
from locobench.shared.files import whole_file, write_whole

DEFAULT_RESULTS_DIR = Path("evals/results")


class EvalRunner:
    """Runs tasks with configs and keeps what comes out."""

    def __init__(
        self,
        executor: Executor | None = None,
        grader: CompositeGrader | None = None,
        isolator: EnvironmentIsolator | None = None,
        results_dir: Path | str | None = None,
    ) -> None:
        """`results_dir`: where results go that are saved without a path; made when something is saved."""
        self.executor = executor or ClaudeExecutor()
        self.grader = grader or CompositeGrader()
        self.isolator = isolator or EnvironmentIsolator()
        self.results_dir = Path(results_dir or DEFAULT_RESULTS_DIR)
        # Copying and hashing hold the interpreter: in turns, each worker's agent starts as early as it can;
        # side by side, all of them would wait for the last. Two at a time, since one may wait for the disk.
        self._turn = threading.BoundedSemaphore(2)

    def run_single(self, task: Task, config: Config, run_index: int = 0) -> EvalResult:
        """Run a task once with a config and grade it. Failures are outcomes of the result, not exceptions.

        Raises:
            InputError: the config names skills, a variable or an MCP file that this host does not have.
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
        return graded

    def plan(
        self, tasks: Iterable[Task], configs: Iterable[Config], models: Iterable[str] | None, runs_per_combo: int
    ) -> list[PlannedRun]:
        """What `run_matrix` would run.

        Raises:
            InputError: two runs could not be told apart, or a config names what this host does not have.
        """
        return plan(tasks, configs, models, runs_per_combo, self.executor.resolve, self.executor.place)

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

        Each finished run is in `journal` (default: a new file in results_dir) at once; runs that it already
        holds, of the same content, are not run again. `models` replaces the models of the configs.
        `max_cost_usd` starts no further run once that much is spent; runs in progress still finish.
        MatrixStopped, with the results so far, when it ends early.
        """
        runs = self.plan(tasks, configs, models, runs_per_combo)
        path = Path(journal) if journal else unused(self.results_dir, "matrix", ".journal.jsonl")
        earlier = read_journal(path)
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
                workers=workers,
                retry=retry,
                max_cost_usd=max_cost_usd,
                cancel=self.executor.cancel,
                release=release,
            )
            return matrix.run(runs, callback)

    def refuse_other_experiment(self, journal: Path, earlier: Sequence[EvalResult], runs: Sequence[PlannedRun]) -> None:
        """Stop before runs of one experiment are put beside those of another.

        Raises:
            InputError: the journal was begun with another judge, --mcp-config or snapshot.
        """
        refuse_other_user_level(journal, earlier, runs)
        done = finished_before(runs, earlier)
        refuse_other_judge(journal, done.values(), self.grader.judge_model)

    def save_results(
        self,
        results: list[EvalResult],
        filename: Path | str | None = None,
        save_debug: bool = False,
        *,
        stop_reason: str = "",
    ) -> Path:
        """Write a results file and return its path; a relative `filename` is below results_dir.

        `save_debug` writes <name>.debug.json beside it. A `stop_reason` marks the file as incomplete.
        """
        path = self.results_dir / filename if filename else unused(self.results_dir, "results", ".json")
        redactor = Redactor(os.environ)
        clean = (files.without_secrets(result, redactor) for result in results)
        with whole_file(path, durable=True) as stream:
            for part in files.results_parts(clean, len(results), stop_reason=redactor(stop_reason)):
                stream.write(part.encode())
        if save_debug:
            debug = files.debug_json([files.without_secrets(result, redactor) for result in results])
            write_whole(path.with_suffix(".debug.json"), debug)
        return path

    @staticmethod
    def load_results(path: Path | str) -> list[EvalResult]:
        """Results of a results file; InputError when it is none."""
        return files.load_results(path)

    @staticmethod
    def load_task(path: Path | str) -> Task:
        """Task of a YAML file; InputError names file, line and key of every mistake."""
        return load.load_task(Path(path))

    @staticmethod
    def load_config(path: Path | str) -> Config:
        """Config of a YAML file; InputError names file, line and key of every mistake."""
        return load.load_config(Path(path))

    @staticmethod
    def load_tasks_from_glob(pattern: str) -> list[Task]:
        """Tasks of all matching files, sorted by path; the pattern may be absolute."""
        return load.load_tasks(pattern)

    @staticmethod
    def load_configs_from_glob(pattern: str) -> list[Config]:
        """Configs of all matching files, sorted by path; the pattern may be absolute."""
        return load.load_configs(pattern)

    def _prepare(self, tasks: Collection[Task]) -> None:
        """Make ready before anything is paid for; InputError when something cannot be."""
        self.grader.refuse_without_judge(tasks)
        self.executor.prepare()

    def _run(self, run: PlannedRun) -> EvalResult:
        """One try of one run, with what is secret taken out of its result; its grades are still to be given."""
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
            return _result(run, started, ExecutionTrace(config_snapshot=snapshot_of(config), **failure))
        result: EvalResult | None = None
        variables = dict(env.variables)
        try:
            if config.user_configuration is not None:
                home = env.temp_root / "user"
                variables |= ConfigImporter().setup_ci_environment(config.user_configuration, home, disable_mcp=False)
            with self._turn:
                before = self.isolator.snapshot_files(env.path)
            trace = ExecutionTrace(config_snapshot=snapshot_of(config))
            try:
                trace = self.executor.run(task.prompt, config, env.path, task.timeout_seconds, variables)
                with self._turn:
                    trees.restore(env.path)
                    trace = trace.model_copy(update={"file_changes": self.isolator.diff_files(before, env.path)})
            except (OSError, MemoryError) as error:
                text = f"what the agent left cannot be read: {error or type(error).__name__}"
                trace = trace.model_copy(update=_failure(Outcome.INFRA_ERROR, ErrorKind.UNREADABLE, text))
            result = _result(run, started, trace)
            if trace.outcome.measured and task.assertions:
                result = result.model_copy(update={"grades": ungraded(task), "kept_project": env.path})
            return result
        finally:
            if result is not None and result.kept_project:
                env.keep_project()
            else:
                env.cleanup()

    def _grade(self, run: PlannedRun, result: EvalResult) -> EvalResult:
        """A finished run with the grades that it lacks."""
        _refuse_changed(run)
        first = all(grade.status != "graded" and grade.judge is None for grade in result.grades)
        if first and result.can_be_checked:
            graded = self._graded(run.task, result)
        else:
            graded = repair(result, run.task, self.grader)
        servers = server_secrets(run.config.servers)
        return files.grades_without_secrets(graded, Redactor(os.environ, run.config.env, values=servers))

    def _graded(self, task: Task, result: EvalResult) -> EvalResult:
        """A run with its grades, whatever the agent's files do to us; they are kept where a check could not be made."""
        assert result.kept_project is not None
        try:
            grades, score, passed = self.grader.grade(task, result.trace, result.kept_project)
        except Exception as error:  # the run is paid for
            grades, score, passed = ungraded(task, error), 0.0, False
        kept = result.kept_project if any(grade.status == "grading_error" for grade in grades) else None
        update = {"grades": grades, "overall_score": score, "passed": passed, "kept_project": kept}
        return result.model_copy(update=update)


def release(result: EvalResult) -> None:
    """Remove the files that waited for the checks of a run."""
    if result.kept_project is not None:
        scratch.remove(scratch.root_of(result.kept_project))


def _refuse_changed(run: PlannedRun) -> None:
    """See that a run is still the experiment that was planned; StopMatrix when its files were changed since."""
    skills = fingerprint.of_folder(run.config.skills_path)
    if fingerprint.of_task(run.task) != run.fingerprints.task or skills != run.config.skills_digest:
        raise StopMatrix(
            f"files of task {run.task.id} or of config {run.config.name} were changed since the matrix was planned"
        )


def _result(run: PlannedRun, started: datetime, trace: ExecutionTrace) -> EvalResult:
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
    )


def _failure(outcome: Outcome, kind: ErrorKind, error: str) -> dict[str, Any]:
    """Fields of the trace of a run that failed before anything could be told of its agent."""
    return {"is_error": True, "outcome": outcome, "error_kind": kind, "error": error}


def unused(folder: Path, name: str, suffix: str) -> Path:
    """A new name for results: the time alone would be that of every command of the same second."""
    return folder / f"{name}_{datetime.now():%Y%m%d_%H%M%S}_{secrets.token_hex(4)}{suffix}"
