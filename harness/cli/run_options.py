"""Options of the commands that run agents, gathered into one record."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harness.executor import ClaudeExecutor, Executor
from harness.executor.base import load_executor
from harness.executor.codex.executor import CodexExecutor
from harness.executor.command import CommandExecutor
from harness.executor.echo import EchoExecutor
from harness.graders.composite_grader import CompositeGrader
from harness.models import EvalResult
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.runner import EvalRunner
from harness.runner.plan import UNFINISHED, PlannedRun, count_repeats
from harness.sandbox.place import DEFAULT_IMAGE, Sandbox
from locobench.shared.errors import InputError
from measure.commands.options import PATH, together
from measure.report.console import say
from measure.summary.wording import counted


@dataclass(frozen=True)
class RunOptions:
    """How agents are run and judged, and whether a journal is continued."""

    resume: bool
    yes: bool
    """Whether the user already agreed to pay again for repeated runs."""
    executor: str
    command: str | None
    claude_path: str
    mcp_config: Path | None
    judge_model: str
    sandbox: str
    sandbox_image: str | None
    output: Path | None
    quiet: bool

    def runner(self) -> EvalRunner:
        """Create a runner from the options."""
        place = self._sandbox()
        grader = CompositeGrader(self.judge_model, sandbox=place)
        return EvalRunner(self._executor(place), grader)

    def confirm_repeats(self, planned: Sequence[PlannedRun], earlier: Sequence[EvalResult], journal: Path) -> None:
        """Print which runs of a journal have to be repeated and why; on a terminal, ask first if any had finished.

        Raises:
            InputError: the user says no.
        """
        again = count_repeats(planned, earlier)
        for reason, number in again.items():
            say(f"{counted(number, 'run')} of {journal} will run again and be billed again: {reason}", err=True)
        asks = again.keys() - {UNFINISHED} and sys.stdin.isatty()
        if asks and not click.confirm("Pay for them again?", err=True):
            raise InputError(f"nothing was run; {journal} is unchanged")

    def _executor(self, place: Sandbox) -> Executor:
        """Create the agent."""
        if (self.executor == "command") != (self.command is not None):
            raise InputError("--executor command and --command 'PROGRAM …' go together; add the other one")
        if self.command is not None:
            return CommandExecutor(_words(self.command), self.mcp_config, sandbox=place)
        if self.executor == "claude":
            return ClaudeExecutor(self.claude_path, mcp_config_path=self.mcp_config, sandbox=place)
        if self.executor == "codex":
            return CodexExecutor(mcp_config_path=self.mcp_config, sandbox=place)
        if self.executor == "echo":
            return EchoExecutor()
        return load_executor(self.executor)

    def _sandbox(self) -> Sandbox:
        """Return the sandbox that agents and checks run in."""
        if self.sandbox == "docker":
            from harness.sandbox.docker_sandbox import DockerSandbox  # the SDK takes long to load

            return DockerSandbox(self.sandbox_image or DEFAULT_IMAGE)
        if self.sandbox_image:
            raise InputError("--sandbox-image needs --sandbox docker; add it")
        return Sandbox()


def _words(command: str) -> list[str]:
    try:
        if words := shlex.split(command):
            return words
        reason = "it is empty"
    except ValueError as error:
        reason = str(error)
    raise InputError(f"--command {command!r}: {reason}; write a program and its arguments as in a shell")


run_options = together(
    click.option("-o", "--output", type=PATH, help="Results file to write; its journal is beside it."),
    click.option("--resume", is_flag=True, help="Continue OUTPUT: keep its finished runs and make the others."),
    click.option("-y", "--yes", is_flag=True, help="Repeat and pay for finished runs without asking."),
    click.option(
        "--executor",
        default="claude",
        show_default=True,
        help="The agent: claude, codex, command (with --command), echo (no model: it repeats the prompt), or"
        " MODULE:CLASS of an Executor of your own.",
    ),
    click.option("--command", help="With --executor command: the program and its arguments, in quotes."),
    click.option("--claude", "claude_path", default="claude", envvar="HARNESS_CLAUDE", help="The claude executable."),
    click.option(
        "--mcp-config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="MCP servers for every run, besides those of the configs.",
    ),
    click.option("--judge-model", default=DEFAULT_JUDGE_MODEL, show_default=True, help="Model of LLM judges."),
    click.option(
        "--sandbox",
        type=click.Choice(["host", "docker"]),
        default="host",
        show_default=True,
        help="Where agents and checks run: on this machine as you, or each in a container of its own.",
    ),
    click.option("--sandbox-image", help=f"An image with the claude CLI.  [default: {DEFAULT_IMAGE}]"),
    click.option("--quiet", is_flag=True, help="Print nothing but errors and the result path."),
)
