"""Checks get the files that a task names, and none that would be loaded in the place of a test or library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.graders.composite_grader import CompositeGrader
from harness.graders.hand_in import HandIn
from harness.isolator import EnvironmentIsolator
from harness.models import ExecutionTrace, GradeResult
from harness.runner.oracle import oracle
from harness.sandbox.directory import regex
from harness.suite.load import load_task
from locobench.shared.errors import InputError
from tests.support import without_work
from tests.support.suite import harness
from tests.support.without_work import Idea

FILES = {
    "fixture/app/split.py": "x = 1\n",
    "fixture/app/old.py": "",
    "fixture/app/__init__.py": "",
    "fixture/app/calendar.py": "",
    "fixture/lib/notes.txt": "",
    "fixture/pyproject.toml": "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n",
    "fixture/tests/__init__.py": "",
    "fixture/tests/test_old.py": "",
    "hidden/tests/test_split.py": "from app import split, later\n",
    "hidden/src/money.test.ts": "",
    "solution/app/later.py": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return tmp_path


def hand_in(root: Path, *sources: str) -> HandIn:
    return HandIn(sources, root / "fixture", root / "hidden", root / "solution")


REFUSED = {
    "readme.md": "outside of `sources`",
    "lib/conftest.py": "steers an interpreter or a test runner",
    "app/sitecustomize.py": "steers an interpreter or a test runner",
    "tests/test_split/__init__.py": "in the place of tests that run with the hidden ones",
    "tests/test_split/data.txt": "in the place of tests that run with the hidden ones",
    "tests/test_split.cpython-311-x86_64-linux-gnu.so": "in the place of tests that run with the hidden ones",
    "tests/test_split.txt": "in the place of tests that run with the hidden ones",
    "tests/__init__.py": "in the place of the package of hidden tests",
    "tests/test_old.py": "in the place of tests that run with the hidden ones",
    "tests/deep/test_new.py": "in the place of tests that run with the hidden ones",
    "src/money.test.js": "in the place of tests that run with the hidden ones",
    "subprocess.py": "in the place of the library subprocess",
    "json/__init__.py": "in the place of the library json",
    "lib/random.pyc": "steers an interpreter or a test runner",
    "lib/random.py": "in the place of the library random",
    "lib/json/__init__.py": "in the place of the library json",
}
TAKEN = [
    "app/new.py", "app/types.py", "app/calendar.py", "app/later.py", "later.py", "new/types.py", "json/index.ts",
    "src/money.ts", "app/types/__init__.py", "lib/notes.txt", "tests/helpers.txt",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
def test_what_shadows_is_refused_with_a_reason(root: Path, path: str) -> None:
    rules = hand_in(root, "app", "lib/**", "tests/**", "src", "new", "json", "*.py")
    assert rules.refusal(path, root) == REFUSED[path]


@pytest.mark.parametrize("path", TAKEN)
def test_honest_files_are_taken(root: Path, path: str) -> None:
    rules = hand_in(root, "app", "lib/**", "tests/**", "src", "new", "json", "*.py")
    assert rules.refusal(path, root) is None


def test_a_package_of_hidden_tests_is_handed_in_when_it_is_named_itself(root: Path) -> None:
    assert hand_in(root, "tests/__init__.py").refusal("tests/__init__.py", root) is None


def test_without_sources_all_is_taken_but_what_shadows(root: Path) -> None:
    rules = hand_in(root)
    assert [path for path in (*REFUSED, *TAKEN) if rules.refusal(path, root)] == [*REFUSED][1:]


def test_the_project_is_the_fixture_with_the_named_files_and_no_others(root: Path) -> None:
    work = root / "work"
    for path in ("app/split.py", "app/new/deep.py", "lib/notes.txt", "tests/test_old.py", "elsewhere/x.py"):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text("the agent's\n")
    (work / "app/link.py").symlink_to("split.py")
    (work / "app/folder").symlink_to("/etc")
    rules = hand_in(root, "app/**")
    rules.assemble(work, root / "graded")
    graded = root / "graded"
    files = {str(path.relative_to(graded)) for path in graded.rglob("*") if path.is_symlink() or not path.is_dir()}
    own = {path.removeprefix("fixture/") for path in FILES if path.startswith("fixture/")}
    assert files == own - {"app/old.py", "app/__init__.py", "app/calendar.py"} | {"app/new/deep.py"}
    assert (graded / "app/split.py").read_text() == "the agent's\n"
    assert (graded / "tests/test_old.py").read_text() == ""
    assert not (graded / "elsewhere").exists()


@pytest.mark.parametrize("name", ["pyproject.toml", "conftest.py"])
def test_what_steers_a_runner_is_taken_when_it_is_named_itself(root: Path, name: str) -> None:
    assert hand_in(root, "*").refusal(name, root) == "steers an interpreter or a test runner"
    assert hand_in(root, name).refusal(name, root) is None


def graded(root: Path, files: dict[str, str]) -> GradeResult:
    """The grade of an agent that writes some files."""
    without_work.write_suites(root)
    task = load_task(without_work.write_task(root, "t", "p", Idea("")))
    isolator = EnvironmentIsolator()
    with isolator.create_environment_for_task(task.fixture_path) as env:
        before = isolator.snapshot_files(env.path)
        for path, content in files.items():
            (env.path / path).write_text(content)
        trace = ExecutionTrace(file_changes=isolator.diff_files(before, env.path))
        return CompositeGrader().grade(task, trace, env.path)[0][0]


@pytest.mark.slow
def test_work_outside_of_the_sources_is_no_silent_zero(tmp_path: Path) -> None:
    grade = graded(tmp_path, {"split.py": without_work.RIGHT})
    assert not grade.passed
    assert grade.details.splitlines()[-1] == "not graded: split.py (outside of `sources`)"


@pytest.mark.slow
def test_files_outside_of_the_sources_are_named_where_the_work_passes_too(tmp_path: Path) -> None:
    grade = graded(tmp_path, {"app/split.py": without_work.RIGHT, "notes.md": "I fixed it"})
    assert grade.passed
    assert "not graded: notes.md (outside of `sources`)" in grade.details


@pytest.mark.slow
def test_a_solution_outside_of_the_sources_is_found_by_validate(tmp_path: Path) -> None:
    without_work.write_suites(tmp_path)
    task = load_task(without_work.write_task(tmp_path, "t", "p", Idea("", sources=("lib/**",))))
    check = oracle(task)
    assert not check.as_expected
    assert "not graded: app/split.py (outside of `sources`)" in check.details


def test_validate_warns_of_a_task_that_names_no_sources_or_none_that_there_are(tmp_path: Path) -> None:
    without_work.write_suites(tmp_path)
    without_work.write_task(tmp_path, "t", "p", Idea(""), sources=False)
    assert "t: names no `sources`" in harness(tmp_path, "validate", "--static", "-t", "t.task.yaml").stderr
    without_work.write_task(tmp_path, "t", "p", Idea("", sources=("app/**", "scr/**")))
    shown = harness(tmp_path, "validate", "--static", "-t", "t.task.yaml")
    assert shown.stderr == "warning: t: sources: scr/** matches no file of the fixture or the solution\n"


@pytest.mark.parametrize("glob", ["/etc/passwd", "../x", "a/../../x", "", "/"])
def test_sources_are_inside_of_the_project(tmp_path: Path, glob: str) -> None:
    without_work.write_suites(tmp_path)
    with pytest.raises(InputError, match=r"t\.task\.yaml:1: sources: .* must be a relative path inside the project"):
        load_task(without_work.write_task(tmp_path, "t", "p", Idea("", sources=(glob,))))


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("mod_[a-c].py", "mod_b.py", True),
        ("mod_[a-c].py", "mod_-.py", False),
        ("mod_[!t].py", "mod_t.py", False),
        ("mod_[!t].py", "mod_s.py", True),
        ("a[.py", "a[.py", True),
        ("**/x[0-9]?.py", "a/b/x1y.py", True),
    ],
)
def test_globs_have_classes_as_shells_read_them(glob: str, path: str, expected: bool) -> None:
    assert bool(re.fullmatch(regex(glob), path)) is expected


def test_a_path_that_is_too_long_for_the_system_is_no_link(tmp_path: Path) -> None:
    assert HandIn(["**"], None, None, None).refusal("/".join(["backup" * 8] * 120), tmp_path) != "a link"
