"""What Harbor's agents leave of one small run, by Harbor's own converters: see tests/fixtures/harbor_agents/make.py.

Each agent had the server `code-search`, and called its search twice: the second call was refused.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from locobench.harbor.record import read_trials
from measure.compare.comparison import compare
from measure.records import EvalResult
from measure.results.harbor import load_jobs
from tests.measure.test_harbor import trajectory, write_trial

RECORDED = Path(__file__).parents[1] / "fixtures/harbor_agents"
AGENTS = sorted(path.name for path in RECORDED.iterdir() if path.is_dir())
BLIND = {"mini-swe-agent", "openhands"}
"""Agents that call MCP tools in a shell, or record them without their server."""
SEARCH = "mcp__code-search__search"


def recorded(jobs: Path, agent: str, job: str = "with", **more: Any) -> Path:
    """Write a trial with the files that an agent left."""
    told = json.loads((RECORDED / agent / "context.json").read_text())
    config = {"name": agent, "mcp_servers": [{"name": "code-search", "transport": "sse", "url": "http://s"}]}
    trial = {"agent": config, "agent_info": {"name": agent, "version": "1"}, "agent_result": told["agent_result"]}
    folder = write_trial(jobs, job=job, **{**trial, **more})
    shutil.copytree(RECORDED / agent / "agent", folder / "agent", dirs_exist_ok=True)
    return folder


def read(jobs: Path, agent: str, **more: Any) -> EvalResult:
    recorded(jobs, agent, **more)
    return load_jobs(jobs)[0]


def test_every_agent_of_the_script_has_its_files() -> None:
    assert len(AGENTS) == 10


@pytest.mark.parametrize("agent", sorted(set(AGENTS) - BLIND))
def test_calls_of_an_mcp_tool_have_one_name_whichever_agent_made_them(tmp_path: Path, agent: str) -> None:
    trace = read(tmp_path, agent).trace
    calls = [call for call in trace.tool_calls if call.name == SEARCH]
    assert (len(calls), trace.names_servers) == (2, True)
    assert sum(call.name.startswith("mcp__") for call in trace.tool_calls) == 2


@pytest.mark.parametrize("agent", sorted(set(AGENTS) - BLIND - {"qwen-coder"}))
def test_a_call_that_failed_is_told_from_one_that_did_not(tmp_path: Path, agent: str) -> None:
    calls = [call for call in read(tmp_path, agent).trace.tool_calls if call.name == SEARCH]
    assert [call.error is not None for call in calls] == [False, True]


@pytest.mark.parametrize("agent", sorted(BLIND))
def test_of_an_agent_that_does_not_name_servers_it_is_not_said_that_it_called_none(tmp_path: Path, agent: str) -> None:
    write_trial(tmp_path, job="base", name="a", agent={"name": agent, "mcp_servers": []})
    recorded(tmp_path, agent)
    a, b = load_jobs(tmp_path / "base"), load_jobs(tmp_path / "with")
    warnings = " ".join(compare(a, b, label_a="base", label_b="with").warnings)
    assert "never used" not in warnings
    assert "Whether with used the tool mcp__code-search__* is not recorded" in warnings


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_tool_returned_is_read_whichever_agent_called_it(tmp_path: Path, agent: str) -> None:
    recorded(tmp_path, agent)
    (record,) = read_trials(tmp_path / "with")
    assert all(call.output for call in record.actions.calls[:2])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_recorded_run_is_measured_with_its_turns(tmp_path: Path, agent: str) -> None:
    result = read(tmp_path, agent, reward=0.0)
    assert (result.measured, result.overall_score, result.trace.doubt) == (True, 0.0, "")
    assert result.trace.num_turns


def test_a_subagents_call_is_found(tmp_path: Path) -> None:
    """Harbor's trajectory of Claude Code has them; the second call is a subagent's."""
    calls = [call for call in read(tmp_path, "claude-code").trace.tool_calls if call.name == SEARCH]
    assert [call.id for call in calls] == ["t2", "t4"]


def test_a_servers_tools_that_the_verifier_took_for_invented_are_named(tmp_path: Path) -> None:
    for arm in ("with", "without"):
        for task in map(str, range(4)):
            folder = write_trial(tmp_path, job=arm, name=f"t{task}__{arm}", task=f"t{task}")
            calls = [{"tool_call_id": n, "function_name": f"mcp__code-search__{n}"} for n in ("find_uses", "x")]
            trajectory(folder, {"source": "agent", "tool_calls": calls if arm == "with" else []})
            invented = ["finduses", "rowguard"] if task == "1" else ["rowguard"]
            (folder / "verifier/metrics.json").write_text(json.dumps({"invented_identifiers": invented}))
    found = compare(*(load_jobs(tmp_path / job) for job in ("without", "with"))).warnings
    (told,) = [text for text in found if "invented" in text]
    assert "1 of 4 answers name tools of its server" in told
    assert "(find_uses)" in told


def test_without_a_trajectory_calls_are_not_recorded(tmp_path: Path) -> None:
    (recorded(tmp_path, "codex") / "agent/trajectory.json").unlink()
    assert load_jobs(tmp_path)[0].trace.tool_count is None


def test_the_last_result_line_of_the_log_has_the_cost(tmp_path: Path) -> None:
    """Harbor takes the first one, 0.01."""
    assert read(tmp_path, "claude-code").cost_usd == 0.02


def test_a_cost_that_harbor_has_not_is_that_of_claude_codes_log_or_unknown(tmp_path: Path) -> None:
    for agent, cost in (("claude-code", 0.02), ("goose", None)):
        assert read(tmp_path / agent, agent, agent_result=None).cost_usd == cost


def test_dollars_of_0_beside_tokens_are_unknown(tmp_path: Path) -> None:
    result = read(tmp_path, "mini-swe-agent")
    assert (result.tokens, result.cost_usd) == (60, None)


def test_tokens_of_0_beside_turns_are_unknown_and_the_run_counts(tmp_path: Path) -> None:
    """Harbor's cursor-cli records 0 when the program reported no usage."""
    result = read(tmp_path, "cursor-cli")
    assert (result.measured, result.tokens) == (True, None)


NAMES = [
    ("claude-code", "code.search", "mcp__code_search__find", True),
    ("codex", "code-search", "mcp__code_search__find", True),
    ("gemini-cli", "code-search", "code-search__find", True),
    ("goose", "code-search", "code-search.find", True),
    ("hermes", "code-search", "mcp_code_search_find", True),
    ("kimi-code", "code-search", "mcp__code-search__find", True),
    ("opencode", "my server", "my_server_find", True),
    ("opencode", "search", "search_replace", False),
    ("claude-code", "search", "search_files", False),
    ("claude-code", "code", "mcp__code-search__find", False),
    ("a-new-agent", "code-search", "code-search.find", True),
    ("a-new-agent", "search", "search_files", False),
]


@pytest.mark.parametrize(("agent", "server", "name", "is_its"), NAMES)
def test_a_name_is_a_servers_tool_by_the_way_its_agent_joins_them(
    tmp_path: Path, agent: str, server: str, name: str, is_its: bool
) -> None:
    setup = {"name": agent, "mcp_servers": [{"name": server}]}
    folder = write_trial(tmp_path, agent=setup, agent_info={"name": agent})
    trajectory(folder, {"source": "agent", "tool_calls": [{"tool_call_id": "1", "function_name": name}]})
    (call,) = load_jobs(tmp_path)[0].trace.tool_calls
    assert call.name == (f"mcp__{server}__find" if is_its else name)


def test_calls_of_subagents_in_the_trajectory_or_beside_it_count(tmp_path: Path) -> None:
    def said(*names: str, **more: Any) -> dict[str, Any]:
        calls = [{"tool_call_id": name, "function_name": name} for name in names]
        return {"source": "agent", "message": "", "tool_calls": calls, **more}

    folder = write_trial(tmp_path)
    refs = {"results": [{"subagent_trajectory_ref": [{"trajectory_path": "trajectory.sub.json"}]}]}
    (folder / "agent").mkdir()
    (folder / "agent/trajectory.json").write_text(
        json.dumps(
            {
                "steps": [said("Task", observation=refs), said("Old", is_copied_context=True)],
                "subagent_trajectories": [{"steps": [said("Read")]}],
                "continued_trajectory_ref": "trajectory.cont-1.json",
            }
        )
    )
    (folder / "agent/trajectory.sub.json").write_text(json.dumps({"steps": [said("Grep")]}))
    (folder / "agent/trajectory.cont-1.json").write_text(json.dumps({"steps": [said("Edit")]}))
    trace = load_jobs(tmp_path)[0].trace
    assert {call.name for call in trace.tool_calls} == {"Task", "Edit", "Grep", "Read"}
    assert trace.num_turns == 2


def test_a_skill_counts_as_used_by_its_tool_or_by_its_file(tmp_path: Path) -> None:
    for job, call in {
        "claude": {"function_name": "Skill", "arguments": {"skill": "search"}},
        "gemini": {"function_name": "activate_skill", "arguments": {"name": "search"}},
        "codex": {"function_name": "shell", "arguments": {"cmd": "cat /root/.agents/skills/search/SKILL.md"}},
        "none": {"function_name": "Bash", "arguments": {"command": "ls"}},
    }.items():
        agent = {"name": "claude-code", "skills": ["https://example.com/skills/search", "acme/review@v1"]}
        trajectory(write_trial(tmp_path, job=job, agent=agent), {"source": "agent", "tool_calls": [call]})
        (result,) = load_jobs(tmp_path / job)
        assert result.trace.offered.skills == ["search", "review"]
        baseline = result.model_copy(update={"run_id": "a", "trace": result.trace.model_copy(deep=True)})
        baseline.trace.offered.skills = []
        said = " ".join(compare([baseline], [result]).warnings)
        assert ("never used" in said) == (job == "none"), job


def test_what_a_trial_fetched_is_kept_without_the_secrets_in_its_address(tmp_path: Path) -> None:
    address = "https://me:hunter2hunter2@example.com/pallets/click"
    call = {"function_name": "shell", "arguments": {"cmd": f"cd /tmp; git clone {address}"}}
    trajectory(write_trial(tmp_path), {"source": "agent", "tool_calls": [call]})
    (result,) = load_jobs(tmp_path)
    (kept,) = result.trace.tool_calls
    assert kept.fetched.startswith("git clone https://")
    assert "hunter2" not in str(kept.input)
