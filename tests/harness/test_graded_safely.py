"""Hidden tests are passed by doing the work, and by nothing else that an agent puts into its project."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness.executor import Executor
from harness.graders.code_graders import CodeGrader
from harness.graders.commands import GraderError
from harness.models import Config, EvalResult, ExecutionTrace
from harness.runner import EvalRunner
from harness.sandbox.processes import Command, Limits
from tests.support import quick_pytest
from tests.support.attacks import ATTACKS, BROKEN, PYTEST, RIGHT, UNITTEST, write_suite, write_task

pytestmark = pytest.mark.slow

PATH = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"


class Script(Executor):
    """An agent that runs a shell script."""

    def __init__(self, script: str) -> None:
        self.script = script

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """The script, ended as an agent is."""
        env = {"PATH": PATH, **(env_override or {})}
        Command(["bash", "-c", self.script], cwd=working_dir, env=env, limits=Limits(wall=timeout)).run()
        return ExecutionTrace()


def graded(root: Path, script: str, command: str) -> EvalResult:
    task = EvalRunner.load_task(write_task(write_suite(root), "t", "p", command))
    return EvalRunner(Script(script)).run_single(task, Config(name="c"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quick_pytest.install(tmp_path_factory.mktemp("quick") / "bin")


@pytest.fixture(autouse=True)
def one_python(monkeypatch: pytest.MonkeyPatch, quick: Path) -> None:
    """The agent and the graders' commands have the same interpreter."""
    monkeypatch.setenv("PATH", f"{quick}:{PATH}")


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_does_not_pass(tmp_path: Path, name: str) -> None:
    attack = ATTACKS[name]
    result = graded(tmp_path, attack.script, attack.command)
    (grade,) = result.grades
    assert (grade.status, grade.passed, result.passed) == ("graded", False, False), grade.full_output


@pytest.mark.parametrize("command", [UNITTEST, PYTEST, f"PYTHONPATH=. {UNITTEST}"])
def test_the_work_passes_whatever_is_planted_beside_it(tmp_path: Path, command: str) -> None:
    planted = [ATTACKS[name].script for name in ("unittest.py", "conftest.py", "pytest.ini", "sitecustomize.py")]
    work = f"cat > money.py <<'END'\n{RIGHT}END"
    result = graded(tmp_path, "\n".join([ATTACKS["planted bytecode"].script, *planted, work]), command)
    assert result.passed, result.grades[0].full_output


def grader(root: Path, *, solution: bool = True) -> tuple[CodeGrader, Path]:
    """A grader for the suite, and an agent's tree with the work done."""
    write_suite(root)
    work = root / "work"
    shutil.copytree(root / "fixture", work)
    (work / "money.py").write_text(RIGHT)
    made = CodeGrader(
        root / "hidden", fixture_path=root / "fixture", solution_path=root / "solution" if solution else None
    )
    return made, work


@pytest.mark.parametrize("solution", [True, False])
def test_hidden_tests_that_are_skipped_are_not_passed(tmp_path: Path, solution: bool) -> None:
    code, work = grader(tmp_path, solution=solution)
    (work / "money.py").write_text("import unittest\ndef split(*_):\n    raise unittest.SkipTest\n")
    assert not code.grade_tests_pass(work, UNITTEST).passed


def test_a_check_of_the_agents_own_tests_alone_sees_them_fail(tmp_path: Path) -> None:
    code, work = grader(tmp_path, solution=False)
    (work / "test_own.py").write_text("def test_own(): assert False\n")
    grade = code.grade_command_succeeds(work, f"! {PYTEST} test_own.py")
    assert "1 failed" in grade.full_output
    assert grade.passed


def test_what_steers_a_runner_counts_when_it_is_the_tasks_own(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    for tree in (tmp_path / "fixture", work):
        (tree / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\n")
    (tmp_path / "hidden/conftest.py").write_text("import pytest\n@pytest.fixture\ndef five(): return 5\n")
    (tmp_path / "hidden/tests/check_five.py").write_text("def test_five(five): assert five == 5\n")
    (work / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    grade = code.grade_tests_pass(work, "pytest")
    assert grade.passed, grade.full_output
    assert "1 passed" in grade.full_output


def test_settings_of_a_runner_in_a_shared_file_are_the_tasks(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    (work / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--collect-only'\n")
    assert "2 passed" in code.grade_tests_pass(work, PYTEST).full_output


def test_a_distribution_that_the_agent_plants_brings_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", PATH)  # pytest loads the plugins that it finds
    code, work = grader(tmp_path, solution=False)
    (work / "money.py").write_text(BROKEN)
    (work / "evil.egg-info").mkdir()
    (work / "evil.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (work / "evil.egg-info/entry_points.txt").write_text("[pytest11]\nevil = evil\n")
    (work / "evil.py").write_text("raise SystemExit(0)\n")
    assert "1 failed, 1 passed" in code.grade_tests_pass(work, PYTEST).full_output


def test_parameters_that_come_from_the_project_may_differ_from_the_solutions(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    (tmp_path / "hidden/tests/test_files.py").write_text(
        "import glob, pytest\n@pytest.mark.parametrize('name', sorted(glob.glob('*.py')))\n"
        "def test_compiles(name): compile(open(name).read(), name, 'exec')\n"
    )
    (tmp_path / "solution/helper.py").touch()
    assert code.grade_tests_pass(work, PYTEST).passed


def test_a_module_of_the_project_may_be_named_like_one_of_the_library_when_the_task_has_it(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    for tree in (tmp_path / "fixture", work):
        (tree / "calendar.py").write_text("OURS = True\n")
    (tmp_path / "hidden/tests/test_calendar.py").write_text(
        "import calendar, unittest\nclass C(unittest.TestCase):\n    def test(self): self.assertTrue(calendar.OURS)\n"
    )
    assert code.grade_tests_pass(work, UNITTEST).passed


def test_what_tools_leave_and_links_do_not_reach_the_grading(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    for tree in (tmp_path / "fixture", work):
        (tree / "old.py").touch()
    for path in ("node_modules/x", "__pycache__/x", ".git/x", "new/x"):
        (work / path).parent.mkdir(exist_ok=True)
        (work / path).touch()
    (work / "old.py").unlink()
    (work / "out").symlink_to("/etc")
    (work / "in").symlink_to("new")
    listed = code.grade_command_succeeds(work, "find . -name '[^.]*' -not -name '*.py' | sort | tr '\\n' ' '")
    assert listed.full_output == "./new ./new/x ./tests "


def test_a_reference_solution_that_does_not_pass_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    code, work = grader(tmp_path)
    (tmp_path / "solution/money.py").write_text(BROKEN)
    with pytest.raises(GraderError, match="reference solution"):
        code.grade_tests_pass(work, UNITTEST)


def test_a_tool_that_is_not_installed_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="no-such-tool is not installed"):
        CodeGrader().grade_command_succeeds(tmp_path, "no-such-tool --check")


PROGRAMS: list[tuple[str, str]] = [
    ("python3 -c 'import sys; print(sys.argv[1:])' a -b", "['a', '-b']\n"),
    ("echo 'print(__name__)' | python3", "__main__\n"),
    ("python3 -u -W error - x <<'END'\nimport sys\nprint(sys.argv[1], sys.warnoptions)\nEND", "x ['error']\n"),
    (
        "echo 'import sys; print(sys.argv, sys.path[0])' > s.py; python3 s.py 1 | sed s:$PWD:.:g",
        "['s.py', '1'] .\n",
    ),
    ("python3 -um json.tool <<< 1", "1\n"),
    ("python3 -uW error -c 'import sys; print(sys.warnoptions)'", "['error']\n"),
    ("python3 -m json.tool --compact <<< '{ }'", "{}\n"),
    ("mkdir lib; echo X=1 > lib/m.py; PYTHONPATH=lib python3 -c 'import m; print(m.X)'", "1\n"),
    ("python3 -c 'import sys; sys.exit(3)' || echo $?", "3\n"),
    ('python3 -c \'import sys, subprocess as s; print(s.run([sys.executable, "-c", ""]).returncode)\'', "0\n"),
]


def test_python_does_what_it_is_told(tmp_path: Path) -> None:
    """All in one check, each in a shell of its own."""
    command = "\n".join(["set -e", *(f"({command}\n)" for command, _ in PROGRAMS)])
    grade = CodeGrader().grade_command_succeeds(tmp_path, command)
    assert (grade.passed, grade.full_output) == (True, "".join(output for _, output in PROGRAMS))
