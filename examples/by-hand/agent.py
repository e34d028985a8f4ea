"""A Harbor agent that is whoever sits at the desk, a person or a program: `-a agent:ByHand --ak desk=FOLDER`.

Each trial lays a folder with its instruction on the desk; desk.py takes it, runs commands in the task's container,
calls its MCP servers from there and hands in the answer. The trajectory says what was done.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent  # type: ignore[import-not-found]
from harbor.agents.capabilities import AgentCapabilities  # type: ignore[import-not-found]
from harbor.environments.base import BaseEnvironment  # type: ignore[import-not-found]
from harbor.models.agent.context import AgentContext  # type: ignore[import-not-found]

ANSWER = "/app/solution.md"
LONGEST_OUTPUT = 30_000
"""Characters of output that come back from a call, as coding agents have it."""
SECONDS = 120
"""For one command."""
POLL = 0.2


class ByHand(BaseAgent):  # type: ignore[misc]
    """Does what comes from the desk, at most `max_calls` commands and tool calls a task (0: as many as you like)."""

    capabilities = AgentCapabilities(atif=True, mcp_servers=True)

    def __init__(self, *args: Any, desk: str, max_calls: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.desk, self.max_calls = Path(desk), max_calls
        self.steps: list[dict[str, Any]] = []

    @staticmethod
    def name() -> str:
        return "by-hand"

    def version(self) -> str:
        return "1.0.0"

    async def setup(self, environment: BaseEnvironment) -> None:
        pass

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        place = self.desk / self.logs_dir.parent.name
        place.mkdir(parents=True)
        self._record("user", instruction)
        try:
            tools = [await self._tools(server, environment) for server in self.mcp_servers]
            write(place / "instruction.md", "\n\n".join([instruction, *tools, self._budget()]))
            calls = number = 0
            while True:
                number += 1
                request = json.loads(await wait_for(place / f"{number}.request"))
                if "answer" in request:
                    await self._hand_in(request["answer"], environment)
                    write(place / f"{number}.reply", "handed in")
                    return
                calls += 1
                if self.max_calls and calls > self.max_calls:
                    reply = "No calls are left: hand in your answer."
                else:
                    reply = await self._call(request, environment)
                write(place / f"{number}.reply", reply)
        finally:
            (place / "closed").touch()

    def _budget(self) -> str:
        return f"You have {self.max_calls} calls for this task." if self.max_calls else ""

    async def _call(self, request: dict[str, Any], environment: BaseEnvironment) -> str:
        """Run a command or call a tool, note it in the trajectory, and return what it said."""
        if "command" in request:
            name, arguments = "Bash", {"command": request["command"]}
            output, failed = await run_in(environment, request["command"])
        else:
            name, arguments = f"mcp__{request['server']}__{request['tool']}", request["arguments"]
            server = next((s for s in self.mcp_servers if s.name == request["server"]), None)
            if server is None:
                return f"There is no server {request['server']}."
            asked = {"name": request["tool"], "arguments": arguments}
            output, failed = await ask(environment, server.url, "tools/call", asked)
        output = output[:LONGEST_OUTPUT]
        call = {"tool_call_id": str(len(self.steps)), "function_name": name, "arguments": arguments}
        result = {"source_call_id": call["tool_call_id"], "content": f"Error: {output}" if failed else output}
        self._record("agent", "", tool_calls=[call], observation={"results": [result]})
        return output

    async def _hand_in(self, answer: str, environment: BaseEnvironment) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
            file.write(answer)
            file.flush()
            await environment.upload_file(file.name, ANSWER)
        self._record("agent", answer)

    async def _tools(self, server: Any, environment: BaseEnvironment) -> str:
        said, _ = await ask(environment, server.url, "tools/list", {})
        return f"# Tools of the MCP server `{server.name}`\n\n{said}"

    def _record(self, source: str, message: str, **more: Any) -> None:
        """Add a step and write the trajectory, so that a trial that is stopped keeps what was done."""
        now = datetime.now(UTC).isoformat()
        self.steps.append(
            {"step_id": len(self.steps) + 1, "timestamp": now, "source": source, "message": message, **more}
        )
        agent = {"name": self.name(), "version": self.version()}
        whole = {"schema_version": "ATIF-v1.6", "session_id": self.logs_dir.parent.name, "agent": agent}
        write(self.logs_dir / "trajectory.json", json.dumps(whole | {"steps": self.steps}))


async def run_in(environment: BaseEnvironment, command: str) -> tuple[str, bool]:
    """Run a command in the container; return its output and whether it failed."""
    done = await environment.exec(f"timeout {SECONDS} bash -c {shlex.quote(command)} 2>&1")
    return (done.stdout or "") + (done.stderr or ""), done.return_code not in (0, 1)  # 1: grep found nothing


async def ask(environment: BaseEnvironment, url: str, method: str, parameters: dict[str, Any]) -> tuple[str, bool]:
    """Send a request to an MCP server without sessions, from the container; return its text and whether it failed."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
    headers = "-H 'Content-Type: application/json' -H 'Accept: application/json'"
    said, failed = await run_in(environment, f"curl -sS {headers} -d {shlex.quote(body)} {shlex.quote(url)}")
    try:
        result = json.loads(said)["result"]
    except (ValueError, KeyError):
        return said, True
    if "content" not in result:
        return json.dumps(result["tools"], indent=1), failed
    return "\n".join(part.get("text", "") for part in result["content"]), failed or bool(result.get("isError"))


async def wait_for(file: Path) -> str:
    """Wait until desk.py has written a file, which it does whole."""
    while not file.exists():
        await asyncio.sleep(POLL)
    return file.read_text(encoding="utf-8")


def write(file: Path, text: str) -> None:
    """Write a file whole, so that whoever waits for it never reads half."""
    part = file.with_name(f".{file.name}")
    part.write_text(text, encoding="utf-8")
    part.rename(file)
