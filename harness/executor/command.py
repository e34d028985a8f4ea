"""Runs any program as an agent: it reads the prompt, works in its current folder, and prints its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from harness.executor.base import ProcessExecutor, mcp_file
from harness.executor.transcript import STOP_ENDINGS
from harness.models import Config, ErrorKind, ExecutionTrace, Offered, Outcome
from harness.sandbox.processes import Limits, ProcessResult
from measure.records.outcomes import Ending

MODEL_VARIABLE = "HARNESS_MODEL"
"""Holds the model of the config."""
SERVERS_VARIABLE = "HARNESS_MCP_CONFIG"
"""Holds the path of a file with the run's MCP servers, in the format of .mcp.json."""

ERROR_CHARS = 300
"""How many of the last characters of a failed program's stderr go into the error."""


class CommandExecutor(ProcessExecutor):
    """Runs a program that gets the prompt on stdin and prints its answer.

    CLAUDE.md, AGENTS.md and skills are files in its folder. Its work is graded like any agent's; its tool calls and
    cost are unknown. An exit code other than 0 means that it could not work: the run is lost.
    """

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("allowed_tools", "disallowed_tools", "max_budget_usd", "effort", "snapshot"), "remove it"
    )

    def __init__(self, command: Sequence[str], mcp_config_path: Path | str | None = None, **options: Any) -> None:
        """`command`: the program and its arguments. For the rest, see `ProcessExecutor`."""
        super().__init__(command[0], mcp_config_path, **options)
        self.arguments = tuple(command[1:])

    @property
    def agent(self) -> str:
        """The program's name."""
        return Path(self.program).name

    @property
    def identity(self) -> str:
        """The whole command, and the sandbox's identity."""
        return "\0".join([self.program, *self.arguments, self.sandbox.identity])

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path | str,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Run the program once, for up to `timeout` seconds; there is no limit on silence."""
        config, isolated = self.resolve(config), env_override or {}
        env = {**self.sandbox.agent_variables(), **isolated, **config.env, MODEL_VARIABLE: config.model}
        with mcp_file(config.servers) as servers:
            known, stdout = self._run(
                [self.program, *self.arguments],
                prompt,
                config,
                working_dir,
                env={**env, SERVERS_VARIABLE: str(servers)},
                isolated=isolated,
                decide=self._ending,
                limits=Limits(timeout, grace=self.grace_seconds),
                reads=[servers],
            )
        return ExecutionTrace(
            **known,
            result=stdout.strip(),
            claude_response=stdout,
            usage=None,
            has_transcript=False,
            num_turns=None,
            offered=Offered(servers=dict.fromkeys(config.servers, "")),
        )

    def _ending(self, finished: ProcessResult, stderr: str) -> Ending:
        if finished.cause in STOP_ENDINGS:
            return STOP_ENDINGS[finished.cause]
        if not finished.returncode:
            return Ending(Outcome.COMPLETED)
        text = f"{self.agent} ended with exit code {finished.returncode}; {stderr.strip()[-ERROR_CHARS:]}"
        return Ending(Outcome.INFRA_ERROR, ErrorKind.EXECUTOR, text.rstrip("; "))
