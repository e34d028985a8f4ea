"""Whether the pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.cli import COMMANDS
from harness.suite.load import load_config, load_task
from tests.support.suite import REPOSITORY
from tools.docs import generate

EXAMPLE = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def test_the_reference_of_the_commands_is_up_to_date() -> None:
    assert list(generate.outdated()) == [], "run `make docs`"


def test_a_page_that_was_changed_by_hand_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "PAGES", {"docs/PAGE.md": lambda root: f"of {root.name}\n"})
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
    assert load_config(here / "config.yaml").name == "with-search"
