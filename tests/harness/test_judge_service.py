"""One call to a judge: what a service may reply, refuse or break, in both kinds of API, and where the key stays."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import pytest

from harness.graders import service as judge_service
from harness.graders.service import Api, Question, Reply, Service
from harness.models import TokenUsage
from locobench.scoring.judge.judging import AnswerVerdict
from tests.support.stand_in.messages_api import (
    OUTPUT_TOKENS,
    OVERLOADED,
    RATE_LIMIT,
    USAGE,
    Failure,
    Hang,
    MessagesAPI,
    Text,
    always,
)
from tests.support.stand_in.messages_api import Reply as Said

KEY = "sk-stand-in-0123456789"
GRADE = {
    "checks": [{"claim": "warm_start stores epochs", "verdict": "true", "evidence": "src/price_cache.py:3"}],
    "code_truth": 80,
    "task_points": 60,
    "overall": 65,
    "reason": "Right, but brief.",
}
GOOD = Text(json.dumps(GRADE))
APIS = pytest.mark.parametrize("api", get_args(Api))


QUESTION = Question(
    version="1",
    texts=lambda: ("system", "user"),
    schema=AnswerVerdict.reply_schema(),
    read=AnswerVerdict.read,
    score=lambda verdict: verdict["overall"] / 100,
)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds between attempts, which nobody waits here."""
    waited: list[float] = []
    monkeypatch.setattr(judge_service, "sleep", waited.append)
    monkeypatch.setattr(judge_service, "TIME_LIMIT_SECONDS", 20)
    return waited


def grade(url: str, api: Api = "anthropic", key: str = KEY) -> Reply:
    return Service(api, url, key).ask(QUESTION, "m")


@APIS
def test_a_good_reply_is_a_grade_with_its_tokens(api: Api) -> None:
    with MessagesAPI(always(GOOD)) as service:
        found = grade(service.url, api)

    assert (found.verdict, found.error) == (GRADE, "")
    assert found.usage == TokenUsage(input_tokens=USAGE["input_tokens"], output_tokens=OUTPUT_TOKENS)


@APIS
def test_the_request_asks_for_the_schema_and_has_the_key_in_its_header_alone(api: Api) -> None:
    with MessagesAPI(always(GOOD)) as service:
        grade(service.url, api)

    (request,) = service.requests
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert KEY in headers["x-api-key" if api == "anthropic" else "authorization"]
    assert KEY not in json.dumps(request.body)
    form = request.body["output_config"]["format"] if api == "anthropic" else request.body["response_format"]
    assert json.dumps(AnswerVerdict.reply_schema()) in json.dumps(form)


@APIS
@pytest.mark.parametrize("first", [RATE_LIMIT, OVERLOADED, Failure(500, "api_error")])
def test_a_busy_service_is_asked_again(api: Api, first: Said) -> None:
    with MessagesAPI(always(first, GOOD)) as service:
        assert grade(service.url, api).verdict == GRADE
    assert len(service.requests) == 2


@APIS
@pytest.mark.parametrize("reply", [RATE_LIMIT, OVERLOADED, Failure(500, "api_error")])
def test_a_service_that_stays_busy_is_given_up(api: Api, reply: Failure) -> None:
    with MessagesAPI(always(reply)) as service:
        assert f"answered {reply.status}" in grade(service.url, api).error
    assert len(service.requests) == 5


@APIS
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Text("Sorry, no JSON."), "malformed verdict (verdict: Invalid JSON"),
        (Text(json.dumps({**GRADE, "overall": 165})), "overall: Input should be less than or equal to 100"),
        (Text(json.dumps({**GRADE, "overall": float("nan")})), "overall: Input should be"),
        (Text(json.dumps({**GRADE, "overall": 100, "code_truth": 10, "task_points": 10})), "far above"),
        (Text(json.dumps({**GRADE, "note": "the answer said so"})), "note: Extra inputs are not permitted"),
        (Text(json.dumps(GRADE) * 2), "malformed verdict (verdict: Invalid JSON"),
        (Text(json.dumps(GRADE)[:-9], "max_tokens"), "stopped with"),
        (Text("I cannot grade this.", "refusal"), "stopped with refusal"),
    ],
)
def test_what_is_no_grade_is_paid_once_and_an_error_that_says_why(api: Api, reply: Said, message: str) -> None:
    with MessagesAPI(always(reply, GOOD)) as service:
        found = grade(service.url, api)
    assert message in found.error
    assert (found.verdict, found.usage.output_tokens, len(service.requests)) == (None, OUTPUT_TOKENS, 1)


@APIS
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refused_request_is_not_repeated(api: Api, status: int) -> None:
    with MessagesAPI(always(Failure(status, "refused"))) as service:
        assert str(status) in grade(service.url, api).error
    assert len(service.requests) == 1


def test_a_service_that_never_answers_is_given_up_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_service, "TIME_LIMIT_SECONDS", 0.3)
    with MessagesAPI(always(Hang())) as service:
        assert "cannot be reached" in grade(service.url).error


def test_a_longer_wait_than_the_time_left_is_not_waited(waits: list[float]) -> None:
    slow_down = Failure(429, "rate_limit_error", headers={"retry-after": "60"})
    with MessagesAPI(always(slow_down)) as service:
        assert "429" in grade(service.url).error
    assert waits == []


def test_nobody_listening_is_an_error() -> None:
    with MessagesAPI(always(GOOD)) as service:
        url = service.url
    assert "cannot be reached" in grade(url).error


@contextmanager
def raw_service(reply: bytes) -> Iterator[str]:
    """A service that answers every request with these bytes; yields its URL."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            self.wfile.write(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xff",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"content":"x","a":1}',
    ],
)
def test_a_broken_reply_is_an_error_of_the_judge(reply: bytes) -> None:
    with raw_service(reply) as url:
        found = grade(url)
    assert found.verdict is None
    assert found.error


def test_the_key_does_not_follow_a_redirect() -> None:
    with MessagesAPI(always(GOOD)) as elsewhere:
        moved = f"HTTP/1.1 302 Found\r\nlocation: {elsewhere.url}/v1/messages\r\ncontent-length: 0\r\n\r\n"
        with raw_service(moved.encode()) as url:
            assert "302" in grade(url).error
        assert elsewhere.requests == []


@pytest.mark.parametrize("key", ["", f"{KEY}\n", f"{KEY}\r\nx-evil: 1", f"{KEY}\u2026"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with MessagesAPI(always(GOOD)) as service:
        found = grade(service.url, key=key)
    assert (found.verdict, service.requests) == (None, [])
    assert "key" in found.error
    assert KEY not in found.error


@pytest.mark.parametrize("url", ["", "api.example", "file:///etc/passwd"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    assert "base URL" in grade(url).error
