"""Options of the commands that run agents, and what they make."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Container, Sequence
from pathlib import Path

import click

from harness.executor import ClaudeExecutor, Executor
from harness.executor.codex.executor import CodexExecutor
from harness.executor.command import CommandExecutor
from harness.executor.echo import EchoExecutor
from harness.graders.composite_grader import CompositeGrader
from harness.models import EvalResult
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.runner import EvalRunner
from harness.runner.plan import Key, PlannedRun
from harness.sandbox.place import DEFAULT_IMAGE, Sandbox
from locobench.shared.errors import InputError
from measure.commands.options import PATH, together
from measure.report.console import say
from measure.summary.wording import counted


def make_runner(
    *,
    executor: str,
    command: str | None,
    claude_path: str,
    mcp_config: Path | None,
    judge_model: str,
    sandbox: str,
    sandbox_image: str | None,
) -> EvalRunner:
    """Create a runner from the options that say what runs, where, and who judges."""
    if (executor == "command") != (command is not None):
        raise InputError("--executor command and --command 'PROGRAM …' go together; add the other one")
    place = Sandbox()
    if sandbox == "docker":
        from harness.sandbox.docker_sandbox import DockerSandbox  # the SDK takes long to load

        place = DockerSandbox(sandbox_image or DEFAULT_IMAGE)
    elif sandbox_image:
        raise InputError("--sandbox-image needs --sandbox docker; add it")
    agents: dict[str, Callable[[], Executor]] = {
        "claude": lambda: ClaudeExecutor(claude_path, mcp_config_path=mcp_config, sandbox=place),
        "codex": lambda: CodexExecutor(mcp_config_path=mcp_config, sandbox=place),
        "command": lambda: CommandExecutor(_words(command or ""), mcp_config, sandbox=place),
        "echo": EchoExecutor,
    }
    return EvalRunner(agents[executor](), CompositeGrader(judge_model, sandbox=place))


def confirm_repeats(
    planned: Sequence[PlannedRun], kept: Container[Key], earlier: Sequence[EvalResult], journal: Path, *, yes: bool
) -> None:
    """Print how many finished runs of a journal are not kept and have to be made again; on a terminal, ask first.

    With `yes`, nothing is asked. InputError if the user says no.
    """
    if others := {one.key[:4] for one in earlier} - {run.key[:4] for run in planned}:
        which = f"{counted(len(others), 'run')} of {journal}"
        say(f"{which} will not be in the results, since this command does not make them", err=True)
    finished = {one.key[:4] for one in earlier if one.outcome.measured}
    if again := sum(run.key not in kept and run.key[:4] in finished for run in planned):
        which = f"{counted(again, 'finished run')} of {journal}"
        why = "a task, a config, MCP servers, the agent, the sandbox or this harness changed, or files are gone"
        say(f"{which} will run again and be billed again: {why}", err=True)
        if not yes and sys.stdin.isatty() and not click.confirm("Pay for them again?", err=True):
            raise InputError(f"nothing was run; {journal} is unchanged")


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
    click.option("--resume", is_flag=True, help="Continue OUTPUT: keep its finished runs and do the others."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask before repeating finished runs, which costs again."),
    click.option(
        "--executor",
        type=click.Choice(["claude", "codex", "command", "echo"]),
        default="claude",
        show_default=True,
        help="The agent; `command` is any program (see --command), `echo` is none: it answers with the prompt.",
    ),
    click.option("--command", help="With --executor command: the program and its arguments, in quotes."),
    click.option("--claude", "claude_path", default="claude", envvar="HARNESS_CLAUDE", help="The claude executable."),
    click.option("--mcp-config", type=PATH, help="MCP servers for every run, besides those of the configs."),
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
