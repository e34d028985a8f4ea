"""`confirm`: the suspects alone are run again, with fresh runs, and decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import cli
from harness.results.files import load_results, results_json
from harness.results.journal import read_journal
from tests.support.fake_claude import FakeClaude
from tests.support.results import arm

TASK = """\
id: {id}
category: coding
description: d
prompt: Fix it.
assertions: [{{type: code, check: file_exists, file: {file}}}]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two tasks, of which `broken` looks worse with the config `full`."""
    (tmp_path / "broken.task.yaml").write_text(TASK.format(id="broken", file="never.txt"))
    (tmp_path / "steady.task.yaml").write_text(TASK.format(id="steady", file="done.txt"))
    for name in ("base", "full"):
        (tmp_path / f"{name}.config.yaml").write_text(f"name: {name}\nmodel: m\n")
    before = arm({"broken": 5, "steady": 5}, 5, config="base")
    after = arm({"broken": 0, "steady": 5}, 5, config="full")
    (tmp_path / "a.json").write_text(results_json(before))
    (tmp_path / "b.json").write_text(results_json(after))
    (tmp_path / "same.json").write_text(results_json(arm({"broken": 0, "steady": 5}, 5, config="base")))
    return tmp_path


def confirm(place: Path, a: str, b: str, *more: str) -> Result:
    claude = FakeClaude(writes={"done.txt": "x"}, own_session=True).install(place / "bin")
    arguments = ["confirm", str(place / a), str(place / b), "-t", f"{place}/*.task.yaml", "-c"]
    arguments += [
        f"{place}/*.config.yaml",
        "-r",
        "6",
        "-o",
        str(place / "fresh.json"),
        "--claude",
        str(claude),
    ]
    return CliRunner().invoke(cli, [*arguments, *more])


@pytest.mark.slow
def test_only_suspects_are_run_again_in_both_configs(place: Path) -> None:
    result = confirm(place, "a.json", "b.json")
    fresh = load_results(place / "fresh.json")
    assert {(r.task_id, r.config_name) for r in fresh} == {("broken", "base"), ("broken", "full")}
    assert len(fresh) == 12
    assert "no evidence" in result.output
    assert result.exit_code == 0


def test_the_same_config_is_run_again_on_the_current_side_alone(place: Path) -> None:
    result = confirm(place, "a.json", "same.json")
    assert len(load_results(place / "fresh.json")) == 6
    assert result.exit_code == 1


@pytest.mark.slow
def test_models_of_the_arms_are_run_again_in_one_journal(place: Path) -> None:
    other = arm({"broken": 0, "steady": 5}, 5, config="base", model="m2")
    (place / "other.json").write_text(results_json(other))
    confirm(place, "a.json", "other.json")
    fresh = read_journal(place / "fresh.journal.jsonl")
    assert {(r.task_id, r.config_name, r.model) for r in fresh} == {("broken", "base", "m"), ("broken", "base", "m2")}
    assert len(fresh) == 12


def test_paid_runs_are_not_overwritten(place: Path) -> None:
    (place / "fresh.json").write_text("mine")
    result = confirm(place, "a.json", "b.json")
    assert (result.exit_code, (place / "fresh.json").read_text()) == (2, "mine")


def test_a_dry_run_starts_nothing(place: Path) -> None:
    result = confirm(place, "a.json", "b.json", "--dry-run")
    assert "1 suspect, 12 fresh runs: broken" in result.output
    assert not (place / "fresh.json").exists()


def test_nothing_suspect_is_nothing_to_do(place: Path) -> None:
    result = confirm(place, "a.json", "a.json")
    assert "nothing to confirm" in result.output
    assert result.exit_code == 0


def test_a_task_without_a_file_is_one_line(place: Path) -> None:
    (place / "broken.task.yaml").unlink()
    result = confirm(place, "a.json", "b.json")
    assert result.exit_code == 2
    assert "no task file for broken" in result.stderr
