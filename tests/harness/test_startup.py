"""Whether a run counts whose config did not reach the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import Config, ErrorKind, Outcome
from tests.support.fake_claude import FakeClaude, play


def test_a_skill_that_did_not_load_is_a_setup_error(tmp_path: Path) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill"))
    trace = play(tmp_path, FakeClaude(patch_init={"skills": ["other"]}), config)
    assert (trace.outcome, trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED)
    assert "skill my-skill" in trace.error


def test_a_skill_that_loaded_is_no_error(tmp_path: Path) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill"))
    trace = play(tmp_path, FakeClaude(patch_init={"skills": ["my-skill"]}), config)
    assert trace.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("status", ["failed", "pending", "needs-auth"])
def test_an_mcp_server_that_is_not_connected_is_a_setup_error(tmp_path: Path, status: str) -> None:
    config = Config(name="c", mcp_config={"mcpServers": {"search": {"command": "x"}}})
    servers = [{"name": "search", "status": status}]
    trace = play(tmp_path, FakeClaude(patch_init={"mcp_servers": servers}), config)
    assert trace.outcome is Outcome.SETUP_ERROR
    assert f"search ({status})" in trace.error


def test_a_subagent_that_did_not_load_is_a_setup_error(tmp_path: Path) -> None:
    config = Config(name="c", agents_md="---\nname: helper\ndescription: d\n---\ntext\n")
    trace = play(tmp_path, FakeClaude(), config)
    assert trace.outcome is Outcome.SETUP_ERROR
    assert "agent helper" in trace.error


@pytest.mark.parametrize(("loads", "outcome"), [(True, Outcome.COMPLETED), (False, Outcome.SETUP_ERROR)])
def test_a_claude_md_that_did_not_load_is_a_setup_error(tmp_path: Path, loads: bool, outcome: Outcome) -> None:
    claude = FakeClaude(loads_claude_md=loads).install(tmp_path / "bin")
    config = Config(name="c", claude_md="# Rules")
    with EnvironmentIsolator().create_environment(claude_md=config.claude_md) as env:
        trace = ClaudeExecutor(str(claude)).run("p", config, env.path, 20, dict(env.variables))
    assert trace.outcome is outcome


def _skill(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\n")
    return folder.parent
