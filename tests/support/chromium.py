"""Headless Chromium for tests: opens a page, evaluates JavaScript in it, and tells what it asked for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
# Where --remote-debugging-pipe reads commands and writes answers, each a JSON text that a NUL ends.
COMMANDS, ANSWERS = 3, 4


class Browser:
    """One tab, driven by the Chrome DevTools Protocol over a pipe."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands, self._answers, self._number, self._session = commands, answers, 0, ""
        self.requests: list[str] = []
        """The URLs that the page asked for, its own first."""
        self.complaints: list[str] = []
        """Console messages, log entries (a breach of the content security policy is one) and uncaught errors."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result.

        Raises:
            RuntimeError: the browser refuses it.
        """
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        self._commands.flush()
        while (message := self._next()).get("id") != self._number:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        return dict(message["result"])

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", url=path.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page (JSON)."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser ended"
            text += byte
        message: dict[str, Any] = json.loads(text)
        told = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.complaints.append(json.dumps(told))
        return message


@contextlib.contextmanager
def chromium(program: str, profile: Path) -> Iterator[Browser]:
    """Start `program` with an empty profile folder; it ends with the block."""
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    # Out of the way of the two numbers that the browser expects.
    high_in, high_out = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out))

    def take_places() -> None:
        os.dup2(high_in, COMMANDS)
        os.dup2(high_out, ANSWERS)

    command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    with (
        (profile.parent / "chromium.log").open("wb") as log,
        os.fdopen(ours_out, "wb") as commands,
        os.fdopen(ours_in, "rb") as answers,
        subprocess.Popen(
            command, stdout=log, stderr=log, preexec_fn=take_places, pass_fds=(COMMANDS, ANSWERS)
        ) as process,
    ):
        for end in (theirs_in, theirs_out, high_in, high_out):
            os.close(end)
        try:
            yield Browser(commands, answers)
        finally:
            process.kill()
