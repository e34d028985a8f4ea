"""What the CLI is given: arguments, prompt and environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import Config, Outcome
from locobench.shared.errors import InputError
from tests.support.fake_claude import FakeClaude, calls, play


def test_allowed_tools_restrict_what_is_available() -> None:
    """--allowedTools restricts nothing once permissions are skipped."""
    command = ClaudeExecutor()._build_command(Config(name="c", allowed_tools=["Read", "Edit"]))
    assert command[command.index("--tools") + 1] == "Read,Edit"
    assert "--allowedTools" not in command


def test_unlisted_mcp_servers_are_removed() -> None:
    servers = {"mcpServers": {"search": {"command": "x"}, "other": {"command": "y"}}}
    config = Config(name="c", allowed_tools=["Read", "mcp__search"], mcp_config=servers)
    command = ClaudeExecutor()._build_command(config)
    assert command[command.index("--disallowedTools") + 1] == "mcp__other"


def test_single_tools_of_a_server_are_allowed_by_denying_all_others() -> None:
    config = Config(name="c", allowed_tools=["Read", "mcp__search__find"])
    command = ClaudeExecutor()._build_command(config)
    assert command[command.index("--permission-mode") + 1] == "dontAsk"
    assert "--dangerously-skip-permissions" not in command


def test_claude_md_is_not_given_a_second_time_on_the_command_line() -> None:
    """It is a file of the project, as users have it, and no system prompt."""
    command = ClaudeExecutor()._build_command(Config(name="c", claude_md="# Rules"))
    assert not [part for part in command if "system-prompt" in part or "Rules" in part]


def test_command_carries_budget_effort_model_and_turns() -> None:
    config = Config(name="c", model="m", max_turns=7, max_budget_usd=0.5, effort="high")
    command = ClaudeExecutor()._build_command(config)
    for flag, value in (
        ("--model", "m"),
        ("--max-turns", "7"),
        ("--max-budget-usd", "0.5"),
        ("--effort", "high"),
    ):
        assert command[command.index(flag) + 1] == value


def test_ci_mode_and_servers_of_every_run_reach_the_command(tmp_path: Path) -> None:
    mcp = tmp_path / "mcp.json"
    mcp.write_text('{"mcpServers": {"shared": {"command": "x"}, "both": {"command": "shared"}}}')
    claude = FakeClaude().install(tmp_path / "bin")
    config = Config(name="c", mcp_config={"mcpServers": {"both": {"command": "own"}}})
    ClaudeExecutor(str(claude), ci_mode=True, mcp_config_path=mcp).run("p", config, tmp_path)
    (call,) = calls(claude)
    assert "--no-session-persistence" in call["argv"]
    assert call["mcp"] == {"mcpServers": {"shared": {"command": "x"}, "both": {"command": "own"}}}


@pytest.mark.parametrize("prompt", ["--help me", "", "x" * 200_000, "ünïcode\n"], ids=["dash", "empty", "huge", "utf8"])
def test_prompt_reaches_the_cli_on_stdin_as_it_is(tmp_path: Path, prompt: str) -> None:
    claude = FakeClaude().install(tmp_path / "bin")
    trace = ClaudeExecutor(str(claude)).run(prompt, Config(name="c"), tmp_path)
    assert calls(claude)[0]["prompt"] == prompt
    assert trace.claude_prompt == prompt


def test_the_users_environment_does_not_reach_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home, config folder, nested-session variables and model overrides would change what is measured."""
    for name in (
        "CLAUDECODE",
        "CLAUDE_CODE_SSE_PORT",
        "ANTHROPIC_MODEL",
        "MY_DATABASE_PASSWORD",
        "CLAUDE_HOME",
    ):
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-key")
    claude = FakeClaude().install(tmp_path / "bin")
    with EnvironmentIsolator().create_environment() as env:
        ClaudeExecutor(str(claude)).run("p", Config(name="c"), env.path, 20, dict(env.variables))
        home = str(env.temp_root / "home")
    seen = calls(claude)[0]["env"]
    assert "leak" not in seen.values()
    assert seen["HOME"] == home
    assert seen["CLAUDE_CONFIG_DIR"] == f"{home}/.claude"
    assert seen["ANTHROPIC_API_KEY"] == "sk-test-key"


def test_home_and_claude_home_are_enough_to_have_a_configuration(tmp_path: Path) -> None:
    """The CLI itself reads CLAUDE_CONFIG_DIR alone, and settings only where a flag names their source."""
    configuration = tmp_path / "home/.claude"
    configuration.mkdir(parents=True)
    (configuration / "CLAUDE.md").write_text("# Mine")
    variables = {"HOME": str(tmp_path / "home"), "CLAUDE_HOME": str(configuration)}
    claude = FakeClaude().install(tmp_path / "bin")
    with EnvironmentIsolator().create_environment() as env:
        log = {"HARNESS_INSTRUCTIONS_LOG": env.variables["HARNESS_INSTRUCTIONS_LOG"]}
        trace = ClaudeExecutor(str(claude)).run("p", Config(name="c"), env.path, 20, {**variables, **log})
    (call,) = calls(claude)
    assert trace.outcome is Outcome.COMPLETED, trace.error
    assert call["argv"][call["argv"].index("--setting-sources") + 1] == "user,project"
    assert call["env"]["CLAUDE_CONFIG_DIR"] == str(configuration)


def test_user_settings_and_servers_are_shut_out_by_flags(tmp_path: Path) -> None:
    command = ClaudeExecutor()._build_command(Config(name="c"))
    assert command[command.index("--setting-sources") + 1] == "project"
    assert "--strict-mcp-config" in command


def test_env_of_the_config_takes_values_from_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "from-host")
    claude = FakeClaude().install(tmp_path / "bin")
    config = Config(name="c", env={"A": "plain", "B": "${SEARCH_TOKEN}"})
    ClaudeExecutor(str(claude)).run("p", config, tmp_path)
    seen = calls(claude)[0]["env"]
    assert (seen["A"], seen["B"]) == ("plain", "from-host")


def test_env_that_the_host_does_not_have_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"env\.B: \$\{NO_SUCH_VARIABLE\} is not set"):
        play(tmp_path, config=Config(name="c", env={"B": "${NO_SUCH_VARIABLE}"}))
