"""A language server as a resolver: where is the symbol at this place used?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class LanguageServer:
    """Speaks with a server over its standard input and output."""

    def __init__(self, command: list[str], root: Path, language_id: str, options: dict[str, Any] | None = None) -> None:
        self.root, self.language_id = root, language_id
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
        )
        self.number = 0
        self.opened: set[str] = set()
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "code"}],
                "initializationOptions": options or {},
                "capabilities": {
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}},
                    "experimental": {"serverStatusNotification": True},
                },
            },
        )
        self.send("initialized", {})

    def __enter__(self) -> LanguageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def open(self, path: str) -> None:
        """Tell the server of a file, once."""
        if path not in self.opened:
            self.opened.add(path)
            text = (self.root / path).read_text(encoding="utf-8", errors="replace")
            uri = (self.root / path).as_uri()
            self.send(
                "textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": self.language_id, "version": 1, "text": text}},
            )

    def references(self, path: str, line: int, column: int) -> list[tuple[str, int, int]]:
        """Return path, line and column (both from 0) of all uses of the symbol at a place."""
        self.open(path)
        found = self.request(
            "textDocument/references",
            {
                "textDocument": {"uri": (self.root / path).as_uri()},
                "position": {"line": line, "character": column},
                "context": {"includeDeclaration": False},
            },
        )
        return list(self._places(found or []))

    def _places(self, found: list[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
        prefix = self.root.as_uri() + "/"
        for one in found:
            if one["uri"].startswith(prefix):
                from urllib.parse import unquote

                start = one["range"]["start"]
                yield unquote(one["uri"].removeprefix(prefix)), start["line"], start["character"]

    def send(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        """Send a request and return its result; what the server asks meanwhile is answered with nothing."""
        self.number += 1
        self._write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        """Answer what the server asks with nothing, and note what it tells of itself."""
        if "id" in message and "method" in message:
            asked = message.get("params") or {}
            nothing = [None] * len(asked.get("items", [])) if "items" in asked else None
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": nothing})
        elif message.get("method") == "indexingEnded":
            self.indexed = True

    indexed = False

    def wait_until_indexed(self) -> None:
        """Read until the server says that it has read all files (intelephense)."""
        while not self.indexed:
            self._answer(self._read())

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        if not length:
            raise RuntimeError("the language server has ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message
