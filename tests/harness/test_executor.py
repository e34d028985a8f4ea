"""What comes back from the CLI, and what is left of it afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.executor import ClaudeExecutor
from harness.executor.transcript import MOST_MESSAGES
from harness.models import ErrorKind, Outcome
from harness.sandbox import processes
from harness.sandbox.processes import Command, Limits, LineVerdict
from tests.support.fake_claude import RECORDED, FakeClaude, parse_recorded, play


def test_cache_tokens_are_counted() -> None:
    """They are called cache_read_input_tokens and cache_creation_input_tokens."""
    usage = parse_recorded("ok_stream.stdout").usage
    assert usage is not None
    assert (usage.cache_read_tokens, usage.cache_creation_tokens) == (15000, 3000)
    assert usage.total_tokens == 360 + 126
    assert usage.total_tokens_with_cache == 360 + 126 + 15000 + 3000


def test_totals_of_a_killed_run_count_each_message_once() -> None:
    """The CLI prints one line per content block, and each repeats the usage of its message."""
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines()[:-1]
    trace = ClaudeExecutor()._parse_output("\n".join(lines), 1)
    assert trace.usage is not None
    assert trace.usage.input_tokens == 3 * 120
    assert trace.cost_usd is None


def test_tool_calls_have_inputs_outputs_errors_and_times() -> None:
    """The json format has no tool calls; only the stream has."""
    bash, read = parse_recorded("ok_stream.stdout").tool_calls
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
    trace = parse_recorded(f"{name}.stdout")
    assert (trace.result, trace.num_turns, trace.cost_usd) == ("Done. The work is finished.", 3, 0.01872)
    assert trace.usage is not None
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
    assert trace.usage is not None
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.cost_usd) == (15, 3, 0.5)


def test_response_and_stderr_are_kept(tmp_path: Path) -> None:
    """Without them nobody can explain a run."""
    trace = play(tmp_path, FakeClaude(stderr="a warning\n"))
    assert trace.claude_response.count("I will use a tool.") == 2
    assert trace.claude_response.endswith("Done. The work is finished.")
    assert trace.stderr == "a warning\n"


@pytest.mark.slow
def test_output_before_a_timeout_is_kept(tmp_path: Path) -> None:
    lines = (RECORDED / "ok_stream.stdout").read_text().splitlines(keepends=True)[:3]
    partial = tmp_path / "partial.stdout"
    partial.write_text("".join(lines))
    trace = play(tmp_path, FakeClaude(str(partial), hang=True), timeout=1)
    assert trace.outcome is Outcome.TIMEOUT
    assert [call.name for call in trace.tool_calls] == ["Bash"]
    assert trace.session_id


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
    trace = play(tmp_path, FakeClaude(str(output)))
    assert trace.outcome is Outcome.COMPLETED
    assert trace.claude_response == text


def test_invalid_utf8_is_replaced(tmp_path: Path) -> None:
    output = tmp_path / "bad.stdout"
    output.write_bytes(b'{"type":"result","subtype":"success","is_error":false,"result":"caf\xe9"}\n')
    trace = play(tmp_path, FakeClaude(str(output)))
    assert (trace.outcome, trace.result) == (Outcome.COMPLETED, "caf�")


def test_half_a_surrogate_pair_can_be_written_to_a_file(tmp_path: Path) -> None:
    """A text that was cut between two UTF-16 units ends with one, and a field of a tool's input may be named so."""
    output = tmp_path / "surrogate.stdout"
    field = r'"result":"a\ud83d \ud83d\ude00","modelUsage":{"m\ud83d":{"\ud800":1}}'
    output.write_text('{"type":"result","subtype":"success","is_error":false,' + field + "}\n")
    trace = play(tmp_path, FakeClaude(str(output)))
    assert trace.result == "a? \U0001f600"
    assert trace.model_dump_json()


@pytest.mark.slow
def test_half_a_line_at_the_end_is_left_out(tmp_path: Path) -> None:
    recorded = (RECORDED / "hang_sigterm_stream.stdout").read_bytes()
    output = tmp_path / "half.stdout"
    output.write_bytes(recorded + b'{"type":"assistant","message":{"id":"m","cont')
    trace = play(tmp_path, FakeClaude(str(output), hang=True), timeout=1)
    assert trace.outcome is Outcome.INFRA_ERROR
    assert trace.claude_response == ""


def test_a_result_without_a_newline_at_the_end_counts(tmp_path: Path) -> None:
    output = tmp_path / "no_newline.stdout"
    output.write_bytes((RECORDED / "ok_stream.stdout").read_bytes().rstrip(b"\n"))
    assert play(tmp_path, FakeClaude(str(output))).outcome is Outcome.COMPLETED


def test_lines_that_are_no_json_do_not_disturb(tmp_path: Path) -> None:
    output = tmp_path / "noise.stdout"
    output.write_bytes(b"npm warn something\n\n[1, 2]\n" + (RECORDED / "ok_stream.stdout").read_bytes())
    assert play(tmp_path, FakeClaude(str(output))).outcome is Outcome.COMPLETED


@pytest.mark.slow
def test_children_in_sessions_of_their_own_end_with_the_run(tmp_path: Path) -> None:
    """The shell tool starts every command in its own session, where a group kill does not reach it."""
    marker = f"import time; time.sleep(300)  # {os.getpid()}-{time.monotonic_ns()}"
    child = [sys.executable, "-c", marker]
    play(tmp_path, FakeClaude("hang_sigterm_stream.stdout", hang=True, child=child), timeout=1)
    assert not _running(marker)


def test_children_left_by_a_finished_run_end_with_it(tmp_path: Path) -> None:
    marker = f"import time; time.sleep(300)  # {os.getpid()}-{time.monotonic_ns()}"
    trace = play(tmp_path, FakeClaude(child=[sys.executable, "-c", marker]))
    assert trace.outcome is Outcome.COMPLETED
    assert not _running(marker)


def test_processes_of_others_are_left_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    try:
        play(tmp_path)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_permission_denials_are_recorded(tmp_path: Path) -> None:
    assert play(tmp_path, FakeClaude("permission_denied_stream.stdout")).permission_denials == ["Bash"]


def _running(marker: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])]


def _printed(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _said(number: int, text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": str(number), "content": [{"type": "text", "text": text}]}}


def test_of_a_transcript_too_large_for_the_memory_later_texts_are_cut_and_the_result_is_whole(tmp_path: Path) -> None:
    turns = [_said(number, f"{number}" + "x" * 1_000_000) for number in range(12)]
    result = {"type": "result", "subtype": "success", "result": "y" * 5000, "terminal_reason": "completed"}
    trace = play(tmp_path, FakeClaude(stdout="", extra_stdout=_printed(*turns, result)))
    assert trace.outcome is Outcome.COMPLETED
    assert trace.result == "y" * 5000
    assert trace.num_turns == 12
    assert 2_000_000 < len(trace.claude_response) < 4_000_000
    assert "999802 characters left out" in trace.claude_response


def test_an_agent_that_prints_messages_without_end_is_ended(tmp_path: Path) -> None:
    flood = _printed(*(_said(number, "x") for number in range(MOST_MESSAGES + 10)))
    trace = play(tmp_path, FakeClaude(stdout="", extra_stdout=flood, hang=True))
    assert (trace.outcome, trace.error_kind) == (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED)
    assert f"{MOST_MESSAGES:,} messages" in trace.error


def test_a_line_that_is_too_long_comes_in_parts_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LONGEST_LINE", 100_000)
    seen: list[bytes] = []

    def take(line: bytes) -> LineVerdict:
        seen.append(line)
        return LineVerdict.CONTINUE

    command = ["bash", "-c", "echo one; head -c 5000000 /dev/zero; echo; echo two; head -c 200000 /dev/zero"]
    Command(command, cwd=tmp_path, env=dict(os.environ), limits=Limits(wall=30), on_line=take).run()
    assert [line for line in seen if line.strip(b"\0")] == [b"one", b"two"]
    assert max(map(len, seen)) == 100_000
