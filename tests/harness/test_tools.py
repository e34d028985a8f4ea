"""What the lists of tools of a config may name, and what they mean for the CLI."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.models import Config
from harness.runner import EvalRunner
from locobench.shared.errors import InputError
from tests.support.fake_claude import FakeClaude, calls, play
from tests.support.suite import harness, make_suite, matrix

SERVERS = {"mcpServers": {"search": {"command": "x"}, "my docs": {"command": "y"}}}


@pytest.mark.parametrize("field", ["allowed_tools", "disallowed_tools"])
@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ("Raed", "did you mean Read"),
        ("bash", "did you mean Bash"),
        ("Bsh(git *)", "did you mean Bash"),
        ("Xyzzy", "known: .*WebFetch"),
    ],
)
def test_a_tool_that_is_not_known_causes_a_warning_with_a_suggestion(
    tmp_path: Path, field: str, entry: str, hint: str
) -> None:
    """A later version of the CLI may have it; this one drops such a name without a word."""
    (tmp_path / "config.yaml").write_text(f"name: c\n{field}: [Read, '{entry}']\n")
    with pytest.warns(UserWarning, match=rf"config c: {field}: .*{hint}"):
        config = EvalRunner.load_config(tmp_path / "config.yaml")
    assert getattr(config, field) == ["Read", entry]


@pytest.mark.parametrize("field", ["allowed_tools", "disallowed_tools"])
def test_what_is_no_entry_of_a_list_of_tools_is_refused(tmp_path: Path, field: str) -> None:
    (tmp_path / "config.yaml").write_text(f"name: c\n{field}: [Read, 'Bash(git *']\n")
    with pytest.raises(InputError, match=rf"config\.yaml:2: {field}: .*write Name, Name\(pattern\)"):
        EvalRunner.load_config(tmp_path / "config.yaml")


def test_an_unknown_tool_is_named_once_and_a_run_without_it_is_lost(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    (root / "configs/c0/config.yaml").write_text("name: c0\nallowed_tools: [Read, Raed]\n")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert shown.stderr.count("no tool is known that is named 'Raed'; did you mean Read?") == 1
    (result,) = EvalRunner.load_results(root / "out.json")
    assert (result.outcome, result.trace.error) == ("setup_error", "not loaded: tool Raed")


@pytest.mark.parametrize("entry", ["mcp__serch__find", "mcp__serch", "mcp__searching"])
@pytest.mark.parametrize("field", ["allowed_tools", "disallowed_tools"])
def test_a_server_that_is_not_configured_is_refused(tmp_path: Path, field: str, entry: str) -> None:
    config = Config.model_validate({"name": "c", "mcp_config": SERVERS, field: [entry]})
    with pytest.raises(InputError, match=f"config c: {field}: {entry} matches no MCP server; .*mcp__search"):
        play(tmp_path, config=config)
    assert calls(tmp_path / "bin/claude") == []


def test_a_matrix_refuses_such_a_server_before_its_first_run(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=2)
    (root / "configs/c1/config.yaml").write_text("name: c1\nallowed_tools: [Read, mcp__search]\n")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert (shown.returncode, calls(root / "bin/claude")) == (2, [])
    assert shown.stderr.startswith("error: config c1: allowed_tools: mcp__search matches no MCP server; there is none")
    assert shown.stderr.count("\n") == 1


def test_a_server_of_every_run_may_be_listed(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    (root / "configs/c0/config.yaml").write_text("name: c0\nallowed_tools: [Read, mcp__search]\n")
    (root / "mcp.json").write_text('{"mcpServers": {"search": {"command": "x"}}}')
    matrix(root, "-r", "1", "-o", "out.json", "--mcp-config", "mcp.json")
    assert len(calls(root / "bin/claude")) == 1
    check = ["validate", "-c", "configs/c0/config.yaml"]
    assert harness(root, *check).returncode == 2
    assert harness(root, *check, "--mcp-config", "mcp.json").returncode == 0


def test_servers_of_every_run_that_are_not_listed_are_removed(tmp_path: Path) -> None:
    """Those of the config were; those of --mcp-config stayed."""
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"my search": {"command": "x"}}}')
    claude = FakeClaude().install(tmp_path / "bin")
    executor = ClaudeExecutor(str(claude), mcp_config_path=tmp_path / "mcp.json")
    executor.run("p", Config(name="c", allowed_tools=["Read"]), tmp_path)
    argv = calls(claude)[0]["argv"]
    assert argv[argv.index("--disallowedTools") + 1] == "mcp__my_search"


def test_a_pattern_allows_its_tool_and_denies_other_uses_of_it() -> None:
    command = ClaudeExecutor()._build_command(Config(name="c", allowed_tools=["Read", "Bash(git *)", "Bash(ls)"]))
    assert command[command.index("--tools") + 1] == "Read,Bash"
    assert command[command.index("--permission-mode") + 1] == "dontAsk"
    assert command[command.index("--allowedTools") + 1 :][:3] == ["Read", "Bash(git *)", "Bash(ls)"]
    assert "--dangerously-skip-permissions" not in command


def test_disallowed_tools_are_taken_from_all_the_others() -> None:
    config = Config(name="c", disallowed_tools=["WebFetch", "Bash(rm *)", "mcp__search__find"], mcp_config=SERVERS)
    command = ClaudeExecutor()._build_command(config)
    assert command[command.index("--disallowedTools") + 1 :][:3] == config.disallowed_tools
    assert "--dangerously-skip-permissions" in command


def test_a_skill_may_be_allowed_by_a_pattern(tmp_path: Path) -> None:
    assert Config(name="c", skills_path=tmp_path, allowed_tools=["Skill(pdf)"]).skills_path == tmp_path
