"""How runs are planned, tried again, stopped, journalled and resumed."""

from __future__ import annotations

import errno
import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.executor import Executor
from harness.graders.code_graders import CodeGrader
from harness.graders.composite_grader import CompositeGrader
from harness.isolator import EnvironmentIsolator
from harness.models import (
    Config,
    ErrorKind,
    EvalResult,
    ExecutionTrace,
    FileChange,
    GradeResult,
    JudgeRecord,
    Outcome,
    Task,
)
from harness.runner import EvalRunner, MatrixStopped, matrix
from harness.runner.matrix import sum_costs
from harness.runner.plan import plan
from harness.suite.skills import digest, find_skills
from locobench.shared.errors import InputError
from measure.results.journal import Journal, read_journal
from measure.summary.metrics import total_cost
from tests.support.results import run


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts that a test does not feel."""
    monkeypatch.setattr(matrix, "FIRST_WAIT_SECONDS", 0.001)


class ScriptedExecutor(Executor):
    """Answers each run with what a function of the number of the call says."""

    def __init__(self, answer: Callable[[int], ExecutionTrace]) -> None:
        self.answer = answer
        self.calls: list[tuple[str, str]] = []
        self.cancelled = threading.Event()
        self._lock = threading.Lock()

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        with self._lock:
            self.calls.append((prompt, f"{config.name}/{config.model}"))
            number = len(self.calls)
        return self.answer(number)

    def cancel(self) -> None:
        self.cancelled.set()


def failure(kind: ErrorKind, **more: object) -> ExecutionTrace:
    base = {"is_error": True, "outcome": Outcome.INFRA_ERROR, "error_kind": kind, "error": "why"}
    return ExecutionTrace.model_validate({**base, **more})


def task(name: str, **fields: object) -> Task:
    base = {"id": name, "category": "coding", "description": "d", "prompt": name}
    assertion = {"type": "code", "check": "file_exists", "file": "."}
    return Task.model_validate({**base, "assertions": [assertion], **fields})


def runner(tmp_path: Path, answer: Callable[[int], ExecutionTrace]) -> tuple[EvalRunner, ScriptedExecutor]:
    executor = ScriptedExecutor(answer)
    return EvalRunner(executor, results_dir=tmp_path / "results"), executor


def good(_number: int) -> ExecutionTrace:
    return ExecutionTrace(cost_usd=0.5)


TASKS = [task("a"), task("b")]
CONFIGS = [Config(name="x"), Config(name="y")]


def test_single_run_is_graded(tmp_path: Path) -> None:
    result = runner(tmp_path, good)[0].run_single(TASKS[0], CONFIGS[0], 4)
    assert (result.task_id, result.config_name, result.run_index) == ("a", "x", 4)
    assert (result.passed, result.overall_score, result.cost_usd) == (True, 1.0, 0.5)
    assert result.started_at is not None
    assert result.category == "coding"


def test_changes_of_the_agent_are_in_the_trace(tmp_path: Path) -> None:
    class Writer(ScriptedExecutor):
        def run(
            self, prompt: str, config: Config, working_dir: Path, *args: object, **kwargs: object
        ) -> ExecutionTrace:
            (working_dir / "new.py").write_text("x")
            return ExecutionTrace()

    result = EvalRunner(Writer(good)).run_single(TASKS[0], CONFIGS[0])
    assert [(c.path, c.action) for c in result.trace.file_changes] == [("new.py", "created")]


def test_a_missing_fixture_is_a_setup_error_and_costs_nothing(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    result = made.run_single(task("a", fixture_path=tmp_path / "nowhere"), CONFIGS[0])
    assert (result.outcome, result.trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.FIXTURE)
    assert executor.calls == []


def test_matrix_runs_every_combination(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    results = made.run_matrix(TASKS, CONFIGS, ["m1", "m2"], 3)
    keys = {(r.task_id, r.config_name, r.model, r.run_index) for r in results}
    assert len(results) == len(keys) == len(executor.calls) == 2 * 2 * 2 * 3


def test_configs_of_a_task_take_turns(tmp_path: Path) -> None:
    """A service that slows down in the middle must not slow down one config."""
    made, executor = runner(tmp_path, good)
    made.run_matrix(TASKS, CONFIGS, None, 2)
    configs = [name.split("/")[0] for _, name in executor.calls]
    assert configs == ["x", "y"] * 4


def test_configs_keep_their_models_when_none_are_named() -> None:
    configs = [Config(name="x", model="m1"), Config(name="y", model="m2")]
    assert [run.config.model for run in plan(TASKS[:1], configs, None, 1, ScriptedExecutor(good))] == ["m1", "m2"]


def test_runs_that_could_not_be_told_apart_are_refused() -> None:
    with pytest.raises(InputError, match="a / x"):
        plan([TASKS[0], TASKS[0]], CONFIGS, None, 1, ScriptedExecutor(good))


def test_workers_run_side_by_side(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    def answer(_number: int) -> ExecutionTrace:
        together.wait(timeout=30)
        return ExecutionTrace()

    assert len(runner(tmp_path, answer)[0].run_matrix(TASKS, CONFIGS, None, 2, workers=4)) == 8


def test_callback_hears_of_every_run(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    runner(tmp_path, good)[0].run_matrix(TASKS, CONFIGS, None, 1, lambda _r, done, total: heard.append((done, total)))
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]


class Full(CompositeGrader):
    """A grader that meets a full disk for its first `failures` assertions."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def grade_single_assertion(self, *args: Any) -> GradeResult:
        self.failures -= 1
        if self.failures >= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().grade_single_assertion(*args)


def test_a_run_that_cannot_be_graded_keeps_its_outcome_and_is_outside_the_rates(tmp_path: Path) -> None:
    """One exception used to lose every paid run of the matrix; later, the run alone."""
    made, _ = runner(tmp_path, good)
    made.grader = Full(1)
    first, second = made.run_matrix(TASKS, CONFIGS[:1], None, 1)
    assert (first.outcome, first.cost_usd, first.lost_to) == (Outcome.COMPLETED, 0.5, "grading_error")
    assert second.passed


def test_resuming_grades_what_could_not_be_graded_and_pays_no_agent_again(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Full(1)
    journal = tmp_path / "j.jsonl"
    (lost,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    assert lost.kept_project is not None
    (graded,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    assert (graded.passed, graded.measured, len(executor.calls)) == (True, True, 1)
    assert graded.kept_project is None
    assert not lost.kept_project.exists()
    assert sum_costs(read_journal(journal)) == 0.5


def test_a_run_that_is_graded_after_the_end_of_its_matrix_keeps_its_files_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its grades came too late for the journal; without the files the agent would be paid again."""
    monkeypatch.setattr(matrix, "ENDS_WITHIN", 0.2)
    go_on, graders = threading.Event(), []

    class Slow(CompositeGrader):
        def grade_single_assertion(self, assertion: Any, task: Task, *more: Any) -> GradeResult:
            if task.id == "b" and threading.current_thread() is not threading.main_thread() and not go_on.is_set():
                graders.append(threading.current_thread())
                go_on.wait(timeout=30)
            return super().grade_single_assertion(assertion, task, *more)

    def ends(*_: object) -> None:
        while not graders:
            time.sleep(0.01)
        raise RuntimeError("the caller ends")

    made, executor = runner(tmp_path, good)
    made.grader = Slow()
    journal = tmp_path / "j.jsonl"
    with pytest.raises(RuntimeError, match="the caller ends"):
        made.run_matrix(TASKS, CONFIGS[:1], None, 1, ends, workers=2, journal=journal)
    go_on.set()
    graders[0].join(timeout=30)
    (late,) = (row for row in read_journal(journal) if row.task_id == "b")
    assert late.is_ungraded
    assert late.kept_project is not None
    assert late.kept_project.exists()
    results = made.run_matrix(TASKS, CONFIGS[:1], None, 1, journal=journal)
    assert (len(executor.calls), [result.passed for result in results]) == (2, [True, True])


def test_a_run_whose_files_are_gone_before_it_was_graded_is_made_again(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Full(1)
    journal = tmp_path / "j.jsonl"
    (lost,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    assert lost.kept_project is not None
    shutil.rmtree(lost.kept_project)
    (graded,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    assert (graded.passed, len(executor.calls), graded.spent_usd) == (True, 2, 1.0)


def test_nothing_is_paid_for_that_the_journal_has_no_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise InputError("j.jsonl: cannot be written: no room")

    made, executor = runner(tmp_path, good)
    monkeypatch.setattr(Journal, "reserve", full)
    with pytest.raises(MatrixStopped, match="no room"):
        made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1)
    assert executor.calls == []


@pytest.mark.parametrize("victim", ["home", "eval_home/project", "a/../eval_home/project"])
def test_a_folder_that_a_journal_names_is_not_removed_or_graded_unless_a_run_made_it(
    tmp_path: Path, victim: str
) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Full(1)
    journal = tmp_path / "j.jsonl"
    (lost,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    (tmp_path / "a").mkdir()
    folder = tmp_path / victim
    folder.mkdir(parents=True)
    (folder / "mine").touch()
    journal.write_text(journal.read_text().replace(str(lost.kept_project), str(folder)))
    made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=journal)
    assert (folder / "mine").exists()
    assert len(executor.calls) == 2


class Judged(CompositeGrader):
    """A grader whose judge costs a dollar a time, and may be refused."""

    def __init__(self, model: str = "m", *, refused: bool = False) -> None:
        super().__init__(model, "a-key")
        self.refused = refused

    def grade_single_assertion(self, *args: Any) -> GradeResult:
        judge = JudgeRecord(model="m", cost_usd=1.0, refused=ErrorKind.AUTH if self.refused else ErrorKind.NONE)
        status: Any = "judge_error" if self.refused else "graded"
        return GradeResult(
            assertion_type="llm", passed=not self.refused, score=1.0, status=status, judge=judge, details="HTTP 401"
        )


def test_the_budget_counts_judges_when_running_and_when_resuming(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Judged("m")
    journal = tmp_path / "j.jsonl"
    for _ in range(2):
        with pytest.raises(MatrixStopped, match=r"\$3\.00 spent") as stopped:
            made.run_matrix(TASKS, CONFIGS, None, 3, journal=journal, max_cost_usd=3.0)
    assert len(executor.calls) == 2
    assert sum(total_cost(r) or 0 for r in stopped.value.results) == 3.0


JUDGED = [task(name, assertions=[{"type": "llm", "rubric": "good"}]) for name in "ab"]


def test_a_refused_judge_stops_the_matrix_as_a_refused_agent_does(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Judged(refused=True)
    journal = tmp_path / "j.jsonl"
    with pytest.raises(MatrixStopped, match="auth of the judge: HTTP 401"):
        made.run_matrix(JUDGED, CONFIGS, None, 1, journal=journal)
    assert len(executor.calls) == 1
    made.grader = Judged()
    results = made.run_matrix(JUDGED, CONFIGS, None, 1, journal=journal)
    assert (len(executor.calls), all(r.passed for r in results)) == (4, True)
    assert sum(total_cost(r) or 0 for r in results) == sum_costs(read_journal(journal)) == 4 * 1.5 + 1.0


def test_what_this_installation_cannot_grade_is_refused_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_bash = task("a", assertions=[{"type": "code", "check": "tests_pass"}])
    made, executor = runner(tmp_path, good)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MatrixStopped, match="task a: its commands need bash"):
        made.run_matrix([needs_bash], CONFIGS, None, 1)
    assert not executor.calls


def test_a_fault_of_the_harness_ends_the_matrix_and_keeps_the_journal(tmp_path: Path) -> None:
    class Broken(EnvironmentIsolator):
        def diff_files(
            self, before: dict[str, str], env_path: Path | str, patterns: list[str] | None = None
        ) -> list[FileChange]:
            if len(executor.calls) == 3:
                raise KeyError("boom")
            return super().diff_files(before, env_path, patterns)

    made, executor = runner(tmp_path, good)
    made.isolator = Broken()
    journal = tmp_path / "j.jsonl"
    with pytest.raises(KeyError, match="boom"):
        made.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    assert len(read_journal(journal)) == 2


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.API_ERROR, ErrorKind.SILENT])
def test_infrastructure_failures_are_tried_again(tmp_path: Path, kind: ErrorKind) -> None:
    made, _ = runner(tmp_path, lambda n: failure(kind, cost_usd=0.25) if n < 3 else good(n))
    (result,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1)
    assert (result.outcome, result.attempts, result.retry_cost_usd) == (Outcome.COMPLETED, 3, 0.5)


def test_retries_come_to_an_end(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, lambda _n: failure(ErrorKind.OVERLOADED))
    (result,) = made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1)
    assert (result.outcome, result.attempts, len(executor.calls)) == (Outcome.INFRA_ERROR, 3, 3)
    assert not result.passed


@pytest.mark.parametrize("outcome", [Outcome.AGENT_ERROR, Outcome.TIMEOUT, Outcome.SETUP_ERROR])
def test_what_is_no_infrastructure_failure_is_not_tried_again(tmp_path: Path, outcome: Outcome) -> None:
    """Giving a failed agent another try would be another experiment."""
    made, executor = runner(tmp_path, lambda _n: ExecutionTrace(outcome=outcome, is_error=True))
    made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1)
    assert len(executor.calls) == 1


def test_a_refused_request_is_not_sent_again(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, lambda _n: failure(ErrorKind.API_ERROR, error_status=400))
    made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1)
    assert len(executor.calls) == 1


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.CREDIT, ErrorKind.MODEL_NOT_FOUND, ErrorKind.CLI_REFUSED])
def test_an_error_that_every_run_would_meet_stops_the_matrix(tmp_path: Path, kind: ErrorKind) -> None:
    made, executor = runner(tmp_path, lambda n: good(n) if n == 1 else failure(kind))
    with pytest.raises(MatrixStopped, match=f"{kind}: why") as stopped:
        made.run_matrix(TASKS, CONFIGS, None, 3)
    assert len(executor.calls) == 2
    assert len(stopped.value.results) == 2


def test_a_usage_limit_that_resets_late_stops_the_matrix(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, lambda _n: failure(ErrorKind.RATE_LIMIT, retry_after_seconds=7200.0))
    with pytest.raises(MatrixStopped, match="usage limit resets at"):
        made.run_matrix(TASKS, CONFIGS, None, 1)
    assert len(executor.calls) == 1


def test_the_budget_of_the_matrix_stops_it(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)
    with pytest.raises(MatrixStopped, match=r"budget of \$1 is used up"):
        made.run_matrix(TASKS, CONFIGS, None, 3, max_cost_usd=1.0)
    assert len(executor.calls) == 2


def test_a_budget_needs_runs_whose_cost_is_known(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, lambda _n: ExecutionTrace(cost_usd=None))
    with pytest.raises(MatrixStopped, match="the cost of a run is not known") as stopped:
        made.run_matrix(TASKS, CONFIGS, None, 3, max_cost_usd=1.0)
    assert (len(executor.calls), len(stopped.value.results)) == (1, 1)


@pytest.mark.parametrize(
    ("error", "calls"),
    [(ValueError("odd"), 2), (re.error("odd"), 2), (OSError(errno.ENOSPC, "No space left on device"), 0)],
)
def test_what_prevents_one_task_does_not_end_the_runs_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, calls: int
) -> None:
    made, executor = runner(tmp_path, good)

    grader_of = made.grader._code_grader

    def find(one: Task) -> CodeGrader:
        if one.id == "a":
            raise error
        return grader_of(one)

    monkeypatch.setattr(made.grader, "_code_grader", find)
    if calls:
        results = made.run_matrix(TASKS, CONFIGS, None, 1)
        assert [r.outcome for r in results if r.task_id == "a"] == [Outcome.SETUP_ERROR] * 2
    else:
        with pytest.raises(MatrixStopped, match="No space left on device"):
            made.run_matrix(TASKS, CONFIGS, None, 1)
    assert len(executor.calls) == calls


@pytest.mark.parametrize("place", ["linked", "own/node_modules"])
def test_every_file_of_a_skill_that_is_copied_counts(tmp_path: Path, place: str) -> None:
    for folder in ("skills/own/node_modules", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").write_text("one")
    (tmp_path / "skills/own/SKILL.md").write_text("one")
    (tmp_path / "skills/linked").symlink_to(tmp_path / "elsewhere")
    before = digest(find_skills(tmp_path / "skills"))
    (tmp_path / "skills" / place / "SKILL.md").write_text("two")
    assert digest(find_skills(tmp_path / "skills")) != before


def test_interrupting_saves_what_is_done(tmp_path: Path) -> None:
    made, executor = runner(tmp_path, good)

    def interrupt(_result: EvalResult, done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    journal = tmp_path / "j.jsonl"
    with pytest.raises(MatrixStopped) as stopped:
        made.run_matrix(TASKS, CONFIGS, None, 50, interrupt, journal=journal)
    assert stopped.value.interrupted
    assert executor.cancelled.is_set()
    assert len(stopped.value.results) == len(read_journal(journal)) >= 2


def test_resuming_runs_only_what_is_missing(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    first, _ = runner(tmp_path, good)
    first.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    second, executor = runner(tmp_path, good)
    results = second.run_matrix(TASKS, CONFIGS, None, 2, journal=journal)
    assert len(executor.calls) == 4
    assert len(results) == 8


def test_resuming_runs_infrastructure_failures_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "ATTEMPTS", 1)
    journal = tmp_path / "j.jsonl"
    first, _ = runner(tmp_path, lambda n: failure(ErrorKind.NO_RESULT) if n == 1 else good(n))
    first.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    second, executor = runner(tmp_path, good)
    results = second.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    assert len(executor.calls) == 1
    assert all(result.measured for result in results)


def test_resuming_runs_changed_tasks_again(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    first, _ = runner(tmp_path, good)
    first.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    second, executor = runner(tmp_path, good)
    second.run_matrix([TASKS[0], task("b", prompt="another")], CONFIGS, None, 1, journal=journal)
    assert [prompt for prompt, _ in executor.calls] == ["another", "another"]


@pytest.mark.parametrize("changed", ["fixture", "hidden", "skill"])
def test_fingerprints_follow_the_content_of_files(tmp_path: Path, changed: str) -> None:
    for name in ("fixture", "hidden", "skill"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text("one")

    def fingerprints() -> object:
        made = task("a", fixture_path=tmp_path / "fixture", hidden_path=tmp_path / "hidden")
        config = Config(name="x", skills_path=tmp_path / "skill")
        return plan([made], [config], None, 1, ScriptedExecutor(good))[0].fingerprints

    before = fingerprints()
    assert fingerprints() == before
    (tmp_path / changed / "SKILL.md").write_text("two")
    assert fingerprints() != before


def test_fingerprints_do_not_follow_descriptions() -> None:
    def fingerprints(text: str) -> object:
        made, config = task("a", description=text), Config(name="x", description=text)
        return plan([made], [config], None, 1, ScriptedExecutor(good))[0].fingerprints

    assert fingerprints("one") == fingerprints("two")


def test_a_torn_last_line_of_the_journal_is_dropped(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    first, _ = runner(tmp_path, good)
    first.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    whole = journal.read_bytes()
    journal.write_bytes(whole[: len(whole) - 100])
    second, executor = runner(tmp_path, good)
    second.run_matrix(TASKS, CONFIGS, None, 1, journal=journal)
    assert len(executor.calls) == 1
    assert len(read_journal(journal)) == 4


def test_a_journal_that_is_none_is_bad_input(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    journal.write_text('{"a": 1}\n')
    with pytest.raises(InputError, match=r"j\.jsonl:1: not a result"):
        read_journal(journal)


@pytest.mark.parametrize(("field", "number"), [("cost_usd", "NaN"), ("input_tokens", "1" + "0" * 400)])
def test_a_result_with_a_number_that_is_none_is_bad_input(tmp_path: Path, field: str, number: str) -> None:
    journal = tmp_path / "j.jsonl"
    line = re.sub(rf'"{field}":[\d.]+', f'"{field}":{number}', run("t", cost=0.5).model_dump_json())
    assert number in line
    journal.write_text(line + "\n")
    with pytest.raises(InputError, match=r"j\.jsonl:1: not a result"):
        read_journal(journal)


def test_two_matrices_cannot_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with (
        Journal(path, EvalResult),
        pytest.raises(InputError, match="another command"),
        Journal(path, EvalResult),
    ):
        pass


def test_secrets_of_a_config_do_not_get_into_journal_and_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_VALUE", "very-secret-value")
    made, _ = runner(tmp_path, lambda _n: ExecutionTrace(stderr="token: very-secret-value"))
    config = Config(name="x", env={"SEARCH_TOKEN": "${HOST_VALUE}"})
    journal = tmp_path / "j.jsonl"
    results = made.run_matrix(TASKS[:1], [config], None, 1, journal=journal)
    assert "very-secret-value" not in journal.read_text()
    assert results[0].trace.stderr == "token: [REDACTED]"


class Graded(CompositeGrader):
    """A grader with rules of its own."""

    def __init__(self, *returned: object) -> None:
        super().__init__()
        self.returned = list(returned)

    def grade(self, task: Task, trace: ExecutionTrace, env_path: Path) -> Any:
        assert env_path.is_dir()
        value = self.returned.pop(0)
        if isinstance(value, Exception):
            raise value
        return value


@pytest.mark.parametrize("assertions", [TASKS[0].assertions, []], ids=["with assertions", "without"])
def test_what_a_grader_of_ones_own_returns_is_recorded(tmp_path: Path, assertions: list[object]) -> None:
    mine = task("a", assertions=assertions)
    grades = [GradeResult(assertion_id="mine", passed=True, score=0.5)]
    made = EvalRunner(ScriptedExecutor(good), Graded((grades, 0.123, True), ([], 0.25, False)))
    single = made.run_single(mine, CONFIGS[0])
    (of_matrix,) = made.run_matrix([mine], CONFIGS[:1], None, 1, journal=tmp_path / "j.jsonl")
    assert (single.grades, single.overall_score, single.passed, single.measured) == (grades, 0.123, True, True)
    assert (of_matrix.grades, of_matrix.overall_score, of_matrix.passed, of_matrix.measured) == ([], 0.25, False, True)
    assert read_journal(tmp_path / "j.jsonl") == [of_matrix]


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (RuntimeError("no compiler"), "no compiler"),
        (([], 1.5, True), "should be less than or equal to 1"),
        (([], float("nan"), True), "should be a finite number"),
        (([{"passed": True}], 1.0, True), "should be an instance of GradeResult"),
        (None, "should be a valid tuple"),
    ],
)
def test_a_grader_of_ones_own_that_fails_loses_no_run(tmp_path: Path, returned: object, says: str) -> None:
    made, executor = runner(tmp_path, good)
    made.grader = Graded(returned, ([], 0.25, True))
    calls = [made.run_matrix(TASKS[:1], CONFIGS[:1], None, 1, journal=tmp_path / "j.jsonl") for _ in range(2)]
    assert calls[0][0].lost_to == "grading_error"
    assert says in calls[0][0].grades[0].details
    assert (calls[1][0].overall_score, calls[1][0].kept_project, len(executor.calls)) == (0.25, None, 1)


def test_no_results_folder_appears_before_something_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command used to make one where it was called."""
    monkeypatch.chdir(tmp_path)
    EvalRunner()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_bundled_suite_has_solutions_that_pass_and_fixtures_that_fail() -> None:
    from harness.runner.oracle import nop, oracle
    from tests.support.suite import REPOSITORY

    tasks = EvalRunner.load_tasks_from_glob(str(REPOSITORY / "evals/tasks/**/*.task.yaml"))
    assert len(tasks) == 8
    assert {str(t.category) for t in tasks} == {"coding", "refactoring", "exploration"}
    grader = CompositeGrader()
    wrong = [check for t in tasks for check in (oracle(t, grader), nop(t, grader)) if not check.as_expected]
    assert wrong == []
