"""A loopback stand-in of the Messages API: streams, tool calls, errors and hangs, as a test scripts them.

A request for a chat completion or a response, as OpenAI has them, is answered in that form by the same scripts.

with MessagesAPI(by_prompt({"fix the bug": [ToolUse("Write", {...}), Text("Done.")]})) as api:
    run_something(ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="test")
assert "CLAUDE.md text" in api.main_requests[0].text
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 120, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 5000}
OUTPUT_TOKENS = 42
"""What every answer of the stand-in costs, so that tests can tell the expected totals."""


@dataclass(frozen=True)
class Text:
    """The model says `text` and ends its turn."""

    text: str
    stop_reason: str = "end_turn"


@dataclass(frozen=True)
class ToolUse:
    """The model calls a tool."""

    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """The API refuses the request with an HTTP status."""

    status: int
    type: str
    message: str = "refused by the stand-in"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """The API accepts the request and never answers while the stand-in runs."""


Reply = Text | ToolUse | Failure | Hang

AUTH = Failure(401, "authentication_error", "invalid x-api-key")
CREDIT = Failure(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
RATE_LIMIT = Failure(429, "rate_limit_error", "rate limited")
OVERLOADED = Failure(529, "overloaded_error", "Overloaded")
UNKNOWN_MODEL = Failure(404, "not_found_error", "model: not found")


@dataclass(frozen=True)
class Request:
    """One request as the stand-in received it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """System prompt and messages as one string, to look for what reached the model."""
        parts = [self.body.get(key, "") for key in ("system", "messages", "input", "tools")]
        return "\n".join(json.dumps(part, ensure_ascii=False) for part in parts)

    @property
    def is_main(self) -> bool:
        """Whether this is a turn of the agent and not a side request such as a title."""
        return self.path in ("/v1/messages", "/v1/responses") and bool(self.body.get("tools"))

    @property
    def turn(self) -> int:
        """How many answers of the model the conversation already holds."""
        said = sum(1 for message in self.body.get("messages", []) if message["role"] == "assistant")
        return said + sum(1 for item in self.body.get("input", ()) if item.get("type") == "function_call_output")


Responder = Callable[[Request], Reply]


def by_prompt(scripts: Mapping[str, Sequence[Reply]]) -> Responder:
    """Answers of the script whose key occurs in the first messages, one per turn; the last one repeats."""

    def respond(request: Request) -> Reply:
        if not request.is_main:
            return Text("Title")
        opening = json.dumps(request.body["messages"][:2], ensure_ascii=False)
        for marker, script in scripts.items():
            if marker in opening:
                return script[min(request.turn, len(script) - 1)]
        return Text("No script matches this prompt.")

    return respond


def always(*replies: Reply) -> Responder:
    """The given replies in order, whatever is asked; the last one repeats."""
    numbers = itertools.count()
    lock = threading.Lock()

    def respond(_request: Request) -> Reply:
        with lock:
            return replies[min(next(numbers), len(replies) - 1)]

    return respond


class MessagesAPI:
    """The server; use it as a context manager. `requests` holds everything received, in order."""

    def __init__(self, responder: Responder, host: str = "127.0.0.1") -> None:
        """Prepare it; `host` is the address to listen on, which containers cannot reach by default."""
        self.host = host
        self.responder = responder
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server((host, 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Base URL to give as ANTHROPIC_BASE_URL."""
        return f"http://{self.host}:{self._server.server_address[1]}"

    @property
    def main_requests(self) -> list[Request]:
        """The turns of agents, without side requests."""
        with self._lock:
            return [request for request in self.requests if request.is_main]

    def record(self, request: Request) -> None:
        """Keep a request; called by the handler threads."""
        with self._lock:
            self.requests.append(request)

    def __enter__(self) -> MessagesAPI:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: MessagesAPI

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that were killed are no fault."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Keep test output quiet."""

    def do_HEAD(self) -> None:
        """Connectivity probes of clients."""
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        """Nothing but the Messages API exists here."""
        self._send(404, _error_body(Failure(404, "not_found_error")), "application/json")

    def do_POST(self) -> None:
        """One request: recorded, then answered as the responder says."""
        api = self.server.api
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        request = Request(self.path.split("?")[0], dict(self.headers), body)
        api.record(request)
        if request.path == "/v1/messages/count_tokens":
            self._send(200, b'{"input_tokens": 120}', "application/json")
            return
        if request.path not in ("/v1/messages", "/v1/chat/completions", "/v1/responses"):
            self.do_GET()
            return
        reply = api.responder(request)
        if isinstance(reply, Hang):
            api.stopped.wait()
            self.close_connection = True
        elif isinstance(reply, Failure):
            self._send(reply.status, _error_body(reply), "application/json", reply.headers)
        elif request.path == "/v1/chat/completions":
            self._send(200, json.dumps(_completion(reply)).encode(), "application/json")
        elif body.get("stream"):
            answer = _response(reply) if request.path == "/v1/responses" else _events(reply, body)
            events = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in answer)
            self._send(200, events.encode(), "text/event-stream")
        else:
            self._send(200, json.dumps(_message(reply, body)).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            for name, value in {"request-id": "req_stand_in", **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the client was killed, which is what some tests are about
            self.close_connection = True


_numbers = itertools.count(1)


def _block(reply: Text | ToolUse) -> dict[str, Any]:
    if isinstance(reply, Text):
        return {"type": "text", "text": reply.text}
    return {"type": "tool_use", "id": f"toolu_{next(_numbers):08d}", "name": reply.name, "input": reply.input}


def _message(reply: Text | ToolUse, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"msg_{next(_numbers):08d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [_block(reply)],
        "stop_reason": reply.stop_reason if isinstance(reply, Text) else "tool_use",
        "stop_sequence": None,
        "usage": {**USAGE, "output_tokens": OUTPUT_TOKENS},
    }


def _completion(reply: Text | ToolUse) -> dict[str, Any]:
    assert isinstance(reply, Text), "no tool is called in a chat completion here"
    reason = {"end_turn": "stop", "max_tokens": "length"}.get(reply.stop_reason, reply.stop_reason)
    return {
        "id": f"chatcmpl-{next(_numbers):08d}",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": reply.text}}],
        "usage": {"prompt_tokens": USAGE["input_tokens"], "completion_tokens": OUTPUT_TOKENS},
    }


def _response(reply: Text | ToolUse) -> Iterator[dict[str, Any]]:
    number = f"{next(_numbers):08d}"
    if isinstance(reply, Text):
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
    else:
        server, _, tool = reply.name.rpartition("__")
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": tool}
        item |= {"arguments": json.dumps(reply.input), **({"namespace": server} if server else {})}
    cached = USAGE["cache_read_input_tokens"]
    given = cached + USAGE["input_tokens"]
    usage = {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": OUTPUT_TOKENS,
        "total_tokens": given + OUTPUT_TOKENS,
    }
    yield {"type": "response.created", "response": {"id": f"resp_{number}"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": {**item, "status": "completed"}}
    yield {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}}


def _events(reply: Text | ToolUse, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message = _message(reply, body)
    block = message["content"][0]
    start = {**message, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    if isinstance(reply, Text):
        opening: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": reply.text}
    else:
        opening = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.input)}
    yield {"type": "content_block_start", "index": 0, "content_block": opening}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": OUTPUT_TOKENS}}
    yield {"type": "message_stop"}


def _error_body(failure: Failure) -> bytes:
    error = {"type": failure.type, "message": failure.message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_stand_in"}).encode()
