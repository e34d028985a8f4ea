"""How an answer was reached: the files that an agent saw on its way."""

from __future__ import annotations

from typing import Any

from measure.records import ToolCall
from measure.results.reach import reach_of

FILES = ["src/core/parser.py", "src/core/lexer.py", "src/cli/main.py", "lib/main.py", "Makefile"]
KEY = ["src/core/parser.py", "src/cli/main.py"]


def call(output: str | None = "", error: str | None = None, **given: Any) -> ToolCall:
    return ToolCall(name="Bash", input=given, output=output, error=error)


def test_calls_are_counted_until_the_first_file_of_the_key_is_seen() -> None:
    reach = reach_of([call("lib/main.py"), call("./src/core/parser.py:12: def parse"), call("done")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.precision) == (2, 0.5, 0.5)


def test_a_file_that_is_opened_by_its_path_in_the_container_is_seen() -> None:
    reach = reach_of([call("def parse", file_path="/app/project/src/core/parser.py")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.precision) == (1, 1.0)


def test_the_end_of_a_path_names_a_file_only_if_one_file_has_it() -> None:
    assert reach_of([call("core/parser.py")], KEY, FILES).recall == 0.5  # type: ignore[union-attr]
    assert reach_of([call("main.py: no such name")], KEY, FILES).recall == 0.0  # type: ignore[union-attr]


def test_a_path_in_a_failed_call_was_not_seen() -> None:
    reach = reach_of([call(None, "permission denied", file_path="src/cli/main.py")], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.precision) == (None, 0.0, None)


def test_what_tools_returned_is_counted_in_bytes() -> None:
    reach = reach_of([call("é"), call(None, "no")], KEY, FILES)
    assert reach is not None
    assert reach.bytes_read == 4


def test_an_agent_that_called_no_tool_saw_nothing() -> None:
    reach = reach_of([], KEY, FILES)
    assert reach is not None
    assert (reach.calls_to_first, reach.recall, reach.bytes_read) == (None, 0.0, 0)


def test_calls_without_recorded_text_say_nothing() -> None:
    assert reach_of([call(None), call(None)], KEY, FILES) is None


def test_without_the_code_base_the_share_of_what_was_seen_is_not_known() -> None:
    reach = reach_of([call("src/core/parser.py and src/core/lexer.py")], KEY, ())
    assert reach is not None
    assert (reach.recall, reach.precision) == (0.5, None)
