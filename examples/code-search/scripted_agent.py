"""A Harbor agent without a model, to try the wiring before money is spent: `-a scripted_agent:ScriptedAgent`.

It runs scripted_program.py in the task's container, so it reaches the server over the same network as a real agent.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from harbor.agents.base import BaseAgent  # type: ignore[import-not-found]
from harbor.agents.capabilities import AgentCapabilities  # type: ignore[import-not-found]
from harbor.environments.base import BaseEnvironment  # type: ignore[import-not-found]
from harbor.models.agent.context import AgentContext  # type: ignore[import-not-found]

PROGRAM = Path(__file__).with_name("scripted_program.py")
ANSWER = "/app/solution.md"


class ScriptedAgent(BaseAgent):  # type: ignore[misc]
    """Answers from what the server's tools return; without a server, from the task's own words."""

    capabilities = AgentCapabilities(atif=True, mcp_servers=True)

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1.0.0"

    async def setup(self, environment: BaseEnvironment) -> None:
        await environment.upload_file(PROGRAM, "/tmp/agent.py")

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        servers = self.logs_dir / "servers.json"
        servers.write_text(json.dumps([server.model_dump() for server in self.mcp_servers]), encoding="utf-8")
        task = self.logs_dir / "instruction.md"
        task.write_text(instruction, encoding="utf-8")
        for file in (servers, task):
            await environment.upload_file(file, f"/tmp/{file.name}")
        trajectory = self.environment_logs_dir / "trajectory.json"
        command = ["python3", "/tmp/agent.py", "/tmp/servers.json", "/tmp/instruction.md", str(trajectory), ANSWER]
        result = await environment.exec(shlex.join(command))
        if result.return_code != 0:
            raise RuntimeError(f"the agent's program failed: {(result.stderr or result.stdout or '')[-2000:]}")
