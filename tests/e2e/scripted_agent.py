"""An agent for Harbor that does what it is told instead of asking a model; run by Harbor's own Python.

`harbor run --agent tests.e2e.scripted_agent:Scripted --ak deed=DEED`, with the repository on PYTHONPATH.
"""

from __future__ import annotations

import json
from typing import Any

from harbor.agents.base import BaseAgent  # type: ignore[import-not-found]
from harbor.agents.capabilities import AgentCapabilities  # type: ignore[import-not-found]

COMMANDS = {
    "answer": "mkdir -p /app; echo 42 > /app/solution.md",
    # What the kernel does when the container's memory runs out.
    "die": "kill -KILL -1",
    # The tests of these tasks write no reward when they see this file.
    "lose": "mkdir -p /app; echo 42 > /app/solution.md; touch /app/lose-the-reward",
    "dawdle": "sleep 4; mkdir -p /app; echo 42 > /app/solution.md",
}


class Scripted(BaseAgent):  # type: ignore[misc]
    """Runs one command of COMMANDS; leaves a trajectory with that one tool call unless told not to."""

    capabilities = AgentCapabilities(atif=True, mcp_servers=True)

    def __init__(self, *args: Any, deed: str = "answer", trajectory: bool = True, **kwargs: Any) -> None:
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
        await environment.exec(command)
        if not self.trajectory:
            return
        call = {"tool_call_id": "1", "function_name": "Bash", "arguments": {"command": command}}
        steps: list[dict[str, Any]] = [
            {"step_id": 1, "source": "user", "message": instruction},
            {"step_id": 2, "source": "agent", "message": "answering", "tool_calls": [call]},
        ]
        agent = {"name": self.name(), "version": self.version()}
        trajectory = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": agent, "steps": steps}
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trajectory))
