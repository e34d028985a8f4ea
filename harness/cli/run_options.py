"""Options of the commands that run agents, gathered into one record per group."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.agents.base import executor_of
from harness.agents.command import CommandExecutor
from harness.agents.echo import EchoExecutor
from harness.cli.options import PATH, gathered
from harness.compare.wording import counted
from harness.errors import InputError
from harness.executor import ClaudeExecutor, Executor
from harness.graders.composite_grader import CompositeGrader
from harness.models import Config, EvalResult
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from harness.report.console import say
from harness.run.plan import FAILED, PlannedRun, paid_again
from harness.runner import EvalRunner
from harness.sandbox.place import DEFAULT_BASE_IMAGE, NEWEST, Sandbox
from harness.suite.load import load_configs

if TYPE_CHECKING:
    from harness.sandbox.docker_sandbox import DockerSandbox


OUTPUT_HELP = "Results file to write; its journal lies beside it."


def docker_sandbox(image: str | None, base_image: str, claude_version: str) -> DockerSandbox:
    """Return the Docker sandbox; without `image`, it builds one from `base_image` with this claude version."""
    from harness.sandbox.docker_sandbox import DockerSandbox  # takes a tenth of a second to import

    return DockerSandbox(
        image, base_image=base_image, claude_version=claude_version, say=functools.partial(click.echo, err=True)
    )


sandbox_base_option = click.option(
    "--sandbox-base",
    default=DEFAULT_BASE_IMAGE,
    envvar="HARNESS_SANDBOX_BASE",
    show_default=True,
    help="Debian or Ubuntu image that the sandbox's own one is built from.",
)
sandbox_claude_option = click.option(
    "--sandbox-claude",
    default=NEWEST,
    envvar="HARNESS_SANDBOX_CLAUDE",
    show_default=True,
    help="Version of the claude CLI in the sandbox's own image.",
)


@dataclass(frozen=True)
class RunOptions:
    """How agents are run and judged, and whether a journal is continued."""

    resume: bool
    yes: bool
    """Whether the user already agreed to the cost of repeated runs."""
    executor: str
    command: str | None
    claude_path: str
    mcp_config: Path | None
    judge_model: str
    sandbox: str
    sandbox_image: str | None
    sandbox_base: str
    sandbox_claude: str
    quiet: bool

    def runner(self) -> EvalRunner:
        """Create a runner from the options."""
        place = self._sandbox()
        return EvalRunner(self._executor(place), CompositeGrader(self.judge_model, sandbox=place))

    def agree(self, planned: Sequence[PlannedRun], earlier: Sequence[EvalResult], journal: Path) -> None:
        """Print which runs of a journal have to be repeated and why; on a terminal, ask first if any had finished.

        Raises:
            InputError: the user says no.
        """
        again = paid_again(planned, earlier)
        for reason, number in again.items():
            say(f"{counted(number, 'run')} of {journal} made again, and paid again, which {reason}", err=True)
        asks = again.keys() - {FAILED} and not self.yes and sys.stdin.isatty()
        if asks and not click.confirm("Pay for them again?", err=True):
            raise InputError(f"nothing was run; {journal} is as it was")

    def _executor(self, place: Sandbox) -> Executor:
        """Create the agent."""
        if (self.executor == "command") != (self.command is not None):
            raise InputError("--executor command and --command 'PROGRAM …' go together; add the other one")
        if self.command is not None:
            return CommandExecutor(_words(self.command), self.mcp_config, sandbox=place)
        if self.executor == "claude":
            return ClaudeExecutor(self.claude_path, mcp_config_path=self.mcp_config, sandbox=place)
        if self.executor == "echo":
            return EchoExecutor()
        return executor_of(self.executor)

    def _sandbox(self) -> Sandbox:
        """Return the sandbox that agents and checks run in."""
        if self.sandbox == "docker":
            return docker_sandbox(self.sandbox_image, self.sandbox_base, self.sandbox_claude)
        if self.sandbox_image:
            raise InputError("--sandbox-image has no effect without --sandbox docker; add that")
        return Sandbox()


def _words(command: str) -> list[str]:
    try:
        if words := shlex.split(command):
            return words
        reason = "it is empty"
    except ValueError as error:
        reason = str(error)
    raise InputError(f"--command {command!r}: {reason}; name a program with its arguments, as a shell takes it")


run_options = gathered(
    "options",
    RunOptions,
    click.option("--resume", is_flag=True, help="Go on with OUTPUT: keep its finished runs, run the others."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask before runs that had finished are paid for again."),
    click.option(
        "--executor",
        default="claude",
        show_default=True,
        help="The agent: claude, command (with --command), echo (no model: it says the prompt back), or MODULE:CLASS of"
        " an Executor of your own.",
    ),
    click.option("--command", help="Of --executor command: the program and its arguments, in quotes."),
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
    click.option("--sandbox-image", help="An image with the claude CLI.  [default: one built from --sandbox-base]"),
    sandbox_base_option,
    sandbox_claude_option,
    click.option("--quiet", is_flag=True, help="Print nothing but errors and the result path."),
)


@dataclass(frozen=True)
class BatchOptions:
    """Which tasks and configs to run, how often, how many in parallel and up to what cost."""

    task_glob: str
    config_glob: str | None
    snapshots: tuple[Path, ...]
    runs: int
    workers: int
    max_cost_usd: float | None
    dry_run: bool
    output: Path | None

    def configs(self) -> list[Config]:
        """Load the configs of all files, then one config per snapshot, named like its file.

        Raises:
            InputError: a config file is invalid, or neither a file nor a snapshot was named.
        """
        if self.config_glob is None and not self.snapshots:
            raise InputError("no config: name config files with -c, or a configuration of Claude Code with --snapshot")
        configs = load_configs(self.config_glob) if self.config_glob is not None else []
        return configs + [Config(name=path.stem, snapshot=path.expanduser().absolute()) for path in self.snapshots]


batch_options = gathered(
    "batch",
    BatchOptions,
    click.option("-t", "--tasks", "task_glob", required=True, help="Glob of task files, quoted."),
    click.option("-c", "--configs", "config_glob", help="Glob of config files, quoted."),
    click.option(
        "--snapshot",
        "snapshots",
        multiple=True,
        type=PATH,
        help="File of export-config that is run as a config of its own; may be repeated.",
    ),
    click.option(
        "-r", "--runs", default=3, show_default=True, type=click.IntRange(1), help="Runs of each task with each config."
    ),
    click.option("-o", "--output", type=PATH, help=OUTPUT_HELP),
    click.option("-j", "--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Runs at a time."),
    click.option("--max-cost-usd", type=click.FloatRange(0, min_open=True), help="Start no run once this is spent."),
    click.option("--dry-run", is_flag=True, help="Show what would be run, run nothing."),
)
