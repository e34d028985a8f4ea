"""Orchestrates evaluation runs across tasks, configs and models."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.claude.trace import snapshot_of
from harness.config_importer import ConfigImporter
from harness.errors import IsolationError
from harness.executor import ClaudeExecutor, Executor
from harness.graders.composite_grader import CompositeGrader, not_graded, refuse_ungradable
from harness.host import trees
from harness.host.redaction import Redactor, server_secrets
from harness.isolator import EnvironmentIsolator, IsolatedEnv
from harness.models import Config, ErrorKind, EvalResult, ExecutionTrace, Outcome, Task, assertion_ids
from harness.results import files
from harness.results.journal import Journal
from harness.run.matrix import Callback, Matrix, PlannedRun, RetryPolicy, plan, refuse_other_user_level
from harness.run.repair import repair
from harness.suite import load
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
        return self._run(replace(run, run_index=run_index))

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
        self._prepare({run.task.id: run.task for run in runs}.values())
        path = Path(journal or self.results_dir / f"matrix_{_stamp()}.journal.jsonl")
        with Journal(path, EvalResult) as open_journal:
            refuse_other_user_level(path, open_journal.entries, runs)
            matrix = Matrix(
                self._run,
                open_journal,
                workers=workers,
                retry=retry,
                max_cost_usd=max_cost_usd,
                cancel=self.executor.cancel,
                regrade=self._regrade,
            )
            return matrix.run(runs, callback)

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
        path = self.results_dir / (filename or f"results_{_stamp()}.json")
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
        refuse_ungradable(tasks)
        self.executor.hide(path for task in tasks for path in (task.hidden_path, task.solution_path) if path)
        self.executor.prepare()

    def _run(self, run: PlannedRun) -> EvalResult:
        """One try of one run, with what is secret taken out of its result."""
        servers = server_secrets(run.config.servers)
        return files.without_secrets(self._try(run), Redactor(os.environ, run.config.env, values=servers))

    def _try(self, run: PlannedRun) -> EvalResult:
        started = datetime.now(UTC)
        task, config = run.task, run.config
        try:
            with self._turn:
                env = self.isolator.create_environment_for_task(
                    task.fixture_path, config.claude_md, agents_md=config.agents_md, skills=config.skills
                )
        except (IsolationError, OSError) as error:
            return _result(run, started, _not_set_up(config, str(error)))
        result: EvalResult | None = None
        variables = dict(env.variables)
        try:
            if config.user_configuration is not None:
                home = env.temp_root / "user"
                variables |= ConfigImporter().setup_ci_environment(config.user_configuration, home, disable_mcp=False)
            with self._turn:
                before = self.isolator.snapshot_files(env.path)
            trace = self.executor.run(task.prompt, config, env.path, task.timeout_seconds, variables)
            result = self._graded(run, _result(run, started, trace), before, env)
            return result
        finally:
            if result is not None and result.kept_project:
                env.keep_project()
            else:
                env.cleanup()

    def _graded(self, run: PlannedRun, result: EvalResult, before: dict[str, str], env: IsolatedEnv) -> EvalResult:
        """The result with changes and grades; the project is kept where a check of it could not be carried out."""
        trace, task = result.trace, run.task
        try:
            with self._turn:
                trees.make_readable(env.path)
                trace = trace.model_copy(update={"file_changes": self.isolator.diff_files(before, env.path)})
            grades, score, passed = self.grader.grade(task, trace, env.path)
        except Exception as error:  # the run is paid for, whatever its files do to us
            names = zip(assertion_ids(task.assertions), task.assertions, strict=True)
            grades = [not_graded(a, error).model_copy(update={"assertion_id": name}) for name, a in names]
            score, passed = 0.0, False
        kept = env.path if any(grade.status == "grading_error" for grade in grades) else None
        update = {"trace": trace, "grades": grades, "overall_score": score, "passed": passed, "kept_project": kept}
        return result.model_copy(update=update)

    def _regrade(self, run: PlannedRun, result: EvalResult) -> EvalResult:
        """A finished run with the grades that it lacks."""
        again = repair(result, run.task, self.grader)
        return files.without_secrets(again, Redactor(os.environ, run.config.env))


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


def _not_set_up(config: Config, error: str) -> ExecutionTrace:
    return ExecutionTrace(
        is_error=True,
        outcome=Outcome.SETUP_ERROR,
        error_kind=ErrorKind.FIXTURE,
        error=error,
        config_snapshot=snapshot_of(config),
    )


def _stamp() -> str:
    return datetime.now().strftime("%Y%m%d_%H%M%S")
