"""Odd files, a full disk, a reader who leaves, a bare Python: one line on stderr and an exit code that says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.results import arm, results_json
from tests.support.suite import REPOSITORY, environment, harness

TASK = "id: t\ncategory: coding\ndescription: d\nprompt: p\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two results files, of which b is worse."""
    for name, passes in (("a", 5), ("b", 2)):
        results = arm({f"t{number:02}": passes for number in range(20)}, 5)
        (tmp_path / f"{name}.json").write_text(results_json(results), encoding="utf-8")
    return tmp_path


def in_shell(folder: Path, command: str, program: str = f"{sys.executable} -m harness") -> list[str]:
    """The exit codes of the parts of a pipeline."""
    script = f"{command.replace('PROGRAM', program)}\necho ${{PIPESTATUS[@]}} >&3"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>codes\n{script}"], cwd=folder, env=environment(), capture_output=True, timeout=120
    )
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"Exception ignored" not in done.stderr
    return (folder / "codes").read_text().split()


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    return done.stderr.removeprefix("error: ").strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("PROGRAM compare a.json b.json --all-tasks | true", "141"),
        ("PROGRAM compare a.json gone.json 2>&1 | true", "141"),
        ("PROGRAM compare a.json b.json > /dev/full 2>&1", "2"),
    ],
)
def test_a_comparison_that_cannot_be_shown_is_no_verdict(command: str, code: str, folder: Path) -> None:
    assert in_shell(folder, command)[0] == code


@pytest.mark.parametrize(("other", "code"), [("b.json", 1), ("a.json", 0), ("gone.json", 2)])
def test_a_comparison_leaves_with_what_its_help_says(other: str, code: int, folder: Path) -> None:
    assert harness(folder, "compare", "a.json", other).returncode == code


@pytest.mark.slow
def test_a_script_whose_output_finds_no_room_says_so(tmp_path: Path) -> None:
    program = f"{sys.executable} {REPOSITORY / 'extract_dataset.py'} --data_dir {REPOSITORY / 'data/sample'} --output d"
    assert in_shell(tmp_path, "PROGRAM > /dev/full", program) == ["2"]
    assert in_shell(tmp_path, "PROGRAM 2> /dev/full", program) == ["2"]


@pytest.mark.slow
def test_a_python_without_the_packages_is_one_line() -> None:
    command = [sys.executable, "-S", "-m", "harness", "--help"]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment(), capture_output=True, text=True, check=False)
    assert one_line(done).startswith("this Python lacks click: `make demo`")


def test_an_env_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "odd.env").write_bytes(b"\xff\xfe\n")
    assert "odd.env: not UTF-8 text" in one_line(harness(tmp_path, "-e", "odd.env", "env-status"))


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_mistake(folder: Path) -> None:
    (folder / "t.yaml").write_bytes(b"\xef\xbb\xbf" + TASK.replace("\n", "\r\n").encode())
    assert harness(folder, "validate", "--static", "-t", "t.yaml").returncode == 0
    (folder / "marked.json").write_bytes(b"\xef\xbb\xbf" + (folder / "a.json").read_bytes())
    assert harness(folder, "report", "marked.json").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "a.json", "--json", "a.json"),
        ("compare", "a.json", "b.json", "--markdown", "b.json"),
        ("compare", "a.json", "b.json", "a.json", "--html", "b.json"),
        ("compare", "a.json", "b.json", "--regression", "--json", "a.json"),
    ],
)
def test_no_report_replaces_the_results_that_it_is_about(arguments: tuple[str, ...], folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    assert "which it would replace" in one_line(harness(folder, *arguments))
    assert {path.name: path.read_bytes() for path in folder.glob("*.json")} == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_one_line(folder: Path) -> None:
    (folder / "a.json").chmod(0)
    assert "a.json: cannot be read" in one_line(harness(folder, "report", "a.json"))
