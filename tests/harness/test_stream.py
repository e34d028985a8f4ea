"""What becomes of output that the CLI should never print: it counts as not told, and nothing breaks."""

from __future__ import annotations

import copy
import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from harness.executor import ClaudeExecutor
from harness.executor.claude import messages
from harness.models import EvalResult, ExecutionTrace, Offered, Outcome
from locobench.harbor import task, trial
from measure.records import results as records
from measure.records import traces
from tests.harness.test_models import result as made_result
from tests.support.fake_claude import RECORDED, parse_recorded

RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "r", "terminal_reason": "completed"}
ASSISTANT = {"type": "assistant", "message": {"id": "m", "content": [], "usage": {"input_tokens": 7}}}


def parse(*lines: dict[str, Any], code: int = 0) -> ExecutionTrace:
    return ClaudeExecutor()._parse_output("\n".join(map(json.dumps, lines)), code)


@pytest.mark.parametrize("odd", ["abc", [], {}, -1, 1.5])
def test_token_counts_that_are_none_are_not_believed(odd: object) -> None:
    """The next best source is taken: here the usage of the messages."""
    usage = parse(ASSISTANT, {**RESULT, "usage": {"input_tokens": odd, "output_tokens": 5}}).usage
    assert usage is not None
    assert usage.input_tokens == 7


def test_odd_totals_per_model_leave_those_of_the_main_loop() -> None:
    per_model = {"m": {"inputTokens": "many"}}
    usage = parse({**RESULT, "modelUsage": per_model, "usage": {"input_tokens": 3}}).usage
    assert usage is not None
    assert usage.input_tokens == 3


@pytest.mark.parametrize("odd", ["free", True, -1, float("nan"), float("inf"), [], 10**400])
def test_a_cost_that_is_none_is_unknown(odd: object) -> None:
    assert parse({**RESULT, "total_cost_usd": odd}).cost_usd is None


@pytest.mark.parametrize("module", [messages, task, trial, traces, records])
def test_every_whole_number_that_is_read_has_an_end(module: ModuleType) -> None:
    """Else one beyond what arithmetic holds gets in here, and breaks whatever counts with it."""
    endless = []
    for model in vars(module).values():
        if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == module.__name__:
            schema = model.model_json_schema()
            for name, field in schema.get("properties", {}).items():
                kinds = [field, *field.get("anyOf", [])]
                endless += [
                    f"{model.__name__}.{name}" for k in kinds if k.get("type") == "integer" and "maximum" not in k
                ]
    assert endless == []


@pytest.mark.parametrize("odd", [10**30, "bad", 1.5])
def test_a_status_that_is_none_is_not_told(odd: object) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error_status": odd, "error": "overloaded_error"}
    for lines in ([{**RESULT, "is_error": True, "api_error_status": odd}], [retry]):
        assert parse(*lines, code=1).error_status is None


@pytest.mark.parametrize("odd", ["soon", 1e300, 1_767_225_600_000, None, -5])
def test_a_reset_that_is_no_time_is_unknown(odd: object) -> None:
    """Milliseconds would be a wait of 50,000 years."""
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": odd}}
    failed = {**RESULT, "is_error": True, "api_error_status": 429}
    assert parse(event, failed, code=1).retry_after_seconds is None


def test_an_odd_error_flag_is_no_success() -> None:
    assert parse({**RESULT, "is_error": "perhaps"}).outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize("name", ["ok_stream", "rate_limit_429_exhausted_stream", "permission_denied_stream"])
def test_the_raw_output_is_all_that_the_cli_printed(name: str) -> None:
    printed = (RECORDED / f"{name}.stdout").read_text(encoding="utf-8")
    raw = ClaudeExecutor()._parse_output(printed).raw_output
    kept = [line for value in raw.values() for line in (value if isinstance(value, list) else [value])]
    lines = [json.loads(line) for line in printed.splitlines()]
    assert sorted(map(json.dumps, kept)) == sorted(map(json.dumps, lines))
    assert raw["messages"] == [line for line in lines if line in raw["messages"]]


@pytest.mark.parametrize("levels", [300, 200_000])
def test_output_nested_beyond_reading_ends_no_run(levels: int) -> None:
    call = '{"type":"tool_use","id":"t","name":"Bash","input":{"x":' + "[" * levels + "]" * levels + "}}"
    line = '{"type":"assistant","message":{"id":"m","content":[' + call + "]}}"
    trace = ClaudeExecutor()._parse_output(line + "\n" + json.dumps(RESULT))
    assert trace.outcome is Outcome.COMPLETED
    stored = made_result(trace=trace)
    assert EvalResult.model_validate_json(stored.model_dump_json()) == stored


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000], ids=["list", "object"])
def test_a_whole_output_nested_beyond_reading_is_no_result(text: str) -> None:
    assert ClaudeExecutor()._parse_output(text).outcome is Outcome.INFRA_ERROR


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, item in items for place in _places(item, (*way, key)))]


LINES = [
    json.loads(line)
    for name in ("ok_stream", "rate_limit_429_exhausted_stream", "permission_denied_stream")
    for line in (RECORDED / f"{name}.stdout").read_text(encoding="utf-8").splitlines()
]
PLACES = [(number, place) for number, line in enumerate(LINES) for place in _places(line)]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(deadline=None)
@given(place=st.sampled_from(PLACES), odd=ODD)
def test_any_value_may_be_odd(place: tuple[int, tuple[Any, ...]], odd: object) -> None:
    lines: list[Any] = copy.deepcopy(LINES)
    number, way = place
    inner = lines
    for key in (number, *way)[:-1]:
        inner = inner[key]
    inner[(number, *way)[-1]] = odd
    trace = ClaudeExecutor()._parse_output("\n".join(map(json.dumps, lines)))
    stored = made_result(trace=trace)
    assert EvalResult.model_validate_json(stored.model_dump_json()) == stored


def test_what_the_agent_was_offered_is_recorded() -> None:
    offered = parse_recorded("ok_stream.stdout").offered
    assert offered.tools is not None
    assert {"Bash", "Skill"} <= set(offered.tools)
    assert offered.servers == {}
    assert offered.skills is not None
    assert offered.agents is not None


def test_what_no_line_lists_is_not_recorded() -> None:
    assert parse(RESULT).offered == Offered()
    init = {"type": "system", "subtype": "init", "mcp_servers": [{"name": "s", "status": "failed"}], "tools": "all"}
    assert parse(init, RESULT).offered == Offered(servers={"s": "failed"})
