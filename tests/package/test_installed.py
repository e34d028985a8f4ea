"""Whether `pip install .` gives what the README promises: commands and imports that need no checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from functools import cache
from pathlib import Path

import pytest

from locobench.shared.installation import version
from tests.conftest import REPOSITORY, SAMPLE

pytestmark = pytest.mark.slow

SCRIPTS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["scripts"]

# Every public path of the harness's and the adapter's specification.
PUBLIC = """
locobench: LoCoBenchAdapter LoCoBenchLoader LoCoBenchTask
harness.models: Task TaskCategory TaskDifficulty Config Assertion AssertionType CodeAssertion CodeCheckType LLMAssertion
harness.models: ExecutionTrace TokenUsage ToolCall FileChange GradeResult CriterionScore EvalResult
harness.models: ConfigSnapshot ClaudeConfigSnapshot
harness.runner: EvalRunner
harness.executor: Executor ClaudeExecutor
harness.isolator: EnvironmentIsolator IsolatedEnv
harness.graders.composite_grader: CompositeGrader
harness.graders.code_graders: CodeGrader
harness.graders.llm_graders: LLMGrader
harness.reporter: Reporter AggregatedMetrics
harness.config_exporter: ConfigExporter
harness.config_importer: ConfigImporter
measure.statistics: pass_at_k pass_hat_k wilson_interval
locobench.shared.errors: InputError
"""


LIBRARIES = "libraries.pth"


def packages_of(environment: Path) -> Path:
    """Where an environment has its packages."""
    scheme = {"base": str(environment), "platbase": str(environment)}
    return Path(sysconfig.get_path("purelib", "venv", vars=scheme))


class Installation:
    """The wheel in an environment of its own, run from folders outside of the checkout."""

    def __init__(self, folder: Path, elsewhere: Path) -> None:
        self.bin = folder / "bin"
        self.packages = packages_of(folder)
        self.elsewhere = elsewhere

    @cache  # noqa: B019
    def help_of(self, command: str) -> subprocess.CompletedProcess[str]:
        return self.run(command, "--help")

    def run(self, command: str, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [str(self.bin / command), *map(str, arguments)],
            cwd=cwd or self.elsewhere,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Build the wheel and install it beside the libraries of the running environment, without any download."""
    root = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", root, REPOSITORY]
    subprocess.run(list(map(str, build)), check=True, capture_output=True, timeout=300)
    (wheel,) = root.glob("*.whl")
    folder = root / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [*pip, "--python", python, "install", "--no-deps", "--no-index", wheel]
    subprocess.run(list(map(str, install)), check=True, capture_output=True, timeout=300)
    # The libraries alone: a path file is not read for what it adds, so an editable checkout does not come along.
    (packages_of(folder) / LIBRARIES).write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    return Installation(folder, elsewhere)


def test_two_packages_are_installed_and_nothing_beside_them(installed: Installation) -> None:
    names = {path.name for path in installed.packages.iterdir() if path.suffix != ".dist-info"}
    assert names - {LIBRARIES} == {"harness", "locobench", "measure"}


def test_public_paths_are_imported_from_the_package(installed: Installation) -> None:
    lines = [line.split(": ") for line in PUBLIC.strip().splitlines()]
    program = "\n".join(f"from {module} import {', '.join(names.split())}" for module, names in lines)
    program += "\nimport harness, locobench\nprint(harness.__file__, locobench.__file__)"
    shown = installed.run("python", "-c", program)
    assert shown.stderr == ""
    assert all(str(installed.bin.parent) in path for path in shown.stdout.split())


@pytest.mark.parametrize("command", SCRIPTS)
def test_every_command_says_its_version_and_helps(installed: Installation, command: str) -> None:
    assert installed.run(command, "--version").stdout == f"{command} {version()}\n"
    shown = installed.help_of(command)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.lower().startswith(f"usage: {command}")


def test_without_data_the_command_says_what_is_missing_in_one_line(installed: Installation, tmp_path: Path) -> None:
    shown = installed.run("locobench-extract", cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stderr == (
        "locobench-extract: data: no output/scenarios/ in it;"
        " --data_dir names the folder that holds generated/ and output/\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_installed_command_names_installed_commands(installed: Installation, tmp_path: Path) -> None:
    """The scripts, which only a checkout has, stand neither in its help nor in what it says of bad input."""
    scripts = re.compile(r"\w+\.py\b|python -m harness")
    said = [installed.help_of(command).stdout for command in SCRIPTS]
    said += [installed.run(command, cwd=tmp_path).stderr for command in ("locobench-select", "locobench-smoke")] + [
        installed.run("locobench-generate", "--data_dir", SAMPLE, cwd=tmp_path).stderr
    ]
    assert said[-1] == (
        "locobench-generate: locobench_dataset.jsonl: cannot be read: No such file or directory;"
        " run locobench-extract first or name the file with --dataset_path\n"
    )
    assert {text: found for text in said if (found := set(scripts.findall(text)) - {"verify.py"})} == {}


def test_the_commands_work_in_sequence_in_an_empty_folder(installed: Installation, tmp_path: Path) -> None:
    few = ("--min_context_length", 5000, "--min_files_count", 5, "--languages", "go", "python")
    for command, *arguments in [
        ("locobench-extract", "--data_dir", SAMPLE),
        ("locobench-select", *few),
        ("locobench-generate", "--data_dir", SAMPLE, "--selected_tasks", "selected_tasks.json"),
        ("locobench-smoke", "--local", "--limit_per_language", 1),
    ]:
        shown = installed.run(str(command), *arguments, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
    tasks = sorted(path.name for path in (tmp_path / "tasks").iterdir() if not path.name.startswith("."))
    assert tasks
    assert {name.partition("_")[0] for name in tasks} == {"go", "python"}


def test_a_package_makes_the_same_task_as_the_checkout(installed: Installation, tmp_path: Path) -> None:
    dataset = tmp_path / "dataset.jsonl"
    task = "go_job_scheduler_hard_033_code_comprehension_easy_01"
    arguments = ["--data_dir", SAMPLE, "--dataset_path", dataset, "--task_ids", task, "--output_dir"]
    assert installed.run("locobench-extract", "--data_dir", SAMPLE, "--output", dataset).returncode == 0
    assert installed.run("locobench-generate", *arguments, tmp_path / "tasks").returncode == 0
    again = [sys.executable, REPOSITORY / "run_adapter.py", *arguments, tmp_path / "tasks"]
    shown = subprocess.run(list(map(str, again)), capture_output=True, text=True, timeout=300, check=True)
    assert "0 tasks written" in shown.stdout
    assert "1 unchanged, 0 failed" in shown.stdout


def test_a_package_takes_languages_from_a_file(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[go]\npackages = ["gccgo-go"]\ncheck = "go version"\n')
    task = "go_job_scheduler_hard_033_code_comprehension_easy_01"
    assert installed.run("locobench-extract", "--data_dir", SAMPLE, cwd=tmp_path).returncode == 0
    flags = ["--data_dir", SAMPLE, "--task_ids", task, "--languages", "mine.toml"]
    assert installed.run("locobench-generate", *flags, cwd=tmp_path).returncode == 0
    assert 'packages="gccgo-go"' in (tmp_path / "tasks" / task / "environment/Dockerfile").read_text()


def test_the_harness_validates_a_suite(installed: Installation) -> None:
    task = REPOSITORY / "evals" / "tasks" / "coding" / "ledger-split-cents.task.yaml"
    shown = installed.run("locobench-harness", "validate", "-t", task)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "ledger-split-cents" in shown.stdout


def test_a_scaffold_is_in_the_package(installed: Installation, tmp_path: Path) -> None:
    assert installed.run("locobench-harness", "scaffold", "mine", cwd=tmp_path).returncode == 0
    made, example = tmp_path / "mine", REPOSITORY / "examples/skill"
    assert os.access(made / "run.sh", os.X_OK)
    assert (made / "skills/changelog/SKILL.md").read_text() == (example / "skills/changelog/SKILL.md").read_text()
