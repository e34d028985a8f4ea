"""A task's `setup` runs before each check, in its copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.graders.code_graders import CodeGrader
from harness.graders.commands import GraderError
from harness.graders.composite_grader import CompositeGrader
from harness.models import ExecutionTrace, Resources, Task
from harness.runner.oracle import nop, oracle
from harness.suite import fingerprint


def task(*setup: str, checks: tuple[str, ...] = (), **more: object) -> Task:
    assertions = [{"check": "command_succeeds", "command": command} for command in checks]
    given = {"id": "t", "category": "coding", "description": "", "prompt": "p", "assertions": assertions}
    return Task.model_validate({**given, "setup": [*setup], **more})


def passed(task: Task, work: Path) -> list[bool]:
    grades, _, _ = CompositeGrader().grade(task, ExecutionTrace(), work)
    assert all(grade.status == "graded" for grade in grades), grades
    return [grade.passed for grade in grades]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_it_runs_once_in_the_copy_of_each_check(work: Path) -> None:
    once = 'test "$(cat count)" = x && touch left', 'test "$(cat count)" = x && test ! -e left'
    assert passed(task("printf x >> count", checks=once), work) == [True, True]


def test_its_commands_run_in_their_order(work: Path) -> None:
    assert passed(task("echo 1 > built", "cp built shipped", checks=("grep 1 shipped",)), work) == [True]


def test_the_agents_tree_stays_as_it_was(work: Path) -> None:
    assert passed(task("touch built", checks=("test -e built",)), work) == [True]
    assert not list(work.iterdir())


def test_hidden_files_are_in_place_again_after_it(tmp_path: Path, work: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "expected").write_text("right")
    spoil = "echo forged > expected"
    assert passed(task(spoil, checks=("grep right expected",), hidden_path=hidden), work) == [True]


def test_work_on_which_it_fails_fails_the_checks_and_says_why(tmp_path: Path, work: Path) -> None:
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "build.sh").write_text("true")
    (work / "build.sh").write_text("echo broken build; exit 3")
    grader = CodeGrader(fixture_path=fixture, setup=["bash build.sh"])
    grade = grader.grade_command_succeeds(work, "true")
    assert not grade.passed
    assert grade.details.splitlines() == ["setup: bash build.sh: exit code 3", "broken build"]


def test_one_that_never_works_says_nothing_about_the_agent(tmp_path: Path, work: Path) -> None:
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    with pytest.raises(GraderError, match="the fixture of the task does not pass setup: exit 1: exit code 1"):
        CodeGrader(fixture_path=fixture, setup=["exit 1"]).grade_command_succeeds(work, "true")


def test_the_reference_solution_tells_what_setup_can_do(tmp_path: Path, work: Path) -> None:
    fixture, solution = tmp_path / "fixture", tmp_path / "solution"
    for folder in (fixture, solution):
        folder.mkdir()
    (solution / "ready").touch()
    grader = CodeGrader(fixture_path=fixture, solution_path=solution, setup=["test -e ready"])
    assert not grader.grade_command_succeeds(work, "true").passed


def test_a_tool_that_is_not_there_is_no_fault_of_the_agent(work: Path) -> None:
    with pytest.raises(GraderError, match="no-such-tool: command not found"):
        CodeGrader(setup=["no-such-tool"]).grade_command_succeeds(work, "true")


def test_it_is_not_run_for_checks_of_files_alone(work: Path) -> None:
    (work / "a").touch()
    only_files = task("exit 1", assertions=[{"check": "file_exists", "file": "a"}])
    assert passed(only_files, work) == [True]


def test_the_oracle_and_the_untouched_fixture_are_set_up_too(tmp_path: Path) -> None:
    fixture, solution = tmp_path / "fixture", tmp_path / "solution"
    for folder, answer in ((fixture, "41"), (solution, "42")):
        folder.mkdir()
        (folder / "answer").write_text(answer)
    copied = task("cp answer built", checks=("grep 42 built",), fixture_path=fixture, solution_path=solution)
    assert oracle(copied).as_expected
    assert nop(copied).as_expected


def test_another_setup_or_other_limits_make_another_task() -> None:
    without = fingerprint.of_task(task())
    assert fingerprint.of_task(task("make")) != without
    limited = task().model_copy(update={"resources": Resources(memory_mb=512)})
    assert fingerprint.of_task(limited) != without
