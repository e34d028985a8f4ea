"""The harness with the real claude CLI, against a loopback stand-in of the Messages API."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import Config, ErrorKind, Outcome, Task
from harness.runner import EvalRunner
from measure.results.files import load_results
from tests.e2e.claude_runs import bash, run, servers, skill
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
    assert [m.get("subtype") for m in result.trace.raw_output["messages"]].count("api_retry") == 1


def test_an_api_that_does_not_answer_is_no_failure_of_the_agent(
    claude: Path, api: Callable[[Responder], MessagesAPI]
) -> None:
    api(always(Hang()))
    result = run(claude, Config(name="c"), timeout=6)
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.SILENT)
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


@pytest.mark.parametrize(
    ("task", "configs", "names"),
    [
        (
            "evals/tasks/coding/ledger-split-cents.task.yaml",
            "evals/configs/*/config.yaml",
            ["baseline", "claude-md-only", "full", "skills-only"],
        ),
        ("examples/skill/tasks/fix-rounding.task.yaml", "examples/skill/configs/*.yaml", ["no-skill", "skill"]),
    ],
    ids=["suite", "example"],
)
def test_every_bundled_config_reaches_the_agent(
    claude: Path, api: Callable[[Responder], MessagesAPI], task: str, configs: str, names: list[str]
) -> None:
    """A skill, CLAUDE.md or subagent that did not load would make the run a setup error."""
    api(always(Text("I did nothing.")))
    runner = EvalRunner(ClaudeExecutor(str(claude), grace_seconds=2.0))
    asked = runner.load_task(REPOSITORY / task)
    results = [runner.run_single(asked, one) for one in runner.load_configs_from_glob(str(REPOSITORY / configs))]
    assert [r.config_name for r in results] == names
    assert [(r.outcome, r.passed) for r in results] == [(Outcome.COMPLETED, False)] * len(names)
