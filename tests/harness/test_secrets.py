"""Secrets in text and results: what is taken out, what stays, and how long that takes."""

from __future__ import annotations

import time

from harness.models import ExecutionTrace, ToolCall
from measure.results.files import without_secrets
from measure.secrets.redaction import REDACTED, Redactor, redact_text, server_secrets
from tests.harness.test_models import result
from tests.support import secret_corpus


def test_secrets_of_well_known_services_are_redacted() -> None:
    known = ("sk-", "ghp_", "github_pat_", "glpat-", "AKIA", "AIza", "xoxb-", "npm_", "hf_", "://", "Bearer", "PRIVATE")
    missed = secret_corpus.missed()
    assert not [line for line in missed if any(shape in line for shape in known) and "http" not in line]


def test_harmless_lines_are_left_alone() -> None:
    assert len(secret_corpus.harmless_lines()) == 200
    assert len(secret_corpus.touched()) <= 2, secret_corpus.touched()


def test_redacting_twice_is_redacting_once() -> None:
    for text, _ in secret_corpus.secret_lines():
        once = redact_text(text)
        assert redact_text(once) == once


def test_ids_models_and_enums_of_a_result_stay_even_when_a_secret_variable_holds_the_same_word() -> None:
    before = result(trace=ExecutionTrace(raw_output={"init": {"model": "claude-m-1", "apiKeySource": "none-of-them"}}))
    redactor = Redactor({"A_TOKEN": "completed", "B_TOKEN": before.model + "x" * 8, "C_TOKEN": "claude-m-1"})
    assert without_secrets(before, redactor) == before


def test_a_secret_in_any_text_of_a_result_is_taken_out() -> None:
    secret = "sk-ant-" + "api03-" + "A1b2" * 10
    call = ToolCall(
        name="Bash", input={"command": f"x {secret}", "deep": [{"password": "hunter2hunter"}]}, output=secret
    )
    trace = ExecutionTrace(result=secret, stderr=secret, tool_calls=[call], raw_output={"result": {"result": secret}})
    text = without_secrets(result(trace=trace), Redactor()).model_dump_json()
    assert secret not in text
    assert "hunter2hunter" not in text


def test_secrets_written_into_an_mcp_config_do_not_get_into_a_result() -> None:
    servers = {
        "a": {"command": "x", "env": {"SERVICE_TOKEN": "plain-looking-words"}},
        "b": {"url": "https://h", "headers": {"Authorization": "Bearer other-plain-words", "Accept": "text/plain"}},
    }
    redactor = Redactor(values=server_secrets(servers))
    assert redactor("plain-looking-words and other-plain-words, text/plain") == f"{REDACTED} and {REDACTED}, text/plain"


def test_a_result_of_a_megabyte_is_redacted_in_less_than_two_seconds_whatever_is_in_it() -> None:
    for piece in (
        "a",
        "password=",
        "73 6b ",
        "a-",
        " ",
        "0000020 73 6b\n",
        "def f(self, x: int) -> str:\n    return self.y[x]\n",
    ):
        trace = ExecutionTrace(result=piece * (1_000_000 // len(piece)))
        start = time.process_time()
        without_secrets(result(trace=trace), Redactor({f"TOKEN_{n}": f"{n}secret{n}value" * 4 for n in range(10)}))
        assert time.process_time() - start < 2, piece


def test_the_figures_in_the_docs_are_those_of_the_corpus() -> None:
    counts = secret_corpus.figures().split(", at about")[0]
    assert counts in secret_corpus.PAGE.read_text(encoding="utf-8").replace("\n", " ")
