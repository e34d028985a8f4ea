"""How the executor runs the CLI and reads what it prints, against recorded outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.errors import InputError
from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import Config, ErrorKind, ExecutionTrace, Outcome
from tests.fake_claude import RECORDED, FakeClaude, calls


def run(
    tmp_path: Path,
    fake: FakeClaude | None = None,
    config: Config | None = None,
    *,
    timeout: int = 20,
    **options: float,
) -> ExecutionTrace:
    claude = (fake or FakeClaude()).install(tmp_path / "bin")
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    executor = ClaudeExecutor(str(claude), **options)  # type: ignore[arg-type]
    return executor.run("do it", config or Config(name="c"), project, timeout)


def parse(name: str, returncode: int = 0) -> ExecutionTrace:
    output = (RECORDED / name).read_text(encoding="utf-8")
    return ClaudeExecutor()._parse_output(output, returncode)


OUTCOMES = [
    ("ok_stream", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("ok_json", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("ok_json_verbose_list", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("permission_denied_stream", 0, Outcome.COMPLETED, ErrorKind.NONE),
    ("max_turns_stream", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    ("max_turns_json", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_TURNS),
    ("budget_stream", 1, Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET),
    ("not_logged_in_stream", 1, Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("auth_401_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("model_404_stream", 1, Outcome.INFRA_ERROR, ErrorKind.MODEL_NOT_FOUND),
    ("credit_400_stream", 1, Outcome.INFRA_ERROR, ErrorKind.CREDIT),
    ("rate_limit_429_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    ("overloaded_529_exhausted_stream", 1, Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    ("root_refused", 1, Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED),
    ("unknown_flag", 1, Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED),
]


@pytest.mark.parametrize(("name", "code", "outcome", "kind"), OUTCOMES, ids=[row[0] for row in OUTCOMES])
def test_recorded_output_played_by_the_cli_has_its_outcome(
    tmp_path: Path, name: str, code: int, outcome: Outcome, kind: ErrorKind
) -> None:
    stderr = RECORDED / f"{name}.stderr"
    fake = FakeClaude(f"{name}.stdout", code=code, stderr=stderr.read_text() if stderr.exists() else "")
    trace = run(tmp_path, fake)
    assert (trace.outcome, trace.error_kind) == (outcome, kind)
    assert trace.is_error == (outcome is not Outcome.COMPLETED)


KILLED = [
    ("auth_401_killed_stream", Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("rate_limit_429_killed_stream", Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    ("overloaded_529_killed_stream", Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    ("hang_sigterm_stream", Outcome.TIMEOUT, ErrorKind.TIME_LIMIT),
]


@pytest.mark.parametrize(("name", "outcome", "kind"), KILLED, ids=[row[0] for row in KILLED])
def test_recorded_output_of_a_run_that_hangs_has_its_outcome(
    tmp_path: Path, name: str, outcome: Outcome, kind: ErrorKind
) -> None:
    trace = run(tmp_path, FakeClaude(f"{name}.stdout", hang=True), timeout=1)
    assert (trace.outcome, trace.error_kind) == (outcome, kind)


def test_every_recorded_file_is_played() -> None:
    played = {row[0] for row in OUTCOMES} | {row[0] for row in KILLED}
    assert {path.stem for path in RECORDED.iterdir()} == played


def test_empty_output_with_exit_code_1_is_an_error_with_the_reason_of_stderr(tmp_path: Path) -> None:
    """A refused start used to count as a finished run, graded on the untouched fixture."""
    stderr = (RECORDED / "root_refused.stderr").read_text()
    trace = run(tmp_path, FakeClaude("", code=1, stderr=stderr))
    assert trace.is_error
    assert "root/sudo" in trace.error
    assert trace.stderr == stderr


def test_cache_tokens_are_counted() -> None:
    """They are called cache_read_input_tokens and cache_creation_input_tokens."""
    usage = parse("ok_stream.stdout").usage
    assert (usage.cache_read_tokens, usage.cache_creation_tokens) == (15000, 3000)
    assert usage.total_tokens == 360 + 126
    assert usage.total_tokens_with_cache == 360 + 126 + 15000 + 3000


def test_totals_of_a_killed_run_count_each_message_once() -> None:
    """The CLI prints one line per content block, and each repeats the usage of its message."""
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines()[:-1]
    trace = ClaudeExecutor()._parse_output("\n".join(lines), 1)
    assert trace.usage.input_tokens == 3 * 120
    assert trace.cost_usd is None


def test_tool_calls_have_inputs_outputs_errors_and_times() -> None:
    """The json format has no tool calls; only the stream has."""
    bash, read = parse("ok_stream.stdout").tool_calls
    assert (bash.name, bash.input["description"], bash.error) == ("Bash", "list", None)
    assert "total 8" in (bash.output or "")
    assert (read.name, read.output) == ("Read", None)
    assert "File does not exist" in (read.error or "")
    assert bash.timestamp is not None
    assert bash.duration_seconds is not None


def test_executor_extracts_tool_calls_from_messages() -> None:
    messages = json.loads((RECORDED / "ok_json_verbose_list.stdout").read_text())
    assert [call.name for call in ClaudeExecutor()._extract_tool_calls(messages)] == ["Bash", "Read"]


@pytest.mark.parametrize("name", ["ok_stream", "ok_json", "ok_json_verbose_list"])
def test_stream_object_and_list_outputs_give_the_same_totals(name: str) -> None:
    """A list used to raise AttributeError."""
    trace = parse(f"{name}.stdout")
    assert (trace.result, trace.num_turns, trace.cost_usd) == ("Done. The work is finished.", 3, 0.01872)
    assert trace.usage.input_tokens == 360


def test_subagents_count_in_the_totals() -> None:
    usage = {"main": {"inputTokens": 10, "outputTokens": 1}, "helper": {"inputTokens": 5, "outputTokens": 2}}
    result = {
        "type": "result",
        "is_error": False,
        "subtype": "success",
        "modelUsage": usage,
        "total_cost_usd": 0.5,
    }
    trace = ClaudeExecutor()._parse_output(json.dumps(result))
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.cost_usd) == (15, 3, 0.5)


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


def test_ci_mode_and_extra_mcp_servers_reach_the_command(tmp_path: Path) -> None:
    mcp = tmp_path / "mcp.json"
    mcp.write_text('{"mcpServers": {}}')
    claude = FakeClaude().install(tmp_path / "bin")
    ClaudeExecutor(str(claude), ci_mode=True, mcp_config_path=mcp).run("p", Config(name="c"), tmp_path)
    argv = calls(claude)[0]["argv"]
    assert "--no-session-persistence" in argv
    assert argv[argv.index("--mcp-config") + 1] == str(mcp)


@pytest.mark.parametrize(
    "prompt", ["--help me", "", "x" * 200_000, "ünïcode\n"], ids=["dash", "empty", "huge", "utf8"]
)
def test_prompt_reaches_the_cli_on_stdin_as_it_is(tmp_path: Path, prompt: str) -> None:
    claude = FakeClaude().install(tmp_path / "bin")
    trace = ClaudeExecutor(str(claude)).run(prompt, Config(name="c"), tmp_path)
    assert calls(claude)[0]["prompt"] == prompt
    assert trace.claude_prompt == prompt


def test_response_and_stderr_are_kept(tmp_path: Path) -> None:
    """Without them nobody can explain a run."""
    trace = run(tmp_path, FakeClaude(stderr="a warning\n"))
    assert trace.claude_response.count("I will use a tool.") == 2
    assert trace.claude_response.endswith("Done. The work is finished.")
    assert trace.stderr == "a warning\n"


def test_a_run_that_finishes_with_its_last_turn_did_not_hit_the_limit(tmp_path: Path) -> None:
    """Counting turns called every run a hit that used exactly as many as it had."""
    trace = run(tmp_path, config=Config(name="c", max_turns=3))
    assert trace.num_turns == 3
    assert not trace.hit_turn_limit


def test_the_turn_limit_is_hit_when_the_cli_says_so(tmp_path: Path) -> None:
    trace = run(tmp_path, FakeClaude("max_turns_stream.stdout", code=1), Config(name="c", max_turns=2))
    assert trace.hit_turn_limit
    assert trace.num_turns == 3


def test_the_users_environment_does_not_reach_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_user_settings_and_servers_are_shut_out_by_flags(tmp_path: Path) -> None:
    command = ClaudeExecutor()._build_command(Config(name="c"))
    assert command[command.index("--setting-sources") + 1] == "project"
    assert "--strict-mcp-config" in command


def test_env_of_the_config_takes_values_from_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_TOKEN", "from-host")
    claude = FakeClaude().install(tmp_path / "bin")
    config = Config(name="c", env={"A": "plain", "B": "${SEARCH_TOKEN}"})
    ClaudeExecutor(str(claude)).run("p", config, tmp_path)
    seen = calls(claude)[0]["env"]
    assert (seen["A"], seen["B"]) == ("plain", "from-host")


def test_env_that_the_host_does_not_have_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"env\.B: \$\{NO_SUCH_VARIABLE\} is not set"):
        run(tmp_path, config=Config(name="c", env={"B": "${NO_SUCH_VARIABLE}"}))


def test_missing_executable_is_an_infra_error(tmp_path: Path) -> None:
    trace = ClaudeExecutor(str(tmp_path / "nothing")).run("p", Config(name="c"), tmp_path)
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED)


def test_output_before_a_timeout_is_kept(tmp_path: Path) -> None:
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines(keepends=True)[:4]
    partial = tmp_path / "partial.stdout"
    partial.write_text("".join(lines))
    trace = run(tmp_path, FakeClaude(str(partial), hang=True), timeout=1)
    assert trace.outcome is Outcome.TIMEOUT
    assert [call.name for call in trace.tool_calls] == ["Bash"]
    assert trace.session_id


def test_a_cli_that_stays_after_its_result_is_ended_and_counts(tmp_path: Path) -> None:
    trace = run(tmp_path, FakeClaude(hang=True), timeout=60, grace_seconds=0.2)
    assert trace.outcome is Outcome.COMPLETED


def test_a_cli_that_prints_nothing_is_ended_by_the_watchdog(tmp_path: Path) -> None:
    trace = run(
        tmp_path, FakeClaude("hang_sigterm_stream.stdout", hang=True), timeout=60, silence_seconds=0.5
    )
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.SILENT)


def test_no_result_line_is_an_infra_error_even_with_exit_code_0(tmp_path: Path) -> None:
    trace = run(tmp_path, FakeClaude("hang_sigterm_stream.stdout", code=0))
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.NO_RESULT)


def test_an_exit_code_after_a_good_result_is_not_ignored(tmp_path: Path) -> None:
    trace = run(tmp_path, FakeClaude(code=137))
    assert (trace.outcome, trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.NO_RESULT)


def test_a_huge_line_is_read(tmp_path: Path) -> None:
    text = "x" * 5_000_000
    block = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}}
    output = tmp_path / "huge.stdout"
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "r",
        "terminal_reason": "completed",
    }
    output.write_text(json.dumps(block) + "\n" + json.dumps(result) + "\n")
    trace = run(tmp_path, FakeClaude(str(output)))
    assert trace.outcome is Outcome.COMPLETED
    assert trace.claude_response == text


def test_invalid_utf8_is_replaced(tmp_path: Path) -> None:
    output = tmp_path / "bad.stdout"
    output.write_bytes(b'{"type":"result","subtype":"success","is_error":false,"result":"caf\xe9"}\n')
    trace = run(tmp_path, FakeClaude(str(output)))
    assert (trace.outcome, trace.result) == (Outcome.COMPLETED, "caf�")


def test_half_a_surrogate_pair_can_be_written_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "surrogate.stdout"
    output.write_text(
        '{"type":"result","subtype":"success","is_error":false,"result":"a\\ud83d \\ud83d\\ude00"}\n'
    )
    trace = run(tmp_path, FakeClaude(str(output)))
    assert trace.result == "a? \U0001f600"
    assert trace.model_dump_json()


def test_half_a_line_at_the_end_is_left_out(tmp_path: Path) -> None:
    recorded = (RECORDED / "hang_sigterm_stream.stdout").read_bytes()
    output = tmp_path / "half.stdout"
    output.write_bytes(recorded + b'{"type":"assistant","message":{"id":"m","cont')
    trace = run(tmp_path, FakeClaude(str(output), hang=True), timeout=1)
    assert trace.outcome is Outcome.TIMEOUT
    assert trace.claude_response == ""


def test_a_result_without_a_newline_at_the_end_counts(tmp_path: Path) -> None:
    output = tmp_path / "no_newline.stdout"
    output.write_bytes((RECORDED / "ok_stream.stdout").read_bytes().rstrip(b"\n"))
    assert run(tmp_path, FakeClaude(str(output))).outcome is Outcome.COMPLETED


def test_lines_that_are_no_json_do_not_disturb(tmp_path: Path) -> None:
    output = tmp_path / "noise.stdout"
    output.write_bytes(b"npm warn something\n\n[1, 2]\n" + (RECORDED / "ok_stream.stdout").read_bytes())
    assert run(tmp_path, FakeClaude(str(output))).outcome is Outcome.COMPLETED


def test_children_in_sessions_of_their_own_end_with_the_run(tmp_path: Path) -> None:
    """The shell tool starts every command in its own session, where a group kill does not reach it."""
    marker = f"import time; time.sleep(300)  # {os.getpid()}-{time.monotonic_ns()}"
    child = [sys.executable, "-c", marker]
    run(tmp_path, FakeClaude("hang_sigterm_stream.stdout", hang=True, child=child), timeout=1)
    assert not _running(marker)


def test_children_left_by_a_finished_run_end_with_it(tmp_path: Path) -> None:
    marker = f"import time; time.sleep(300)  # {os.getpid()}-{time.monotonic_ns()}"
    trace = run(tmp_path, FakeClaude(child=[sys.executable, "-c", marker]))
    assert trace.outcome is Outcome.COMPLETED
    assert not _running(marker)


def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    try:
        run(tmp_path)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_skill_that_did_not_load_is_a_setup_error(tmp_path: Path) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill"))
    trace = run(tmp_path, FakeClaude(patch_init={"skills": ["other"]}), config)
    assert (trace.outcome, trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED)
    assert "skill my-skill" in trace.error


def test_a_skill_that_loaded_is_no_error(tmp_path: Path) -> None:
    config = Config(name="c", skills_path=_skill(tmp_path, "my-skill"))
    trace = run(tmp_path, FakeClaude(patch_init={"skills": ["my-skill"]}), config)
    assert trace.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("status", ["failed", "pending", "needs-auth"])
def test_an_mcp_server_that_is_not_connected_is_a_setup_error(tmp_path: Path, status: str) -> None:
    config = Config(name="c", mcp_config={"mcpServers": {"search": {"command": "x"}}})
    servers = [{"name": "search", "status": status}]
    trace = run(tmp_path, FakeClaude(patch_init={"mcp_servers": servers}), config)
    assert trace.outcome is Outcome.SETUP_ERROR
    assert f"search ({status})" in trace.error


def test_a_subagent_that_did_not_load_is_a_setup_error(tmp_path: Path) -> None:
    config = Config(name="c", agents_md="---\nname: helper\ndescription: d\n---\ntext\n")
    trace = run(tmp_path, FakeClaude(), config)
    assert trace.outcome is Outcome.SETUP_ERROR
    assert "agent helper" in trace.error


@pytest.mark.parametrize(("loads", "outcome"), [(True, Outcome.COMPLETED), (False, Outcome.SETUP_ERROR)])
def test_a_claude_md_that_did_not_load_is_a_setup_error(
    tmp_path: Path, loads: bool, outcome: Outcome
) -> None:
    claude = FakeClaude(loads_claude_md=loads).install(tmp_path / "bin")
    config = Config(name="c", claude_md="# Rules")
    with EnvironmentIsolator().create_environment(claude_md=config.claude_md) as env:
        trace = ClaudeExecutor(str(claude)).run("p", config, env.path, 20, dict(env.variables))
    assert trace.outcome is outcome


def test_permission_denials_are_recorded(tmp_path: Path) -> None:
    assert run(tmp_path, FakeClaude("permission_denied_stream.stdout")).permission_denials == ["Bash"]


def test_a_rejected_usage_limit_tells_when_to_come_back() -> None:
    result = {
        "type": "result",
        "is_error": True,
        "subtype": "success",
        "api_error_status": 429,
        "result": "limit",
    }
    info = {"status": "rejected", "resetsAt": time.time() + 600}
    event = {"type": "rate_limit_event", "rate_limit_info": info}
    trace = ClaudeExecutor()._parse_output(f"{json.dumps(event)}\n{json.dumps(result)}", 1)
    assert trace.error_kind is ErrorKind.RATE_LIMIT
    assert 500 < (trace.retry_after_seconds or 0) <= 600


def _skill(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\n")
    return folder.parent


def _running(marker: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]
