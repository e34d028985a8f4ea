"""The recipes of CONTRIBUTING.md, each followed in a copy of the checkout, and the tests that it names run there.

The converter for another benchmark is in tests/pipeline/test_other_benchmark.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.support.data_builder import Data, extract

pytestmark = pytest.mark.slow

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
(LANGUAGE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
(TERM,) = re.findall(r"such as `(criteria\..*?)`", PAGE)
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "data", "demo*", "*.egg-info")


class Checkout:
    """A copy of this checkout to change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(REPOSITORY, folder, ignore=LEFT_OUT, symlinks=True)
        (folder / "data").symlink_to(REPOSITORY / "data")

    def add(self, path: str, text: str) -> None:
        """Add text at the end of a file, which need not exist."""
        with (self.folder / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def insert(self, path: str, after: str, text: str) -> None:
        """Insert text behind a place that the file has exactly once."""
        file = self.folder / path
        before, place, behind = file.read_text(encoding="utf-8").partition(after)
        assert place, f"{path}: no {after!r}"
        assert after not in behind, f"{path}: {after!r} twice"
        file.write_text(before + place + text + behind, encoding="utf-8")

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run Python on the copy, without the variables with which this test was started."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)

    def done(self, *arguments: object) -> str:
        """Run Python on the copy; return what it printed. It must end with exit code 0."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    def make_docs(self) -> None:
        self.done("-m", "tools.docs.generate")

    def tests_pass(self, *names: str) -> None:
        self.done("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", *names)

    def is_linted(self, *paths: str) -> None:
        """As `make check` lints and formats."""
        self.done("-m", "ruff", "check", "--no-cache", *paths)
        self.done("-m", "ruff", "format", "--no-cache", "--check", *paths)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def dataset(data: Data, tmp_path: Path) -> Path:
    """Two tasks that differ in difficulty and title."""
    data.scenario(difficulty="expert", title="Short")
    data.scenario(number=2, difficulty="easy", title="A title that is longer")
    extract(data.folder, tmp_path / "d.jsonl")
    return tmp_path / "d.jsonl"


def selected(checkout: Checkout, dataset: Path, *flags: object) -> tuple[bytes, dict[str, Any]]:
    output = dataset.with_name("s.json")
    checkout.done("select_tasks.py", "--dataset_path", dataset, "--output", output, "--min_context_length", 0, *flags)
    return output.read_bytes(), json.loads(output.read_text())


def alone(name: str) -> list[object]:
    """The flags that rank by one part of the score."""
    return [f"--{name}_weight", 1, "--context_weight", 0, "--files_weight", 0, "--category_weight", 0]


def test_a_category_of_another_benchmark_is_a_bonus(checkout: Checkout, data: Data, tmp_path: Path) -> None:
    data.scenario(task_category="poetry")
    extract(data.folder, tmp_path / "d.jsonl")
    checkout.insert("select_tasks.py", "CATEGORY_BONUSES = {\n", '    "poetry": 0.6,\n')
    _, found = selected(checkout, tmp_path / "d.jsonl", *["--context_weight", 0, "--files_weight", 0.6])
    assert [(task["task_category"], task["score"]) for task in found["tasks"]] == [("poetry", 0.84)]
    checkout.tests_pass("tests/pipeline/test_select_tasks.py", "tests/pipeline/test_sample.py", "-k", "bonus or every")


def test_a_language_is_a_table(checkout: Checkout, tmp_path: Path) -> None:
    checkout.add("templates/environment/languages.toml", "\n" + LANGUAGE)
    code = "import select_tasks, locobench.dataset.catalog as c; print(c.load_language('kotlin')['check'])"
    assert checkout.done("-c", code) == "kotlinc -version\n"
    checkout.tests_pass(
        *("tests/pipeline/test_catalog.py", "tests/pipeline/test_other_benchmark.py", "tests/pipeline/test_sample.py"),
        *("tests/derive/test_strict.py", "-k", "language or table or every"),
    )


def test_a_title_is_a_line_of_the_table(checkout: Checkout) -> None:
    checkout.add("templates/environment/languages.toml", LANGUAGE.replace("[kotlin]", '\n[fsharp]\ntitle = "F#"'))
    code = "from locobench.dataset.catalog import *; print(language_title('fsharp'), language_name('F#'))"
    assert checkout.done("-c", code) == "F# fsharp\n"


def test_a_language_of_derive_is_a_row_its_queries_and_its_names(checkout: Checkout) -> None:
    """ArkTS, which is TypeScript with decorators of its own: its grammar's wheel is there already."""
    code = checkout.folder / "locobench/derive/code"
    checkout.add("templates/environment/languages.toml", '\n[arkts]\npackages = ["nodejs"]\ncheck = "node --version"\n')
    row = """        Language(
            "arkts", "ArkTS", (".ets",), {"": ("tree_sitter_typescript", "language_typescript")},
            _FOLDERS, _THIS, constructor="constructor", shared="script",
        ),
"""
    checkout.insert(
        "locobench/derive/code/languages.py", "LANGUAGES = {\n    language.name: language\n    for language in (\n", row
    )
    shutil.copyfile(code / "queries/typescript.scm", code / "queries/arkts.scm")
    checkout.insert("locobench/derive/code/imports.py", '"typescript": _script,', ' "arkts": _script,')
    modules = "locobench/derive/resolve/modules"
    checkout.insert(f"{modules}/__init__.py", '"typescript": ScriptModules,', ' "arkts": ScriptModules,')
    checkout.insert(f"{modules}/scripts.py", '_SUFFIXES = (".ts", ', '".ets", ')
    checkout.add(
        "tests/derive/test_strict.py",
        """

def test_a_recipe() -> None:
    files = {
        "cart.ets": "export function addUp(prices: number[]): number { return prices.length }\\n",
        "page.ets": "import { addUp } from './cart'\\nexport function showTotal() { return addUp([1]) }\\n",
    }
    assert users("arkts", files, "addUp") == {"page.ets: showTotal"}
""",
    )
    checkout.tests_pass("tests/derive/test_strict.py", "-k", "recipe or every_language")


def add_criterion(checkout: Checkout, term: str, name: str) -> None:
    """A weight, a term of the score and a flag."""
    weight = f"    {name}_weight: float = 0.0\n"
    checkout.insert("locobench/selection/criteria.py", "    difficulties: Sequence[str] | None = None\n", weight)
    last = "            + criteria.category_weight * criteria.category_bonuses[task.task_category]\n"
    checkout.insert("locobench/selection/select.py", last, f"            + {term}\n")
    flag = f'@option("--{name}_weight", type=float, help="Weight in the score (default: 0).")\n'
    checkout.insert("select_tasks.py", '@option("--quiet", is_flag=True, help="No summary.")\n', flag)


def test_a_criterion_is_a_weight_a_term_and_a_flag(checkout: Checkout, dataset: Path) -> None:
    _, before = selected(checkout, dataset)
    add_criterion(checkout, TERM, "difficulty")
    checkout.make_docs()
    _, after = selected(checkout, dataset)
    _, found = selected(checkout, dataset, *alone("difficulty"))
    assert after["tasks"] == before["tasks"]
    assert [(task["difficulty"], task["score"]) for task in found["tasks"]] == [("expert", 1.0), ("easy", 0.0)]
    assert "`--difficulty_weight`" in (checkout.folder / "docs/CLI_REFERENCE.md").read_text()
    checkout.tests_pass("tests/pipeline/test_criteria.py")
    checkout.is_linted("locobench/selection")


def test_a_criterion_on_a_field_of_the_scenario_needs_the_field(checkout: Checkout, dataset: Path) -> None:
    before, _ = selected(checkout, dataset)
    checkout.insert(
        "locobench/selection/candidates.py", "    derived: Derived | None = None\n", '    title: str = ""\n'
    )
    after, _ = selected(checkout, dataset)
    assert after == before
    add_criterion(checkout, "criteria.title_weight * len(task.title) / 100", "title")
    _, found = selected(checkout, dataset, *alone("title"))
    assert [task["score"] for task in found["tasks"]] == [len("A title that is longer") / 100, len("Short") / 100]


def test_a_check_is_a_value_a_method_and_its_case(checkout: Checkout) -> None:
    definitions, grader = "harness/models/definitions.py", "harness/graders/code_graders.py"
    checkout.insert(definitions, '    COMMAND_SUCCEEDS = "command_succeeds"\n', '    FILE_EMPTY = "file_empty"\n')
    row = '    CodeCheckType.FILE_EMPTY: frozenset({"file"}),\n'
    checkout.insert(definitions, 'CodeCheckType.FILE_EXISTS: frozenset({"file"}),\n', row)
    case = """
            case CodeCheckType.FILE_EMPTY:
                return self.grade_file_empty(env_path, file)"""
    checkout.insert(grader, "                return self.grade_file_exists(env_path, file)", case)
    method = '''
    def grade_file_empty(self, env_path: Path, file: str) -> GradeResult:
        """Pass if `file` is a file without content inside the project."""
        empty = read_below(env_path, trees.resolve(env_path, file), MAX_SEARCHED_BYTES) == b""
        return _verdict(CodeCheckType.FILE_EMPTY, empty, f"{file} is {'empty' if empty else 'not empty'}")
'''
    end = '        return _verdict(CodeCheckType.FILE_EXISTS, True, f"{file} exists")\n'
    checkout.insert(grader, end, method)
    checkout.add(
        "tests/harness/test_graders.py",
        """

@pytest.mark.parametrize(("content", "passed"), [("", True), ("x", False)])
def test_a_recipe(tmp_path: Path, content: str, passed: bool) -> None:
    (tmp_path / "log.txt").write_text(content)
    one = task({"check": "file_empty", "file": "log.txt"})
    assert CodeGrader().grade(one.code_assertions[0], tmp_path).passed is passed
""",
    )
    checkout.tests_pass("tests/harness/test_graders.py", "-k", "recipe or contains or exists")
    checkout.is_linted(definitions, grader)


def test_a_report_is_a_function_and_an_option(checkout: Checkout, tmp_path: Path) -> None:
    command = "measure/commands/report.py"
    checkout.add(
        "measure/report/tsv.py",
        """\"\"\"Results as tab-separated values.\"\"\"

from __future__ import annotations

from collections.abc import Sequence

from measure.records import EvalResult


def results_tsv(results: Sequence[EvalResult]) -> str:
    \"\"\"Return a line for each run: task, config and score (0-1).\"\"\"
    return "".join(f"{one.task_id}\\t{one.config_name}\\t{one.overall_score}\\n" for one in results)
""",
    )
    option = '@click.option("--tsv", type=PATH, help="Also write a line for each run.")\n'
    checkout.insert(command, 'help="Also write a results file, with a summary in front.")\n', option)
    checkout.insert(command, "def report(source: Path, json_path: Path | None, ", "tsv: Path | None, ")
    writes = "    if tsv:\n        write_whole(tsv, results_tsv(results))\n"
    checkout.insert(command, "    reporter.print_summary(results)\n", writes)
    checkout.insert(
        command, "from measure.report.reporter import Reporter\n", "from measure.report.tsv import results_tsv\n"
    )
    checkout.make_docs()
    (tmp_path / "table.csv").write_text("task,arm,reward\na,grep,0.25\na,search,0.75\n")
    checkout.done("-m", "harness", "report", tmp_path / "table.csv", "--tsv", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "a\tgrep\t0.25\na\tsearch\t0.75\n"
    assert "`--tsv`" in (checkout.folder / "docs/CLI_REFERENCE.md").read_text()
    checkout.done("-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


def test_a_command_is_a_function_and_a_row(checkout: Checkout, tmp_path: Path) -> None:
    checkout.add(
        "harness/cli/count.py",
        """\"\"\"The command count-runs.\"\"\"

from __future__ import annotations

from pathlib import Path

import click

from measure.commands.options import PATH, load, reward_options


@click.command()
@click.argument("source", type=PATH)
@reward_options
def count_runs(source: Path, reward_key: str, reward_range: tuple[float, float]) -> None:
    \"\"\"Print the number of runs in SOURCE.\"\"\"
    click.echo(len(load(source, reward_key, reward_range)))
""",
    )
    row = '    "count-runs": Entry("harness.cli.count", "Number of runs in a set of results."),\n'
    checkout.insert("harness/cli/__init__.py", "COMMANDS: dict[str, Entry] = {\n", row)
    checkout.make_docs()
    (tmp_path / "table.csv").write_text("task,arm,reward\na,grep,0.25\na,search,0.75\n")
    assert checkout.done("-m", "harness", "count-runs", tmp_path / "table.csv") == "2\n"
    assert "### count-runs" in (checkout.folder / "docs/CLI_REFERENCE.md").read_text()
    checkout.tests_pass("tests/docs/test_docs.py", "-k", "help_in_the_table")
    checkout.is_linted("harness/cli")


def test_a_flag_of_a_script_is_an_option_and_a_parameter(checkout: Checkout, dataset: Path) -> None:
    option = '@option("--ids_only", is_flag=True, help="Print the ids of the selected tasks and nothing else.")\n'
    checkout.insert("select_tasks.py", '@option("--quiet", is_flag=True, help="No summary.")\n', option)
    checkout.insert("select_tasks.py", "    quiet: bool,\n", "    ids_only: bool,\n")
    printed = "    if ids_only:\n        say(' '.join(task.id for _, task in selection.selected))\n"
    checkout.insert(
        "select_tasks.py", "    if not quiet:\n", f"        print_summary(selection)\n{printed}    if not quiet:\n"
    )
    checkout.make_docs()
    assert "`--ids_only`" in (checkout.folder / "docs/CLI_REFERENCE.md").read_text()
    arguments = ["--dataset_path", dataset, "--output", dataset.with_name("s.json"), "--min_context_length", 0]
    shown = checkout.done("select_tasks.py", *arguments, "--quiet", "--ids-only").split()
    assert shown == [task["id"] for task in json.loads(dataset.with_name("s.json").read_text())["tasks"]]
