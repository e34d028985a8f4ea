"""A small suite on disk for tests: tasks, configs and a fake CLI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.fake_claude import FakeClaude

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
    command = [sys.executable, "-m", "harness", "matrix", "-t", "tasks/*.yaml", "-c", "configs/*/config.yaml"]
    return [*command, "--claude", str(root / "bin/claude"), *arguments]


def harness(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m harness` in a folder."""
    return _run(root, [sys.executable, "-m", "harness", *arguments], variables)


def matrix(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the matrix of the suite to its end."""
    return _run(root, matrix_command(root, *arguments), variables)


def environment(**variables: str) -> dict[str, str]:
    """Variables for a harness process that is started outside of the repository."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}


def _run(root: Path, command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = environment(**variables)
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False)
