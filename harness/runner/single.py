"""One run of a task: first the agent's attempt, which costs money, then the grading, which can be done again."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.config_importer import ConfigImporter
from harness.executor.base import Executor
from harness.graders.commands import GraderError
from harness.graders.composite_grader import CompositeGrader
from harness.isolator import EnvironmentIsolator, IsolatedEnv
from harness.models import Conditions, ErrorKind, EvalResult, ExecutionTrace, Outcome
from harness.runner.plan import PlannedRun
from harness.sandbox import trees
from harness.suite import fingerprint
from harness.suite.skills import digest
from locobench.shared.errors import InputError
from measure.results import files
from measure.secrets.redaction import Redactor, server_secrets


class StopMatrix(Exception):
    """No further run of a matrix can be made; those in progress still finish. The message says why."""


@dataclass(frozen=True)
class SingleRun:
    """Makes planned runs, one per call; several threads may call it at a time."""

    executor: Executor
    grader: CompositeGrader
    isolator: EnvironmentIsolator

    def attempt(self, run: PlannedRun) -> EvalResult:
        """Run the agent once. The result has its secrets redacted and is not graded yet.

        StopMatrix if files of the run were changed since it was planned, or no check can be run here.
        """
        _refuse_changed(run)
        started, task, config = datetime.now(UTC), run.task, run.config
        try:
            self.grader.prepare(run.task)
        except GraderError as error:  # other tasks can go on
            trace = _lost_trace(run, Outcome.SETUP_ERROR, ErrorKind.FIXTURE, str(error).splitlines()[0])
            return self._result(run, started, trace)
        except InputError as error:
            raise StopMatrix(str(error)) from None
        try:
            env = self.isolator.create_environment(
                task.fixture_path,
                config.claude_md,
                agents_md=config.agents_md,
                skills=config.skills,
                layout=self.executor.layout,
            )
        except (OSError, ValueError) as error:
            trace = _lost_trace(run, Outcome.SETUP_ERROR, ErrorKind.FIXTURE, str(error))
            return self._result(run, started, trace)
        kept = False
        try:
            result = self._result(run, started, self._work(run, env))
            pending = self.grader.pending(task)
            if result.outcome.measured and pending:
                result = result.model_copy(update={"grades": pending, "kept_project": env.path})
                kept = True
            return result
        finally:
            env.keep_project() if kept else env.cleanup()

    def _work(self, run: PlannedRun, env: IsolatedEnv) -> ExecutionTrace:
        """Let the agent work in an environment, and find out what it changed."""
        task, config = run.task, run.config
        variables = dict(env.variables)
        if config.user_configuration is not None:
            home = env.temp_root / "user"
            variables |= ConfigImporter().setup_ci_environment(config.user_configuration, home, disable_mcp=False)
        before = self.isolator.snapshot_files(env.path)
        trace: ExecutionTrace | None = None
        try:
            try:
                trace = self.executor.within(task.resources).run(
                    task.prompt, config, env.path, task.timeout_seconds, variables
                )
            except (InputError, OSError, MemoryError):
                raise
            except Exception as error:  # a user's executor may raise anything; that loses only this run
                traceback.print_exc()
                text = f"the executor raised {type(error).__name__}: {error}"
                return _lost_trace(run, Outcome.INFRA_ERROR, ErrorKind.EXECUTOR, text)
            trees.restore(env.path)
            changes = self.isolator.diff_files(before, env.path)
            left_out = getattr(changes, "left_out", 0)
            return trace.model_copy(update={"file_changes": changes, "file_changes_left_out": left_out})
        except (OSError, MemoryError) as error:
            text = f"what the agent left cannot be read: {error or type(error).__name__}"
            return _lost_trace(run, Outcome.INFRA_ERROR, ErrorKind.UNREADABLE, text, trace)

    def _result(self, run: PlannedRun, started: datetime, trace: ExecutionTrace) -> EvalResult:
        result = EvalResult(
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
            conditions=Conditions(agent=self.executor.agent),
        )
        return files.without_secrets(result, _redactor(run))

    def grade(self, run: PlannedRun, result: EvalResult) -> EvalResult:
        """Add the missing grades to a result, and keep the existing ones, without running the agent again.

        Checks run on the kept files of the run; `kept_project` is cleared once every check is graded. StopMatrix if
        files of the run were changed since it was planned.
        """
        _refuse_changed(run)
        project = result.kept_project
        there = project if result.can_be_checked else None
        grades, score, passed = self.grader.finish(run.task, result.trace, there, result.grades)
        judges = [grade.judge for grade in grades]
        gone = [old.judge for old in result.grades if old.judge and not any(old.judge is judge for judge in judges)]
        replaced = result.replaced_judge_cost_usd + sum(judge.cost_usd or 0.0 for judge in gone)
        errors = {grade.status for grade in grades} - {"graded"}
        unchecked = "grading_error" in errors or (errors and self.grader.is_custom)
        changes = {"grades": grades, "overall_score": score, "passed": passed, "replaced_judge_cost_usd": replaced}
        graded = result.model_copy(update={**changes, "kept_project": project if unchecked else None})
        return files.grades_without_secrets(graded, _redactor(run))


def _refuse_changed(run: PlannedRun) -> None:
    """Raise StopMatrix if the files of a task or its skills changed since the matrix was planned."""
    skills = digest(run.config.skills)
    if fingerprint.of_task(run.task) != run.fingerprints.task or skills != run.config.skills_digest:
        raise StopMatrix(
            f"files of task {run.task.id} or of config {run.config.name} were changed since the matrix was planned"
        )


def _redactor(run: PlannedRun) -> Redactor:
    return Redactor(os.environ, run.config.env, values=server_secrets(run.config.servers))


def _lost_trace(
    run: PlannedRun, outcome: Outcome, kind: ErrorKind, error: str, trace: ExecutionTrace | None = None
) -> ExecutionTrace:
    """Return the trace of a run that says nothing about its agent, with what is known of it."""
    known = trace or ExecutionTrace(config_snapshot=run.config.to_snapshot())
    error = error.encode(errors="backslashreplace").decode()  # names of files may be no text
    return known.model_copy(update={"is_error": True, "outcome": outcome, "error_kind": kind, "error": error})
