"""Whether what stands about the package in the checkout is one story: versions of it and of its libraries."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.conftest import REPOSITORY
from tests.support.checkout import python_files

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
SCRIPTS = ("derive_scenarios.py", "extract_dataset.py", "select_tasks.py", "run_adapter.py", "smoke_test.py")
CONSTRAINTS = (REPOSITORY / "constraints.txt").read_text().splitlines()


def library(requirement: str) -> str:
    """The name that a requirement begins with, as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_of_the_checkout_says_the_version_of_the_checkout(script: str) -> None:
    shown = subprocess.run(
        [sys.executable, REPOSITORY / script, "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"{script} {PROJECT['version']}\n"


def test_the_harness_of_the_checkout_says_the_version_of_the_checkout() -> None:
    command = [sys.executable, "-m", "harness", "--version"]
    shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert shown.stdout == f"python -m harness {PROJECT['version']}\n"


def old_interpreters() -> list[str]:
    """A Python 3.8, 3.9 and 3.10, as far as this machine has them."""
    folders = [Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3") for minor in (8, 9, 10)]
    return [str(path) for found in folders for path in list(found)[:1]]


@pytest.mark.parametrize("python", old_interpreters())
@pytest.mark.parametrize("program", [*SCRIPTS, "-mharness"])
def test_under_an_old_python_every_program_says_so_in_one_line(python: str, program: str) -> None:
    shown = subprocess.run([python, program, "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout, shown.stderr.count("\n")) == (2, "", 1), shown.stderr
    assert shown.stderr.startswith("Python 3.11 or newer is needed, and this is 3.")


def test_every_library_is_pinned() -> None:
    wanted = [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]
    names = {library(one) for one in wanted} - {PROJECT["name"]}
    assert names - {library(line) for line in CONSTRAINTS} == set(), "run `make lock`"


def test_constraints_are_versions_and_nothing_of_a_machine() -> None:
    pinned = re.compile(r"[a-z0-9-]+==[\w.]+( ; [\w ='<>!.()]+)?")
    assert [line for line in CONSTRAINTS if not pinned.fullmatch(line)] == []


def test_the_hooks_before_a_commit_take_every_file_that_git_has() -> None:
    """They name files, which the linter then takes although its settings leave them out, unless it is told."""
    (repo,) = YAML(typ="safe").load(REPOSITORY / ".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"].split() for hook in repo["hooks"] if hook.get("pass_filenames", True)]
    for _, *arguments in entries:
        command = [sys.executable, "-m", "ruff", *arguments, *map(str, python_files())]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_no_file_has_the_marks_of_an_unfinished_merge() -> None:
    """Git takes them without a word when they are committed, and a page still reads half right."""
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("no git checkout")
    marks = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
    files = (REPOSITORY / name for name in listed.stdout.splitlines())
    assert [str(file) for file in files if file.is_file() and marks.search(file.read_bytes())] == []
