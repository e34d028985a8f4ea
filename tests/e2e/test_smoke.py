"""smoke_test.py on a real engine: one good task of each language, and every way in which a task or the engine fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import docker
import pytest
from docker.models.containers import Container

from locobench.smoke.check import image_of
from tests.e2e.conftest import script, task_folders
from tests.e2e.proxy import FragileSocket

pytestmark = pytest.mark.e2e

Table = dict[str, dict[str, str]]


def read_report(path: Path) -> Table:
    """Return the rows of the report's table of tasks by the task's name, each as heading -> cell."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    start = next(index for index, line in enumerate(lines) if line.startswith("| task "))
    heading, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[start:])
    return {row[0]: dict(zip(heading, row, strict=True)) for row in rows}


def smoke_test(
    tasks: Path, report: Path, *flags: str, env: dict[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[str], Table]:
    result = script("smoke_test.py", tasks, "--report", report, *flags, env=env)
    print(result.stdout)
    return result, read_report(report)


@pytest.fixture(scope="module")
def one_of_each(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Table, str]:
    report = tmp_path_factory.mktemp("good") / "report.md"
    result, table = smoke_test(tasks, report, "--limit_per_language", "1")
    return result.returncode, table, report.read_text()


def test_one_task_of_each_language_is_found_sound(one_of_each: tuple[int, Table, str], tasks: Path) -> None:
    code, table, _ = one_of_each

    assert {row["language"] for row in table.values()} == {path.name.split("_")[0] for path in task_folders(tasks)}
    assert {name: row["verdict"] for name, row in table.items() if row["verdict"] != "ok"} == {}
    assert code == 0


def test_the_report_names_the_engine_that_it_was_made_with(one_of_each: tuple[int, Table, str]) -> None:
    assert "- Docker engine: " in one_of_each[2]


class Mixed(NamedTuple):
    """A smoke test of good and broken tasks."""

    tasks: Path
    code: int
    rows: Table
    errors: str
    report: str


@pytest.fixture(scope="module")
def mixed(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Mixed:
    """One good task and, of the same, one copy for every way to break it."""
    folder = tmp_path_factory.mktemp("mixed")
    original = task_folders(tasks)[0]
    broken = {
        name: shutil.copytree(original, folder / "tasks" / name)
        for name in (
            "good",
            "no_dockerfile",
            "no_build",
            "no_base",
            "endless_test",
            "endless_answer",
            "no_answer",
            "leaky",
            "generous",
        )
    }
    (broken["no_dockerfile"] / "environment" / "Dockerfile").unlink()
    with (broken["no_build"] / "environment" / "Dockerfile").open("a") as stream:
        stream.write("RUN echo the compiler is missing >&2; exit 7\n")
    (broken["no_base"] / "environment" / "Dockerfile").write_text("FROM 127.0.0.1:1/none:1\n")
    (broken["endless_test"] / "tests" / "test.sh").write_text("#!/bin/bash\nwhile :; do sleep 1; done\n")
    (broken["endless_answer"] / "solution" / "solve.sh").write_text("#!/bin/bash\nsleep infinity\n")
    (broken["no_answer"] / "solution" / "solve.sh").write_text("#!/bin/bash\ntrue\n")
    shutil.copy(broken["leaky"] / "solution" / "solution.md", broken["leaky"] / "environment" / "project" / "NOTES.md")
    (broken["generous"] / "tests" / "test.sh").write_text(
        "#!/bin/bash\necho '{\"reward\": 0.5}' > /logs/verifier/reward.json\n"
    )
    # Whoever waits for an endless command needs no processor.
    result, table = smoke_test(folder / "tasks", folder / "report.md", "--timeout", "30", "--jobs", "6")
    return Mixed(folder / "tasks", result.returncode, table, result.stderr, (folder / "report.md").read_text())


@pytest.mark.parametrize(
    ("task", "verdict"),
    [
        ("good", "ok"),
        ("no_dockerfile", "no environment/Dockerfile"),
        ("no_build", "build failed (exit code 1)"),
        ("no_base", "build failed (exit code 1)"),
        ("endless_test", "nop: still ran after 30 s and was killed"),
        ("endless_answer", "oracle: still ran after 30 s and was killed"),
        ("no_answer", "oracle: reward 0.0, not 1.0"),
        ("leaky", "environment/ holds the ground truth"),
        ("generous", "oracle: reward 0.5, not 1.0; nop: reward 0.5, not 0.0"),
    ],
)
def test_a_fault_is_named_in_its_own_row(mixed: Mixed, task: str, verdict: str) -> None:
    assert verdict in mixed.rows[task]["verdict"]


def test_failed_tasks_make_the_exit_code_one_without_a_traceback(mixed: Mixed) -> None:
    assert mixed.code == 1
    assert "Traceback" not in mixed.errors


def test_the_report_shows_the_last_lines_of_a_failed_build(mixed: Mixed) -> None:
    assert "the compiler is missing" in mixed.report


def containers_of(*tasks: Path) -> list[Container]:
    """The containers of these tasks' images; tests that run at the same time have some of other images."""
    images = {image_of(task) for task in tasks}
    every = docker.from_env().containers.list(all=True, ignore_removed=True)
    return [container for container in every if container.attrs["Config"]["Image"] in images]


def test_no_container_is_left_behind(mixed: Mixed) -> None:
    tasks = [task for task in task_folders(mixed.tasks) if task.name != "no_dockerfile"]
    # Another test may be running one of these tasks just now; what was left behind would sleep for ever.
    until = time.monotonic() + 60
    while (left := containers_of(*tasks)) and time.monotonic() < until:
        time.sleep(1)
    assert left == []


@pytest.fixture
def orphans_removed(tasks: Path) -> Iterator[None]:
    """Remove what a test's smoke run could not remove itself, because its engine was gone."""
    yield
    for container in containers_of(task_folders(tasks)[0]):
        container.remove(force=True)


@pytest.mark.usefixtures("orphans_removed")
def test_an_engine_that_goes_away_is_a_fault_of_each_task_it_leaves_undone(tasks: Path, tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    engine = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    # The first command in a container: by then the image is built, and nothing else has happened.
    FragileSocket(path, engine, last_request=b"/start HTTP/1.1")

    result, table = smoke_test(
        task_folders(tasks)[0],
        tmp_path / "report.md",
        env={**os.environ, "DOCKER_HOST": f"unix://{path}"},
    )

    (row,) = table.values()
    assert "the Docker engine stopped answering" in row["verdict"]
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_without_an_engine_one_line_says_so(tasks: Path, tmp_path: Path) -> None:
    missing = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path / 'none.sock'}"}

    result = script("smoke_test.py", tasks, env=missing)

    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "no Docker engine answers" in result.stderr
    assert "--local" in result.stderr
