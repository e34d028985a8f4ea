"""Whether a run counts whose config did not reach the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config_importer import ConfigImporter
from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import ClaudeConfigSnapshot, Config, ErrorKind, Outcome, Task
from harness.runner import EvalRunner
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


def test_a_server_of_every_run_that_is_not_connected_is_a_setup_error(tmp_path: Path) -> None:
    """Only the config's own servers were looked for."""
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"search": {"command": "x"}}}')
    claude = FakeClaude(patch_init={"mcp_servers": [{"name": "search", "status": "failed"}]}).install(tmp_path / "bin")
    executor = ClaudeExecutor(str(claude), mcp_config_path=tmp_path / "mcp.json")
    trace = executor.run("p", Config(name="c"), tmp_path)
    assert (trace.outcome, trace.error) == (Outcome.SETUP_ERROR, "not loaded: MCP server search (failed)")


@pytest.mark.parametrize("name", ["Grep", "mcp__search__find"])
def test_a_tool_that_is_named_and_not_offered_is_a_setup_error(tmp_path: Path, name: str) -> None:
    config = Config(
        name="c", allowed_tools=["Read", "Agent", name], mcp_config={"mcpServers": {"search": {"command": "x"}}}
    )
    servers = [{"name": "search", "status": "connected"}]
    trace = play(tmp_path, FakeClaude(patch_init={"mcp_servers": servers, "tools": ["Read", "Task"]}), config)
    assert trace.error == f"not loaded: tool {name}"


def test_a_server_that_the_users_folder_gives_and_did_not_connect_is_a_setup_error(tmp_path: Path) -> None:
    """A configuration folder that env_override names was never looked at."""
    fields = {"snapshot_timestamp": 0, "mcp_servers": {"search": {"command": "x"}}}
    snapshot = ClaudeConfigSnapshot.model_validate(fields)
    env = ConfigImporter().setup_ci_environment(snapshot, tmp_path / "ci", disable_mcp=False)
    trace = ClaudeExecutor(str(FakeClaude().install(tmp_path / "bin"))).run("p", Config(name="c"), tmp_path, 20, env)
    assert (trace.outcome, trace.error) == (Outcome.SETUP_ERROR, "not loaded: MCP server search (unknown)")


@pytest.mark.parametrize("line", ["user-invocable: false", "paths: ['src/**']"])
def test_a_skill_that_the_cli_does_not_list_is_not_missed(tmp_path: Path, line: str) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill", line))
    assert play(tmp_path, FakeClaude(), config).outcome is Outcome.COMPLETED


def test_a_skill_that_is_listed_as_a_command_alone_is_not_missed(tmp_path: Path) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill"))
    fake = FakeClaude(patch_init={"skills": [], "slash_commands": ["my-skill"]})
    assert play(tmp_path, fake, config).outcome is Outcome.COMPLETED


def test_memory_that_the_users_settings_keep_from_being_told_is_not_missed(tmp_path: Path) -> None:
    snapshot = ClaudeConfigSnapshot.model_validate(
        {"snapshot_timestamp": 0, "settings": {"disableAllHooks": True}, "global_claude_md": "# Rules"}
    )
    (tmp_path / "mine.json").write_text(snapshot.model_dump_json())
    runner = EvalRunner(ClaudeExecutor(str(FakeClaude(loads_claude_md=False).install(tmp_path / "bin"))))
    task = Task.model_validate({"id": "t", "category": "coding", "description": "d", "prompt": "p"})
    result = runner.run_single(task, Config(name="c", snapshot=tmp_path / "mine.json"))
    assert result.outcome is Outcome.COMPLETED, result.why


def test_memory_from_outside_of_a_run_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("leak")
    (tmp_path / "base").mkdir()
    claude = FakeClaude(loads=[str(tmp_path / "CLAUDE.md")]).install(tmp_path / "bin")
    with EnvironmentIsolator(tmp_path / "base").create_environment() as env:
        trace = ClaudeExecutor(str(claude)).run("p", Config(name="c"), env.path, 20, dict(env.variables))
    assert trace.outcome is Outcome.SETUP_ERROR
    assert str(tmp_path / "CLAUDE.md") in trace.error


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


def _skill(tmp_path: Path, name: str, line: str = "") -> Path:
    folder = tmp_path / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n{line}\n---\n")
    return folder.parent
