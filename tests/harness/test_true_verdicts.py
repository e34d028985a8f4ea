"""A check says what the work is worth: no more, and no less because of the machine it runs on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.graders.code_graders import CodeGrader
from harness.graders.commands import GraderError
from harness.models import CodeCheckType, ErrorKind, Outcome
from measure.results.files import load_results_file
from tests.support.fake_claude import RECORDED, FakeClaude, play
from tests.support.suite import environment, harness, make_suite

BROKEN, RIGHT = "def add(a, b):\n    return 0\n", "def add(a, b):\n    return a + b\n"
CHECK = """import unittest, calc
class Add(unittest.TestCase):
    def test(self): self.assertEqual(calc.add(1, 2), 3)
"""
COMMAND = "python3 -m unittest check"


def grader(root: Path, *, solution: bool = True) -> tuple[CodeGrader, Path]:
    """A grader for `calc`, and an agent's tree as the fixture has it."""
    for path, text in {"fixture/calc.py": BROKEN, "hidden/check.py": CHECK, "solution/calc.py": RIGHT}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    work = shutil.copytree(root / "fixture", root / "work")
    solved = root / "solution" if solution else None
    return CodeGrader(root / "hidden", fixture_path=root / "fixture", solution_path=solved), work


@pytest.mark.parametrize("solution", [True, False])
def test_code_that_ends_the_tests_with_success_does_not_pass(tmp_path: Path, solution: bool) -> None:
    code, work = grader(tmp_path, solution=solution)
    (work / "calc.py").write_text("import os\nos._exit(0)\n")
    grade = code.grade_tests_pass(work, COMMAND)
    assert not grade.passed
    assert grade.details.endswith("hidden tests failed or did not run: check.Add.test" if solution else "ended early")
    (work / "calc.py").write_text(RIGHT)
    assert code.grade_tests_pass(work, COMMAND).passed


@pytest.mark.slow
def test_the_name_of_the_temporary_folder_changes_no_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "with space, 'quote' and $dollar"
    folder.mkdir()
    root = make_suite(tmp_path / "s", fake=FakeClaude(writes={"calc.py": "x = 0\n"}))
    path = root / "tasks/t0.task.yaml"
    path.write_text(path.read_text().split("assertions:")[0] + (
        "assertions:\n  - {type: code, check: command_succeeds, command: \"python3 -c 'import calc; assert calc.x'\"}\n"
        "  - {type: code, check: command_succeeds, command: \"python3 -c 'assert True'\"}\n"
    ))  # fmt: skip
    one = ["-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml", "--claude", "bin/claude", "-o", "out.json"]
    shown = harness(root, "run", *one, TMPDIR=str(folder))
    assert shown.returncode == 1, shown.stderr
    (result,) = load_results_file(root / "out.json").results
    assert [grade.passed for grade in result.grades] == [False, True], result.grades


def test_a_program_that_the_check_does_without_is_no_fault_of_the_grader(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    code = CodeGrader()
    assert code.grade_command_succeeds(tmp_path, "nosuchlint . || true; test -f there").passed
    assert not code.grade_command_succeeds(tmp_path, "nosuchlint . || true; test -f not-there").passed
    with pytest.raises(GraderError, match="nosuchlint is not installed"):
        code.grade_command_succeeds(tmp_path, "nosuchlint . && test -f there")


@pytest.mark.parametrize(
    "spoils",
    [
        "echo '{{' > {reports}/report.jsonl",
        "echo '[1]' > {reports}/report.jsonl",
        "echo '[[1]]' > {reports}/report.jsonl",
        "head -c 100000000 /dev/zero > {reports}/report.jsonl",
        "rm -rf {reports}; ln -s /etc {reports}",
        "rm -f {reports}/report.jsonl; mkfifo {reports}/report.jsonl",
    ],
)
def test_tested_code_that_writes_into_the_graders_report_has_failed_and_the_grade_stays_small(
    tmp_path: Path, spoils: str
) -> None:
    code, work = grader(tmp_path)
    script = spoils.format(reports="../reports")
    (work / "calc.py").write_text(f"import os\nos.system({script!r})\n{BROKEN}")
    grade = code.grade_tests_pass(work, COMMAND)
    assert (grade.status, grade.passed) == ("graded", False)
    assert len(grade.model_dump_json()) < 10_000


@pytest.mark.slow
def test_a_service_that_never_answers_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    """Whatever the task's limit is; while a tool runs, the silence is the agent's own."""
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines(keepends=True)
    silent = {}
    for number, name in ((1, "start"), (3, "tool"), (4, "answered")):
        (tmp_path / name).write_text("".join(lines[:number]))
        silent[name] = play(tmp_path, FakeClaude(str(tmp_path / name), hang=True), timeout=2)
    assert {name: (trace.outcome, trace.error_kind) for name, trace in silent.items()} == {
        "start": (Outcome.INFRA_ERROR, ErrorKind.SILENT),
        "tool": (Outcome.TIMEOUT, ErrorKind.TIME_LIMIT),
        "answered": (Outcome.INFRA_ERROR, ErrorKind.SILENT),
    }


def test_a_locale_without_utf8_grades_the_same(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("für\n", encoding="utf-8")
    code = (
        "import sys; from harness.graders.code_graders import CodeGrader\n"
        "grade = CodeGrader().grade_command_succeeds(sys.argv[1], 'grep \\u00fc f && python3 -c \"print(chr(252))\"')\n"
        "print(grade.passed, ascii(grade.details))"
    )
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    shown = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env, capture_output=True, text=True)
    assert shown.stdout.startswith("True"), shown.stdout + shown.stderr


def test_validating_a_task_warns_where_exit_code_0_alone_is_the_proof(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=2, configs=1)
    (root / "solution").mkdir()
    (root / "solution/calc.py").write_text(RIGHT)
    (root / "solution/test_calc.py").write_text(CHECK)
    for task, more in (("t0", ""), ("t1", "solution_path: ../solution\n")):
        path = root / f"tasks/{task}.task.yaml"
        check = f"{{type: code, check: {CodeCheckType.COMMAND_SUCCEEDS}, command: ls}}"
        program = "{type: code, check: tests_pass, command: python3 -m unittest test_calc}"
        text = path.read_text().split("assertions:")[0]
        checks = f"assertions:\n  - {check}\n  - {program}\n"
        path.write_text(f"{text}{more}sources: ['*.py']\n{checks}")
    shown = harness(root, "validate", "--static", "-t", "tasks/*.yaml")
    assert shown.returncode == 0, shown.stderr
    assert [line.split(":")[1].strip() for line in shown.stderr.splitlines()] == ["t0", "t0", "t1"]
    assert "exit code 0 is the only proof of 'ls', as it runs no unittest or pytest" in shown.stderr


def test_a_check_that_cannot_be_reached_by_a_link_out_of_the_project_is_none(tmp_path: Path) -> None:
    (tmp_path / "project/docs").mkdir(parents=True)
    (tmp_path / "project/docs/index.md").write_text("right")
    (tmp_path / "answer").write_text("right")
    links = {"in": "docs", "out": "..", "loop": "loop", "absolute": str(tmp_path), "up": "docs/../docs"}
    for name, target in links.items():
        os.symlink(target, tmp_path / "project" / name)  # noqa: PTH211
    code, project = CodeGrader(), tmp_path / "project"
    passed = {
        name: code.grade_file_contains(project, f"{name}/index.md", "right").passed for name in ("in", "up", "loop")
    }
    assert passed == {"in": True, "up": True, "loop": False}
    assert not code.grade_file_contains(project, "out/answer", "right").passed
    assert not code.grade_file_contains(project, "absolute/answer", "right").passed
