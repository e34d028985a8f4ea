"""A small suite on disk for tests: tasks, configs and a fake CLI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.fake_claude import FakeClaude
from tests.support.in_process import run_in_process

REPOSITORY = Path(__file__).parents[2]

TASK = """\
id: {name}
category: coding
description: d
language: python
prompt: Task {name}
fixture_path: ../fixture
assertions:
  - type: code
    check: file_contains
    file: answer.txt
    pattern: right
"""


def make_suite(root: Path, *, tasks: int = 2, configs: int = 2, fake: FakeClaude | None = None) -> Path:
    """tasks/t<n>.task.yaml, configs/c<n>/config.yaml, fixture/ and bin/claude, which answers right."""
    (root / "fixture").mkdir(parents=True)
    (root / "fixture/code.py").write_text("x = 1\n")
    (root / "tasks").mkdir()
    for number in range(tasks):
        (root / f"tasks/t{number}.task.yaml").write_text(TASK.format(name=f"t{number}"))
    for number in range(configs):
        (root / f"configs/c{number}").mkdir(parents=True)
        text = f"name: c{number}\nenv: {{CONFIG_NAME: c{number}}}\n"
        (root / f"configs/c{number}/config.yaml").write_text(text)
    (fake or FakeClaude(writes={"answer.txt": "right\n"})).install(root / "bin")
    return root


def matrix_command(root: Path, *arguments: str) -> list[str]:
    """`python -m harness matrix` over the suite, to be run in `root`."""
    return [sys.executable, "-m", "harness", *_matrix(root, arguments)]


def harness(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What `python -m harness` does in a folder, without a process of its own."""
    return run_in_process("harness", arguments, cwd=root, env=environment(**variables))


def matrix(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the matrix of the suite to its end."""
    return harness(root, *_matrix(root, arguments), **variables)


def environment(**variables: str) -> dict[str, str]:
    """Variables for a harness process that is started outside of the repository."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}


def _matrix(root: Path, arguments: tuple[str, ...]) -> list[str]:
    files = ["-t", "tasks/*.yaml", "-c", "configs/*/config.yaml", "--claude", str(root / "bin/claude")]
    return ["matrix", *files, *arguments]
