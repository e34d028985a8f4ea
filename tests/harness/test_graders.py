"""What the code checks decide, and how a run's grades become a verdict."""

from __future__ import annotations

import errno
import sys
import time
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from harness.graders import code_graders
from harness.graders.code_graders import CodeGrader
from harness.graders.composite_grader import CompositeGrader
from harness.models import CodeAssertion, ExecutionTrace, GradeResult, LLMAssertion, Outcome, Task
from harness.sandbox import directory, trees
from harness.sandbox.place import Sandbox
from harness.sandbox.processes import KEPT_BYTES
from locobench.shared.errors import InputError

COMPLETED = ExecutionTrace()


def task(*assertions: dict[str, object], **fields: object) -> Task:
    base = {
        "id": "t",
        "category": "coding",
        "description": "d",
        "prompt": "p",
        "assertions": list(assertions),
    }
    return Task.model_validate({**base, **fields})


def command(text: str) -> dict[str, object]:
    return {"type": "code", "check": "command_succeeds", "command": text}


class FixedJudge:
    """Stands for the LLM grader: always the same grade."""

    def __init__(self, grade: GradeResult) -> None:
        self.result = grade

    def grade(self, assertion: LLMAssertion, task: Task, trace: ExecutionTrace, env_path: Path) -> GradeResult:
        return self.result


def judged(score: float, **more: object) -> CompositeGrader:
    grade = GradeResult.model_validate({"assertion_type": "llm", "passed": score >= 0.7, "score": score, **more})
    made = CompositeGrader()
    made.judge = cast(Any, FixedJudge(grade))
    return made


@pytest.mark.parametrize(
    ("content", "pattern", "contains"),
    [("a = 1\nb = 2\n", r"^b = \d$", True), ("a = 1\n", "c", False), ("", ".", False)],
)
def test_contains_and_not_contains_are_opposites(tmp_path: Path, content: str, pattern: str, contains: bool) -> None:
    (tmp_path / "f").write_text(content)
    assert CodeGrader().grade_file_contains(tmp_path, "f", pattern).passed is contains
    assert CodeGrader().grade_file_not_contains(tmp_path, "f", pattern).passed is not contains


class Tools(Sandbox):
    """A place where commands find only what is in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tool_variables(self) -> dict[str, str]:
        return {"PATH": str(self.folder)}


@pytest.mark.parametrize("command", ["pytest", "python3 -m pytest"])
def test_a_check_is_refused_before_a_run_where_it_cannot_be_made(tmp_path: Path, command: str) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh"):
        (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
    (tmp_path / "bin/python3").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (tmp_path / "bin/python3").chmod(0o755)
    grader = CompositeGrader(sandbox=Tools(tmp_path / "bin"))
    told = rf"^task t: {command}: pytest is not installed where checks run; install it there$"
    with pytest.raises(InputError, match=told):
        grader.prepare(task({"check": "tests_pass", "command": command}))


def test_pytest_runs_with_the_interpreter_of_its_own_script(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "sed"):
        (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
    (tmp_path / "bin/pytest").write_text(f"#!{sys.executable}\n")
    (tmp_path / "bin/pytest").chmod(0o755)
    (tmp_path / "test_x.py").write_text("def test_x(): pass\n")
    grader = CodeGrader(tmp_path, fixture_path=tmp_path, sandbox=Tools(tmp_path / "bin"))
    assert grader.grade_tests_pass(tmp_path, "pytest").passed


def test_a_sandbox_is_asked_for_the_shell_before_a_run(tmp_path: Path) -> None:
    class Bare(Sandbox):
        def prepare(self, program: str) -> None:
            raise InputError(f"{program} does not run in the image")

    grader = CompositeGrader(sandbox=Bare())
    with pytest.raises(InputError, match="bash does not run in the image"):
        grader.prepare(task({"check": "command_succeeds", "command": "true"}))
    grader.prepare(task({"check": "file_exists", "file": "x"}))


@pytest.mark.parametrize("check", ["file_contains", "file_not_contains"])
@pytest.mark.parametrize("file", ["f", "missing"])
def test_a_pattern_that_is_none_is_a_mistake_of_the_task(tmp_path: Path, check: str, file: str) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(InputError, match=rf"^{check} of {file}: '\(' is not a regular expression \(missing \)"):
        getattr(CodeGrader(), f"grade_{check}")(tmp_path, file, "(")


def test_a_missing_file_passes_neither_check(tmp_path: Path) -> None:
    assert not CodeGrader().grade_file_contains(tmp_path, "f", "x").passed
    assert not CodeGrader().grade_file_not_contains(tmp_path, "f", "x").passed
    assert not CodeGrader().grade_file_exists(tmp_path, "f").passed


def test_existing_files_and_folders_exist(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assert CodeGrader().grade_file_exists(tmp_path, "d").passed


def test_a_symlink_out_of_the_project_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "answer").write_text("right")
    (tmp_path / "project/f").symlink_to("../answer")
    assert not CodeGrader().grade_file_contains(tmp_path / "project", "f", "right").passed


def test_a_command_passes_by_exit_code(tmp_path: Path) -> None:
    assert CodeGrader().grade_command_succeeds(tmp_path, "true").passed
    failed = CodeGrader().grade_command_succeeds(tmp_path, "echo why; exit 3")
    assert not failed.passed
    assert failed.details == "echo why; exit 3: exit code 3\nwhy"


def test_a_failure_left_of_a_pipe_fails_the_command(tmp_path: Path) -> None:
    assert not CodeGrader().grade_command_succeeds(tmp_path, "false | cat").passed


def test_quotes_and_wildcards_mean_what_bash_means(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("x")
    assert CodeGrader().grade_command_succeeds(tmp_path, '[[ -f "a b.txt" ]] && ls *.txt').passed


def test_output_of_a_command_is_kept_whole(tmp_path: Path) -> None:
    grade = CodeGrader().grade_command_succeeds(tmp_path, "seq 1 100000; echo end >&2")
    assert grade.full_output.startswith("1\n2\n")
    assert grade.full_output.endswith("end\n")
    assert "100000" in grade.full_output


def test_tests_run_by_the_given_command(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n")
    assert CodeGrader().grade_tests_pass(tmp_path, "python3 -m unittest test_x").passed
    assert not CodeGrader().grade_tests_pass(tmp_path, "python3 -m unittest missing").passed


@pytest.mark.slow
def test_pytest_is_the_default_test_command(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_x(): assert 1 + 1 == 2\n")
    assertion = CodeAssertion.model_validate({"check": "tests_pass"})
    assert CodeGrader().grade(assertion, tmp_path).passed


def test_a_command_that_hangs_fails_and_leaves_no_process(tmp_path: Path) -> None:
    marker = f"import time; time.sleep(300)  # {time.monotonic_ns()}"
    script = f"setsid {sys.executable} -c '{marker}' & sleep 300"
    grade = CodeGrader().grade_command_succeeds(tmp_path, script, timeout_seconds=1)
    assert not grade.passed
    assert "still ran after 1 s" in grade.details
    assert not [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]


def test_commands_do_not_touch_the_agents_tree(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert CodeGrader().grade_command_succeeds(tmp_path, "rm a && touch b && mkdir c").passed
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_commands_see_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert not CodeGrader().grade_command_succeeds(tmp_path, "env | grep sk-secret").passed


def hidden_case(tmp_path: Path) -> tuple[Path, Path]:
    project, hidden = tmp_path / "project", tmp_path / "hidden"
    (project / "tests").mkdir(parents=True)
    (hidden / "tests").mkdir(parents=True)
    (hidden / "tests/check.sh").write_text("grep -q fixed code\n")
    (project / "code").write_text("broken")
    return project, hidden


def test_tests_that_the_agent_edited_do_not_count(tmp_path: Path) -> None:
    """Grading used to run in the tree that the agent could edit, tests included."""
    project, hidden = hidden_case(tmp_path)
    (project / "tests/check.sh").write_text("exit 0\n")
    assert CodeGrader().grade_tests_pass(project, "bash tests/check.sh").passed
    assert not CodeGrader(hidden).grade_tests_pass(project, "bash tests/check.sh").passed


def test_tests_that_the_agent_deleted_are_there_again(tmp_path: Path) -> None:
    project, hidden = hidden_case(tmp_path)
    (project / "code").write_text("fixed")
    assert CodeGrader(hidden).grade_tests_pass(project, "bash tests/check.sh").passed


def test_a_folder_replaced_by_a_symlink_does_not_lead_hidden_files_away(tmp_path: Path) -> None:
    project, hidden = hidden_case(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / "tests").rmdir()
    (project / "tests").symlink_to(elsewhere)
    assert not CodeGrader(hidden).grade_tests_pass(project, "bash tests/check.sh").passed
    assert list(elsewhere.iterdir()) == []


def test_grades_carry_ids_and_weights(tmp_path: Path) -> None:
    made = task(command("true"), command("false"), scoring={"code_1_command_succeeds": 3})
    grades, score, passed = CompositeGrader().grade(made, COMPLETED, tmp_path)
    assert [(g.assertion_id, g.weight) for g in grades] == [
        ("code_0_command_succeeds", 1.0),
        ("code_1_command_succeeds", 3.0),
    ]
    assert (score, passed) == (0.25, False)


def test_judges_are_weighed_by_llm_quality(tmp_path: Path) -> None:
    made = task(command("true"), {"type": "llm", "rubric": "r"}, scoring={"command_succeeds": 70, "llm_quality": 30})
    grades, score, _ = judged(0.0).grade(made, COMPLETED, tmp_path)
    assert grades[1].assertion_id == "llm_0"
    assert score == pytest.approx(0.7)


def test_a_task_with_only_a_judge_fails_when_the_judge_says_so(tmp_path: Path) -> None:
    """Without code assertions all of them passed, vacuously, and so did the task."""
    assert judged(0.1).grade(task({"type": "llm", "rubric": "r"}), COMPLETED, tmp_path)[1:] == (0.1, False)


def test_a_failed_judge_is_neither_pass_nor_fail(tmp_path: Path) -> None:
    made = task(command("true"), {"type": "llm", "rubric": "r"})
    grades, score, passed = judged(0.0, status="judge_error").grade(made, COMPLETED, tmp_path)
    assert (grades[1].status, score, passed) == ("judge_error", 1.0, False)


def test_a_run_that_the_infrastructure_failed_is_not_graded(tmp_path: Path) -> None:
    trace = ExecutionTrace(outcome=Outcome.INFRA_ERROR, is_error=True)
    assert CompositeGrader().grade(task(command("true")), trace, tmp_path) == ([], 0.0, False)


def test_a_run_out_of_time_is_graded_and_does_not_pass(tmp_path: Path) -> None:
    trace = ExecutionTrace(outcome=Outcome.TIMEOUT, is_error=True)
    assert CompositeGrader().grade(task(command("true")), trace, tmp_path)[1:] == (1.0, False)


def test_a_task_without_assertions_does_not_pass(tmp_path: Path) -> None:
    assert CompositeGrader().grade(task(), COMPLETED, tmp_path) == ([], 0.0, False)


def test_endless_output_is_kept_in_its_beginning_and_its_end(tmp_path: Path) -> None:
    command = "echo first; yes | head -c 30000000; echo last; exit 1"
    result = CodeGrader().grade_command_succeeds(tmp_path, command)
    assert result.full_output.startswith("first\n")
    assert result.full_output.endswith("last\n")
    assert len(result.full_output) < 2 * KEPT_BYTES
    assert not result.passed


@pytest.mark.slow
def test_a_pattern_that_backtracks_for_ever_is_ended_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_graders, "SEARCH_SECONDS", 0.5)
    (tmp_path / "a.txt").write_text("a" * 60)
    assertion = CodeAssertion.model_validate({"check": "file_not_contains", "file": "a.txt", "pattern": "(a+)+b"})
    result = CodeGrader().grade(assertion, tmp_path)
    assert not result.passed
    assert "took longer than" in result.details


def test_a_sparse_file_is_neither_hashed_in_full_nor_filled_with_zeros_on_the_disk(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    with (project / "huge").open("wb") as file:
        file.truncate(20_000_000_000)
        file.write(b"start")
    before = directory.snapshot(project)
    with (project / "huge").open("r+b") as file:
        file.seek(19_000_000_000)
        file.write(b"x")
    assert [change.path for change in directory.diff(before, project)] == ["huge"]
    result = CodeGrader().grade_command_succeeds(project, "true")
    assert (result.status, result.passed) == ("graded", False)
    assert "cannot be run (more than 4000000000 bytes)" in result.details


def test_a_full_disk_while_grading_is_no_fault_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trees, "copy", full)
    task = Task.model_validate(
        {
            "id": "t",
            "category": "coding",
            "description": "d",
            "prompt": "p",
            "assertions": [{"type": "code", "check": "command_succeeds", "command": "true"}],
        }
    )
    (grade,), _, passed = CompositeGrader().grade(task, ExecutionTrace(), tmp_path)
    assert (grade.status, passed) == ("grading_error", False)
    assert "No space left" in grade.details
