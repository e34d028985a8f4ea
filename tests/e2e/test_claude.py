"""The harness with the real claude CLI, against a loopback stand-in of the Messages API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from harness.config_exporter import ConfigExporter
from harness.config_importer import ConfigImporter
from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import ClaudeConfigSnapshot, Config, ErrorKind, EvalResult, Outcome, Task
from harness.results.files import load_results
from harness.runner import EvalRunner
from tests.support.stand_in.messages_api import (
    AUTH,
    CREDIT,
    OVERLOADED,
    RATE_LIMIT,
    UNKNOWN_MODEL,
    Failure,
    Hang,
    MessagesAPI,
    Responder,
    Text,
    ToolUse,
    always,
    by_prompt,
)
from tests.support.suite import REPOSITORY, environment

pytestmark = pytest.mark.e2e

MCP_SERVER = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        result = dict(protocolVersion=message["params"]["protocolVersion"], capabilities=dict(tools={}))
        result["serverInfo"] = dict(name="s", version="1")
    elif method == "tools/list":
        schema = dict(type="object", properties={})
        result = dict(tools=[dict(name=n, description="d", inputSchema=schema) for n in ("find", "other")])
    elif method == "tools/call":
        result = dict(content=[dict(type="text", text="called " + message["params"]["name"])])
    elif number is None:
        continue
    else:
        result = {}
    print(json.dumps(dict(jsonrpc="2.0", id=number, result=result)), flush=True)
"""


@pytest.fixture(scope="session")
def claude() -> Path:
    path = Path(os.environ.get("HARNESS_E2E_CLAUDE", REPOSITORY / ".cache/e2e/claude"))
    if not path.exists():
        pytest.fail(f"{path} is missing; run tests/e2e/claude.sh or set HARNESS_E2E_CLAUDE")
    return path


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Responder], MessagesAPI]]:
    """Starts a stand-in and points the environment to it."""
    started: list[MessagesAPI] = []

    def start(responder: Responder) -> MessagesAPI:
        server = MessagesAPI(responder)
        server.__enter__()
        started.append(server)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-stand-in")
        monkeypatch.setenv("IS_SANDBOX", "1")
        return server

    yield start
    for server in started:
        server.__exit__()


TASK = Task.model_validate(
    {
        "id": "t",
        "category": "coding",
        "description": "d",
        "prompt": "do it",
        "timeout_seconds": 60,
        "assertions": [{"type": "code", "check": "file_exists", "file": "out.txt"}],
    }
)


def run(claude: Path, config: Config, *, timeout: int = 60, prompt: str = "do it") -> EvalResult:
    task = TASK.model_copy(update={"prompt": prompt, "timeout_seconds": timeout})
    return EvalRunner(ClaudeExecutor(str(claude), grace_seconds=2.0)).run_single(task, config)


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "d"})


def skill(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\nbody\n")
    return folder


def test_a_matrix_passes_end_to_end_and_each_treatment_reaches_its_own_config(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(
        by_prompt(
            {
                "write the file": [
                    ToolUse("Write", {"file_path": "out.txt", "content": "one\n"}),
                    ToolUse("Read", {"file_path": "out.txt"}),
                    Text("Done."),
                ],
                "edit the file": [
                    ToolUse("Read", {"file_path": "code.py"}),
                    ToolUse("Edit", {"file_path": "code.py", "old_string": "x = 1", "new_string": "x = 2"}),
                    bash("cp code.py out.txt"),
                    Text("Done."),
                ],
            }
        )
    )
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture/code.py").write_text("x = 1\n")
    skill(tmp_path / "skills", "marked-skill", "SKILL-MARK")
    for name, prompt in (("write", "write the file"), ("edit", "edit the file")):
        (tmp_path / f"{name}.task.yaml").write_text(
            f"id: {name}\ncategory: coding\ndescription: d\nprompt: {prompt}\nfixture_path: fixture\n"
            "assertions:\n  - {type: code, check: file_exists, file: out.txt}\n"
        )
    headers = "env: {{ANTHROPIC_CUSTOM_HEADERS: 'x-config: {}'}}\n"
    (tmp_path / "plain.yaml").write_text("name: plain\n" + headers.format("plain"))
    full = "name: full\nclaude_md: MEMORY-MARK\nskills_path: skills\n" + headers.format("full")
    (tmp_path / "full.yaml").write_text(full)
    command = [
        sys.executable,
        "-m",
        "harness",
        "matrix",
        "-t",
        "*.task.yaml",
        "-c",
        "[fp]*.yaml",
        "-r",
        "2",
        "-j",
        "2",
    ]
    shown = subprocess.run(
        [*command, "-o", "out.json", "--claude", str(claude)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    results = load_results(tmp_path / "out.json")
    assert len(results) == 8
    assert all(r.passed and r.outcome is Outcome.COMPLETED for r in results)
    assert all(r.cost_usd and r.trace.usage and r.trace.usage.cache_read_tokens for r in results)
    tools = {r.task_id: [call.name for call in r.trace.tool_calls] for r in results}
    assert tools == {"write": ["Write", "Read"], "edit": ["Read", "Edit", "Bash"]}
    changed = {r.task_id: [(c.path, c.action) for c in r.trace.file_changes] for r in results}
    assert changed == {
        "write": [("out.txt", "created")],
        "edit": [("code.py", "modified"), ("out.txt", "created")],
    }
    seen = [(request.headers["x-config"], request.text) for request in server.main_requests]
    assert {name for name, _ in seen} == {"plain", "full"}
    for name, text in seen:
        assert ("MEMORY-MARK" in text) is (name == "full")
        assert ("SKILL-MARK" in text) is (name == "full")


def test_the_users_own_configuration_does_not_leak(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory, skills, agents, servers and settings of the user used to be part of every baseline."""
    server = api(by_prompt({"do it": [bash("touch out.txt; echo $HOME"), Text("Done.")]}))
    home = tmp_path / "home"
    skill(home / ".claude/skills", "users-skill", "LEAK")
    (home / ".claude/CLAUDE.md").write_text("LEAK")
    (home / ".claude/agents").mkdir()
    (home / ".claude/agents/users-agent.md").write_text("---\nname: users-agent\ndescription: LEAK\n---\n")
    (home / ".claude/settings.json").write_text('{"env": {"LEAK": "LEAK"}, "model": "leaked-model"}')
    (home / ".claude.json").write_text('{"mcpServers": {"users-server": {"command": "true"}}}')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    result = run(claude, Config(name="c"))
    init = result.trace.raw_output["init"]
    assert result.passed
    assert init["mcp_servers"] == []
    assert "users-skill" not in init["skills"]
    assert "users-agent" not in init["agents"]
    assert init["model"] == Config(name="c").model
    assert str(home) not in str(init)
    assert not [request for request in server.main_requests if "LEAK" in request.text]


def test_a_list_of_tools_restricts_the_agent(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    result = run(claude, Config(name="c", allowed_tools=["Read"]))
    assert not result.passed
    assert result.trace.tool_calls[0].error
    assert "Bash" not in [tool["name"] for tool in server.main_requests[0].body["tools"]]


def servers(tmp_path: Path) -> dict[str, dict[str, object]]:
    script = tmp_path / "server.py"
    script.write_text(MCP_SERVER)
    return {"mcpServers": {"search": {"command": sys.executable, "args": [str(script)]}}}


def test_an_mcp_server_is_there_when_the_agent_starts(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(by_prompt({"do it": [ToolUse("mcp__search__find", {}), bash("touch out.txt"), Text("Done.")]}))
    result = run(claude, Config(name="c", mcp_config=servers(tmp_path)))
    assert result.passed
    assert result.trace.tool_calls[0].output == "called find"
    assert "mcp__search__find" in (result.trace.offered.tools or [])


def test_a_server_that_is_not_listed_is_not_available(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(by_prompt({"do it": [ToolUse("mcp__search__find", {}), Text("Done.")]}))
    result = run(claude, Config(name="c", mcp_config=servers(tmp_path), allowed_tools=["Bash"]))
    assert "No such tool" in (result.trace.tool_calls[0].error or "")


def test_a_single_listed_tool_of_a_server_is_the_only_one_that_may_be_called(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    script = [ToolUse("mcp__search__find", {}), ToolUse("mcp__search__other", {}), bash("touch out.txt")]
    api(by_prompt({"do it": [*script, Text("Done.")]}))
    allowed = ["Bash", "mcp__search__find"]
    result = run(claude, Config(name="c", mcp_config=servers(tmp_path), allowed_tools=allowed))
    find, other, touch = result.trace.tool_calls
    assert (find.error, touch.error) == (None, None)
    assert "denied" in (other.error or "")
    assert result.trace.permission_denials == ["mcp__search__other"]


def test_a_server_that_does_not_start_is_a_setup_error_without_waiting_for_the_model(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(always(Hang()))
    broken = {"mcpServers": {"search": {"command": "/nowhere/at/all"}}}
    result = run(claude, Config(name="c", mcp_config=broken))
    assert (result.outcome, result.trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED)


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


def test_what_an_import_set_up_reaches_the_agent_by_env_override(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(by_prompt({"do it": [ToolUse("mcp__search__find", {}), Text("Done.")]}))
    snapshot = users_configuration(tmp_path)
    env = ConfigImporter().setup_ci_environment(snapshot, tmp_path / "ci", disable_mcp=False)
    trace = ClaudeExecutor(str(claude), grace_seconds=2.0).run("do it", Config(name="c"), tmp_path, 60, env)
    assert trace.outcome is Outcome.COMPLETED, trace.error
    assert trace.tool_calls[0].output == "called find"
    assert seen_marks(server) == set(MARKS)


def test_a_snapshot_is_a_config_beside_others(
    tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    (tmp_path / "mine.json").write_text(users_configuration(tmp_path).model_dump_json())
    (tmp_path / "plain.yaml").write_text("name: plain\n")
    (tmp_path / "t.task.yaml").write_text("{id: t, category: coding, description: d, prompt: do it}\n")
    command = [
        "matrix",
        "-t",
        "*.task.yaml",
        "-c",
        "plain.yaml",
        "--snapshot",
        "mine.json",
        "-r",
        "1",
        "-o",
        "out.json",
    ]
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


def test_agents_md_reaches_the_model(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    server = api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    result = run(claude, Config(name="c", agents_md="AGENTS-MARK"))
    assert result.passed
    assert "AGENTS-MARK" in server.main_requests[0].text


def test_a_subagent_is_offered(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    text = "---\nname: helper\ndescription: AGENT-MARK\n---\nbody\n"
    result = run(claude, Config(name="c", claude_md="# Rules", agents_md=text))
    assert result.passed
    assert "helper" in (result.trace.offered.agents or [])


REFUSALS = [
    (AUTH, ErrorKind.AUTH),
    (CREDIT, ErrorKind.CREDIT),
    (UNKNOWN_MODEL, ErrorKind.MODEL_NOT_FOUND),
    (RATE_LIMIT, ErrorKind.RATE_LIMIT),
    (OVERLOADED, ErrorKind.OVERLOADED),
]


@pytest.mark.parametrize(("failure", "kind"), REFUSALS, ids=[str(kind) for _, kind in REFUSALS])
def test_what_the_api_refuses_is_an_infra_error_of_its_kind(
    claude: Path, api: Callable[[Responder], MessagesAPI], failure: Failure, kind: ErrorKind
) -> None:
    api(always(failure))
    result = run(claude, Config(name="c", env={"CLAUDE_CODE_MAX_RETRIES": "1"}))
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, kind)
    assert result.grades == []


def test_a_rate_limit_that_passes_within_the_run_is_no_failure(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(always(RATE_LIMIT, bash("touch out.txt"), Text("Done.")))
    result = run(claude, Config(name="c"))
    assert result.passed
    assert len(result.trace.raw_output["api_retry"]) == 1


def test_an_api_that_does_not_answer_is_a_timeout(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    api(always(Hang()))
    result = run(claude, Config(name="c"), timeout=6)
    assert result.outcome is Outcome.TIMEOUT
    assert result.claude_code_version


def test_the_turn_limit_is_an_agent_error(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    api(always(bash("touch out.txt")))
    result = run(claude, Config(name="c", max_turns=2))
    assert (result.outcome, result.trace.hit_turn_limit) == (Outcome.AGENT_ERROR, True)
    assert not result.passed


def test_the_budget_of_a_run_is_an_agent_error(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    api(always(bash("touch out.txt")))
    result = run(claude, Config(name="c", max_turns=50, max_budget_usd=0.01))
    assert (result.outcome, result.trace.error_kind) == (Outcome.AGENT_ERROR, ErrorKind.MAX_BUDGET)


def test_what_the_agents_shell_left_running_ends_with_the_run(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    marker = f"import time; time.sleep(300)  # {time.monotonic_ns()}"
    command = f"touch out.txt; nohup setsid {sys.executable} -c '{marker}' > /dev/null 2>&1 &"
    api(by_prompt({"do it": [bash(command), Text("Done.")]}))
    assert run(claude, Config(name="c")).passed
    assert not [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]


def test_a_prompt_that_looks_like_an_option_is_a_prompt(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    server = api(by_prompt({"--help me": [bash("touch out.txt"), Text("Done.")]}))
    assert run(claude, Config(name="c"), prompt="--help me").passed
    assert "--help me" in server.main_requests[0].text


def test_root_is_refused_unless_the_user_says_that_this_is_a_sandbox(
    claude: Path, api: Callable[[Responder], MessagesAPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root is refused")
    api(always(Text("Done.")))
    monkeypatch.delenv("IS_SANDBOX")
    result = run(claude, Config(name="c"))
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED)
    assert "root" in result.trace.error


def test_nothing_of_a_run_stays_on_disk(tmp_path: Path, claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    api(by_prompt({"do it": [bash("touch out.txt"), Text("Done.")]}))
    base = tmp_path / "base"
    base.mkdir()
    runner = EvalRunner(ClaudeExecutor(str(claude)), isolator=EnvironmentIsolator(base))
    task = Task.model_validate({"id": "t", "category": "coding", "description": "d", "prompt": "do it"})
    assert runner.run_single(task, Config(name="c")).outcome is Outcome.COMPLETED
    assert list(base.iterdir()) == []


def test_every_bundled_config_reaches_the_agent(claude: Path, api: Callable[[Responder], MessagesAPI]) -> None:
    """A skill, CLAUDE.md or subagent that did not load would make the run a setup error."""
    api(always(Text("I did nothing.")))
    runner = EvalRunner(ClaudeExecutor(str(claude), grace_seconds=2.0))
    task = runner.load_task(REPOSITORY / "evals/tasks/coding/ledger-split-cents.task.yaml")
    configs = runner.load_configs_from_glob(str(REPOSITORY / "evals/configs/*/config.yaml"))
    results = [runner.run_single(task, config) for config in configs]
    assert [r.config_name for r in results] == ["baseline", "claude-md-only", "full", "skills-only"]
    assert [(r.outcome, r.passed) for r in results] == [(Outcome.COMPLETED, False)] * 4
