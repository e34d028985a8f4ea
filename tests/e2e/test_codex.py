"""The harness with the real codex CLI, against a loopback stand-in of the Responses API."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.executor.codex.executor import CodexExecutor
from harness.models import Config, ErrorKind, EvalResult, Outcome
from harness.runner import EvalRunner
from tests.e2e.claude_runs import TASK, servers, skill
from tests.support.stand_in.messages_api import (
    OUTPUT_TOKENS,
    RATE_LIMIT,
    USAGE,
    Hang,
    MessagesAPI,
    Reply,
    Text,
    ToolUse,
    always,
)
from tests.support.suite import REPOSITORY

pytestmark = pytest.mark.e2e

CODEX = REPOSITORY / ".cache" / "e2e" / "codex"
MADE = ToolUse("exec_command", {"cmd": "echo done > out.txt"})
PRICES = {"input": 1.0, "cached_input": 0.1, "output": 10.0}


def run(*replies: Reply, timeout: int = 60, **config: Any) -> tuple[EvalResult, MessagesAPI]:
    with MessagesAPI(always(*replies)) as api:
        env = {"OPENAI_BASE_URL": f"{api.url}/v1", "OPENAI_API_KEY": "sk-stand-in"}
        given = Config.model_validate({"name": "c", "model": "gpt-5", "env": env, **config})
        task = TASK.model_copy(update={"timeout_seconds": timeout})
        return EvalRunner(CodexExecutor(str(CODEX), grace_seconds=2.0)).run_single(task, given), api


def test_a_run_reports_its_answer_its_calls_and_its_tokens() -> None:
    result, _ = run(MADE, ToolUse("exec_command", {"cmd": "cat missing"}), Text("Made it."), token_prices=PRICES)
    assert result.outcome is Outcome.COMPLETED
    assert result.passed
    assert result.trace.result == "Made it."
    assert [(call.name, call.error is None) for call in result.trace.tool_calls] == [("shell", True), ("shell", False)]
    assert "No such file" in str(result.trace.tool_calls[1].error)
    usage = result.trace.usage
    assert usage is not None
    cached = USAGE["cache_read_input_tokens"]
    fresh = USAGE["input_tokens"]
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (
        3 * fresh,
        3 * cached,
        3 * OUTPUT_TOKENS,
    )
    assert result.cost_usd == pytest.approx(3 * (fresh * 1.0 + cached * 0.1 + OUTPUT_TOKENS * 10.0) / 1e6)
    assert result.conditions.agent == "codex"


def test_without_prices_the_cost_is_not_known() -> None:
    result, _ = run(MADE, Text("Made it."))
    assert result.cost_usd is None


def test_memory_skills_and_servers_reach_the_model_and_a_call_of_a_server_has_its_name(tmp_path: Path) -> None:
    call = ToolUse("mcp__search__find", {"query": "needle"})
    skills = skill(tmp_path / "skills", "brevity", "answers briefly")
    given: dict[str, Any] = {"agents_md": "Never use tabs.", "skills_path": skills, "mcp_config": servers(tmp_path)}
    result, api = run(call, MADE, Text("Made it."), **given)
    first = api.main_requests[0].text
    assert "Never use tabs." in first
    assert "answers briefly" in first
    assert "mcp__search" in first
    assert [call.name for call in result.trace.tool_calls] == ["mcp__search__find", "shell"]


def test_a_server_that_does_not_start_is_a_setup_error_before_the_model_is_asked(tmp_path: Path) -> None:
    broken = {"mcpServers": {"search": {"command": sys.executable, "args": [str(tmp_path / "missing.py")]}}}
    result, api = run(MADE, Text("Made it."), mcp_config=broken)
    assert (result.outcome, result.trace.error_kind) == (Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED)
    assert not api.main_requests


def test_the_users_own_codex_configuration_and_keys_of_others_stay_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "AGENTS.md").write_text("Memory of this machine.")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-user")
    result, api = run(ToolUse("exec_command", {"cmd": "env > out.txt; echo $ANTHROPIC_API_KEY"}), Text("Made it."))
    assert "Memory of this machine." not in api.main_requests[0].text
    assert "sk-ant-of-the-user" not in str(result.trace.tool_calls)


def test_a_refused_request_is_lost_and_not_a_zero() -> None:
    result, _ = run(RATE_LIMIT)
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT)


def test_the_time_of_the_task_ends_a_run() -> None:
    result, _ = run(ToolUse("exec_command", {"cmd": "sleep 60"}), Hang(), timeout=8)
    assert result.outcome is Outcome.TIMEOUT
