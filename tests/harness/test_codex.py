"""What the codex CLI's lines add up to, from recorded output and from lines of any shape."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.executor.codex.events import Events, decide, tool_calls, usage
from harness.executor.codex.executor import CodexExecutor
from harness.executor.codex.layout import settings
from harness.models import Config, ErrorKind, Outcome
from harness.sandbox.processes import LineVerdict, ProcessResult, StopCause
from harness.suite.resolve import resolve
from locobench.shared.errors import InputError

RECORDED = Path(__file__).parents[1] / "fixtures" / "codex_cli"


def watched(*lines: bytes) -> Events:
    watch = Events()
    for line in lines:
        watch(line)
    return watch


def recorded(name: str) -> list[dict[str, Any]]:
    return watched(*(RECORDED / f"{name}.jsonl").read_bytes().splitlines()).messages


def ended(code: int | None, cause: StopCause = StopCause.EXITED) -> ProcessResult:
    return ProcessResult(code, b"", b"", cause, 1.0)


def test_calls_are_told_by_server_and_tool_with_output_or_error() -> None:
    calls = tool_calls(recorded("calls"))
    assert [(c.name, c.output, c.error) for c in calls] == [
        ("mcp__s__find", "found it", None),
        ("shell", None, "exit code 1"),
    ]


def test_cached_tokens_are_counted_apart_from_input() -> None:
    counted = usage(recorded("calls"))
    assert counted is not None
    assert (counted.input_tokens, counted.cache_read_tokens, counted.output_tokens) == (180, 120, 60)


@pytest.mark.parametrize(
    ("name", "finished", "outcome", "kind"),
    [
        ("calls", ended(0), Outcome.COMPLETED, ErrorKind.NONE),
        ("rate_limit", ended(1), Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
        ("no_network", ended(None, StopCause.TIMEOUT), Outcome.INFRA_ERROR, ErrorKind.API_ERROR),
    ],
)
def test_recorded_runs_end_as_what_happened(
    name: str, finished: ProcessResult, outcome: Outcome, kind: ErrorKind
) -> None:
    end = decide(recorded(name), finished, "")
    assert (end.outcome, end.kind) == (outcome, kind)


def test_an_agent_at_work_when_its_time_is_up_is_a_timeout() -> None:
    end = decide(recorded("calls")[:-1], ended(None, StopCause.TIMEOUT), "")
    assert end.outcome is Outcome.TIMEOUT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(["command_execution", "mcp_tool_call", "file_change", "agent_message"])},
    optional=dict.fromkeys(("server", "tool", "arguments", "result", "error", "exit_code", "text", "id"), JSON),
)
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(["item.completed", "turn.completed", "turn.failed", "error"])},
    optional={"item": JSON | ITEM, "usage": JSON, "error": JSON, "message": JSON},
)


@given(st.lists(EVENT | JSON, max_size=5))
def test_lines_of_any_shape_make_a_trace(events: list[Any]) -> None:
    watch = watched(b"no JSON", *(json.dumps(event).encode() for event in events))
    tool_calls(watch.messages)
    usage(watch.messages)
    decide(watch.messages, ended(1), "")


def test_endless_output_ends_the_run() -> None:
    watch = Events()
    line = json.dumps(
        {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": "x" * 9999}}
    )
    assert LineVerdict.ABORT in {watch(line.encode()) for _ in range(6_000)}
    assert len(json.dumps(watch.messages)) < 5_000_000


def test_every_server_of_the_settings_is_required() -> None:
    servers = {"s": {"type": "http", "url": "http://h", "headers": {"A": "b"}}}
    config = resolve(Config(name="c", model="m", mcp_config={"mcpServers": servers}))
    written = tomllib.loads(settings(config, None))
    assert written["mcp_servers"] == {"s": {"url": "http://h", "http_headers": {"A": "b"}, "required": True}}


@pytest.mark.parametrize("field", ["claude_md", "max_turns", "allowed_tools"])
def test_what_codex_cannot_honor_is_refused(field: str) -> None:
    given: dict[str, Any] = {"claude_md": "x", "max_turns": 3, "allowed_tools": ["Read"]}
    with pytest.raises(InputError, match=f"codex does not support {field}"):
        CodexExecutor().resolve(Config(name="c", **{field: given[field]}))
