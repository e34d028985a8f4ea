"""An agent without a model, which repeats the prompt. It tries a suite out at no cost."""

from __future__ import annotations

from pathlib import Path

from harness.executor.base import Executor
from harness.models import Config, ExecutionTrace


class EchoExecutor(Executor):
    """Changes nothing and answers with the prompt, which shows how a task scores no work at all."""

    agent = "echo"

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Answer at once."""
        return ExecutionTrace(
            result=prompt,
            claude_prompt=prompt,
            claude_response=prompt,
            config_snapshot=config.to_snapshot(),
            cost_usd=0.0,
            usage=None,
        )
