"""Whether the pages say what the code does."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from harness.cli import COMMANDS
from harness.executor import ClaudeExecutor
from harness.models.model_ids import DEFAULT_AGENT_MODEL, DEFAULT_JUDGE_MODEL
from harness.suite.load import load_config, load_task
from tests.support.suite import REPOSITORY
from tools.docs import generate

EXAMPLE = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def test_the_reference_of_the_commands_is_up_to_date() -> None:
    assert list(generate.outdated()) == [], "run `make docs`"


def test_a_page_that_was_changed_by_hand_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "PAGES", {"docs/PAGE.md": lambda: "what it should say\n"})
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "docs/PAGE.md").write_text("by hand\n")
    assert generate.main(["--check"]) == 1
    assert (tmp_path / "docs/PAGE.md").read_text() == "by hand\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_in_the_table_of_commands_is_short(name: str) -> None:
    assert len(COMMANDS[name].help) <= 80


def test_example_task_and_config_are_accepted(tmp_path: Path) -> None:
    task, config = EXAMPLE.findall((REPOSITORY / "docs/HARNESS.md").read_text(encoding="utf-8"))
    here = tmp_path / "evals/tasks/coding"
    for path in ("fixtures/shelf", "hidden/fix-auth-bypass", "solutions/fix-auth-bypass", "skills"):
        (tmp_path / "evals" / path).mkdir(parents=True)
    here.mkdir(parents=True)
    (here / "a.task.yaml").write_text(task)
    (here / "config.yaml").write_text(config)
    (here / "search.mcp.json").write_text('{"mcpServers": {}}')
    assert load_task(here / "a.task.yaml").id == "fix-auth-bypass"
    assert load_config(here / "config.yaml").name == "search"


def page(name: str) -> str:
    return (REPOSITORY / "docs" / name).read_text(encoding="utf-8")


def test_every_parameter_of_the_executor_is_told_with_its_default() -> None:
    told = re.findall(r"^\| `(\w+)` \| `(.+?)` \| \w", page("HARNESS.md"), re.MULTILINE)
    parameters = list(inspect.signature(ClaudeExecutor).parameters.values())
    assert told == [(parameter.name, repr(parameter.default)) for parameter in parameters]


def test_the_default_models_are_told() -> None:
    text = page("HARNESS.md")
    assert f"`{DEFAULT_AGENT_MODEL}` and judges are `{DEFAULT_JUDGE_MODEL}`" in text


def test_what_three_runs_find_is_told_as_it_was_simulated() -> None:
    lines = re.findall(r"^\| (.+) \|$", page("STATISTICS.md"), re.MULTILINE)
    heading, *rows = (cells for line in lines if len(cells := line.split(" | ")) == 10)
    found = next(row for row in rows if row[0] == "20 x 3")[heading.index("20 points worse, found")]
    example = page("HARNESS.md").partition("runs_per_combo=3")[2].partition("## ")[0]
    assert f"drop of 20 points in {round(float(found.removesuffix(' %')))} %" in " ".join(example.split())
    assert "python -m harness plan" in example


def test_the_results_of_the_smoke_test_are_those_of_the_sample_and_of_real_scenarios() -> None:
    text = (REPOSITORY / "SMOKE_TEST_RESULTS.md").read_text(encoding="utf-8")
    parts = dict(
        re.findall(r"<!-- smoke test of (\S+): begin -->\n(.*?)<!-- smoke test of \1: end -->", text, re.DOTALL)
    )
    rows = {
        name: re.findall(r"^\| (\w+_\d\d) \|.* 1\.0 \| 0\.0 \| ok \|$", part, re.MULTILINE)
        for name, part in parts.items()
    }
    scenarios = (REPOSITORY / "data/sample/output/scenarios").glob("*.json")
    assert rows["sample-tasks"] == sorted(path.stem for path in scenarios)
    real = rows["locobench-tasks"]
    assert not {*real} & {*rows["sample-tasks"]}
    for name, count in (("the bundled sample", len(rows["sample-tasks"])), ("real scenarios", len(real))):
        assert re.search(rf"^\| {name}.*\| {count} of {count} \|$", text, re.MULTILINE)
