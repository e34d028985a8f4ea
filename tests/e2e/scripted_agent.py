"""An agent for Harbor that does what it is told instead of asking a model; run by Harbor's own Python.

`harbor run --agent tests.e2e.scripted_agent:Scripted --agent-kwarg deed=DEED`, with the repository on PYTHONPATH.
"""

from __future__ import annotations

import json
from typing import Any

from harbor.agents.base import BaseAgent  # type: ignore[import-not-found]
from harbor.agents.capabilities import AgentCapabilities  # type: ignore[import-not-found]

COMMANDS = {
    "read": "cat /app/project/*/README.md /app/project/README.md 2>/dev/null | head -50; echo read > /app/solution.md",
    # What `docker stop`, a full host or a memory limit does to the container, seen from within.
    "die": "kill -KILL -1",
    "wait": "sleep 600",
}


class Scripted(BaseAgent):  # type: ignore[misc]
    """Runs one command of COMMANDS; leaves a trajectory with one tool call unless told not to."""

    capabilities = AgentCapabilities(atif=True, mcp_servers=True)

    def __init__(self, *args: Any, deed: str = "read", trajectory: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.deed, self.trajectory = deed, trajectory

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: Any) -> None:
        pass

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        command = COMMANDS[self.deed]
        result = await environment.exec(command)
        if result.return_code != 0:
            raise RuntimeError(f"Command failed with exit code {result.return_code}: {command}")
        if not self.trajectory:
            return
        call = {"tool_call_id": "1", "function_name": "Bash", "arguments": {"command": command}}
        steps: list[dict[str, Any]] = [
            {"step_id": 1, "source": "user", "message": instruction},
            {"step_id": 2, "source": "agent", "message": "reading", "tool_calls": [call]},
            {"step_id": 3, "source": "agent", "message": "done"},
        ]
        agent = {"name": self.name(), "version": self.version()}
        trajectory = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps}
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trajectory))
