"""What the real claude CLI gets of its user's configuration, of shared servers and of the lists of tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.config_exporter import ConfigExporter
from harness.config_importer import ConfigImporter
from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import ClaudeConfigSnapshot, Config, ErrorKind, Outcome
from harness.runner import EvalRunner
from measure.results.files import load_results
from tests.e2e.claude_runs import TASK, bash, run, servers, skill
from tests.support.stand_in.messages_api import Hang, MessagesAPI, Responder, Text, ToolUse, always, by_prompt
from tests.support.suite import environment

pytestmark = pytest.mark.e2e


def test_a_server_of_every_run_that_does_not_start_is_a_setup_error(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(always(Hang()))
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"search": {"command": "/nowhere/at/all"}}}')
    runner = EvalRunner(ClaudeExecutor(str(claude), mcp_config_path=tmp_path / "mcp.json"))
    result = runner.run_single(TASK, Config(name="c"))
    assert (result.outcome, result.trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED)


def test_a_pattern_allows_some_uses_of_a_tool_and_forbids_others(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    """`--tools` does not know patterns: the agent had no Bash at all."""
    api(by_prompt({"do it": [bash("git --version"), bash("touch out.txt"), Text("Done.")]}))
    git, touch = run(claude, Config(name="c", allowed_tools=["Read", "Bash(git *)"])).trace.tool_calls
    assert (git.error, "denied" in (touch.error or "")) == (None, True)
    result = run(claude, Config(name="c", disallowed_tools=["Bash(git *)", "WebFetch"]))
    git, touch = result.trace.tool_calls
    assert ("denied" in (git.error or ""), touch.error) == (True, None)
    assert "WebFetch" not in (result.trace.offered.tools or [])


def test_a_tool_that_a_server_does_not_have_is_a_setup_error(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(always(Hang()))
    result = run(claude, Config(name="c", mcp_config=servers(tmp_path), allowed_tools=["Read", "mcp__search__fnd"]))
    assert result.outcome is Outcome.SETUP_ERROR
    assert "mcp__search__fnd" in result.trace.error


def test_the_name_of_a_server_is_listed_as_the_cli_writes_it(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    script = servers(tmp_path)["mcpServers"]["search"]
    both = {"mcpServers": {"my search": script, "an other": script}}
    api(by_prompt({"do it": [ToolUse("mcp__my_search__find", {}), ToolUse("mcp__an_other__find", {}), Text("Done.")]}))
    listed, unlisted = run(
        claude, Config(name="c", mcp_config=both, allowed_tools=["Read", "mcp__my_search"])
    ).trace.tool_calls
    assert listed.output == "called find"
    assert "No such tool" in (unlisted.error or "")


def users_configuration(tmp_path: Path) -> ClaudeConfigSnapshot:
    """A snapshot of a home with memory, a skill, a subagent, a hook and a server."""
    home = tmp_path / "home"
    skill(home / ".claude/skills", "users-skill", "SKILL-MARK")
    (home / ".claude/CLAUDE.md").write_text("MEMORY-MARK\n")
    (home / ".claude/agents").mkdir()
    (home / ".claude/agents/users-agent.md").write_text("---\nname: users-agent\ndescription: AGENT-MARK\n---\nx\n")
    (home / ".claude/hooks").mkdir()
    (home / ".claude/hooks/start.sh").write_text("#!/bin/sh\necho HOOK-MARK\n")
    (home / ".claude/hooks/start.sh").chmod(0o755)
    hook = {"hooks": [{"type": "command", "command": "~/.claude/hooks/start.sh"}]}
    (home / ".claude/settings.json").write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))
    (home / ".claude.json").write_text(json.dumps(servers(tmp_path)))
    return ConfigExporter(home / ".claude").export_snapshot()


MARKS = ("MEMORY-MARK", "SKILL-MARK", "AGENT-MARK", "HOOK-MARK", "mcp__search__find")


def seen_marks(server: MessagesAPI) -> set[str]:
    first = server.main_requests[0]
    text = json.dumps(first.body)
    return {mark for mark in MARKS if mark in text}


@pytest.mark.parametrize("names", [None, ("HOME", "CLAUDE_HOME")])
def test_what_an_import_set_up_reaches_the_agent_by_env_override(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI], names: tuple[str, ...] | None
) -> None:
    server = api(by_prompt({"do it": [ToolUse("mcp__search__find", {}), Text("Done.")]}))
    snapshot = users_configuration(tmp_path)
    env = ConfigImporter().setup_ci_environment(snapshot, tmp_path / "ci", disable_mcp=False)
    env = {name: env[name] for name in names or env}
    trace = ClaudeExecutor(str(claude), grace_seconds=2.0).run("do it", Config(name="c"), tmp_path, 60, env)
    assert trace.outcome is Outcome.COMPLETED, trace.error
    assert trace.tool_calls[0].output == "called find"
    assert seen_marks(server) == set(MARKS)


def test_a_snapshot_is_a_config_beside_others(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    (tmp_path / "mine.json").write_text(users_configuration(tmp_path).model_dump_json())
    (tmp_path / "plain.config.yaml").write_text("name: plain\n")
    (tmp_path / "mine.config.yaml").write_text("name: mine\nsnapshot: mine.json\n")
    (tmp_path / "t.task.yaml").write_text("{id: t, category: coding, description: d, prompt: do it}\n")
    command = ["matrix", "-t", "*.task.yaml", "-c", "*.config.yaml", "-r", "1", "-o", "out.json"]
    shown = subprocess.run(
        [sys.executable, "-m", "harness", *command, "--claude", str(claude)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    offered = {r.config_name: r.trace.offered for r in load_results(tmp_path / "out.json")}
    assert offered["mine"].servers == {"search": "connected"}
    assert offered["plain"].servers == {}
    marked = [{mark for mark in MARKS if mark in json.dumps(request.body)} for request in server.main_requests]
    assert [marks for marks in marked if marks] == [set(MARKS)] * 2


def test_agents_md_beside_claude_md_reaches_the_model_with_it(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    result = run(claude, Config(name="c", claude_md="MEMORY-MARK", agents_md="AGENTS-MARK"))
    assert result.passed, result.why
    assert all(mark in server.main_requests[0].text for mark in ("MEMORY-MARK", "AGENTS-MARK"))


def test_runs_below_a_home_have_nothing_of_it(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    users_configuration(tmp_path)
    home = tmp_path / "home"
    for name in ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/rules/r.md", ".claude/commands/c.md"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("HOME-MARK")
    (home / ".mcp.json").write_text((home / ".claude.json").read_text())
    (home / "runs").mkdir()
    runner = EvalRunner(ClaudeExecutor(str(claude)), isolator=EnvironmentIsolator(home / "runs"))
    for config in (Config(name="c"), Config(name="d", claude_md="OWN-MARK")):
        result = runner.run_single(TASK, config)
        assert result.passed, result.why
    assert not [r for r in server.main_requests if any(m in json.dumps(r.body) for m in (*MARKS, "HOME-MARK"))]


def test_a_secret_of_a_snapshots_server_comes_from_the_host(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    monkeypatch.setenv("SERVER_ON_THIS_HOST", sys.executable)
    servers(tmp_path)
    server = {"command": "${SERVER}", "args": [str(tmp_path / "server.py")]}
    made = ClaudeConfigSnapshot.model_validate({"snapshot_timestamp": 0, "mcp_servers": {"search": server}})
    (tmp_path / "mine.json").write_text(made.model_dump_json())
    env = {"SERVER": "${SERVER_ON_THIS_HOST}"}
    assert run(claude, Config(name="c", snapshot=tmp_path / "mine.json", env=env)).passed
