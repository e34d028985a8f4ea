"""The table of commands. Each lives in its own module, which is imported when the command is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from locobench.shared.command_line import SETTINGS, OneLineErrors, version_option
from locobench.shared.errors import InputError
from locobench.shared.terminal import complain, did_you_mean


class Entry(NamedTuple):
    """The module of a command, whose function there has its name with _ for -, and its short help."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "scaffold": Entry("harness.cli.scaffold", "Make a folder with an evaluation that runs as it is."),
    "run": Entry("harness.cli.run", "Run one task with one config and grade it."),
    "matrix": Entry("harness.cli.run", "Run tasks x configs x models, several times each."),
    "validate": Entry("harness.cli.check", "Check tasks and configs: files, solutions, untouched fixtures; no model."),
    "env-status": Entry("harness.cli.check", "Show whether this machine is ready to run."),
    "report": Entry("measure.commands.report", "Summary of results: rates, costs, lost runs."),
    "analyze": Entry("measure.commands.report", "List runs with what failed in them, or show one whole."),
    "compare": Entry("measure.commands.report", "Did B do better than A, by how much, how sure, at what cost?"),
    "power": Entry("measure.commands.design", "How many tasks and runs it takes to find an effect."),
    "headroom": Entry("measure.commands.headroom", "After a pilot: what the tasks can show, and whether to go on."),
    "plan": Entry("measure.commands.design", "Two Harbor jobs, without and with a server, from a budget."),
    "grade": Entry("harness.cli.judge", "Grade the answers of a Harbor job by judges."),
    "export-config": Entry("harness.cli.snapshot", "Snapshot of Claude Code's configuration, without secrets."),
    "import-config": Entry("harness.cli.snapshot", "Set a configuration up from a snapshot."),
}
"""All commands by name. The help texts are here so that --help imports nothing."""

ENV_FILES = (Path(".env"), Path("~/.env"), Path(".env.local"))
"""Files that KEYS are taken from; the first that exists is read."""
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "JUDGE_API_KEY", "OPENAI_API_KEY")
"""The only variables taken from an env file that the user did not name: a cloned repository may bring one."""
NEED_KEYS = ("run", "matrix", "validate", "env-status", "grade")


class LazyGroup(OneLineErrors, click.Group):
    """A click group that imports commands on demand, and reports bad input in one clear line."""

    prefix = "error"
    when_interrupted = "interrupted"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command; None if there is none of this name."""
        entry = COMMANDS.get(cmd_name)
        return entry and getattr(importlib.import_module(entry.module), cmd_name.replace("-", "_"))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, say which one is close."""
        if args[0] not in COMMANDS:
            raise InputError(f"unknown command {args[0]!r}; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table of --help without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def explain(self, error: click.UsageError) -> str:
        """Explain an extra argument of a command that takes a glob: the shell expanded it."""
        text, command = super().explain(error), error.ctx and error.ctx.command
        takes_glob = command and any((option.name or "").endswith("_glob") for option in command.params)
        if takes_glob and "unexpected extra argument" in text:
            text += "; quote a glob, or the shell puts the names of all its files here"
        return text

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _end_like_ctrl_c(), _warnings_as_lines():
            return super().invoke(ctx)


@contextlib.contextmanager
def _end_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command and its agents as Ctrl-C does; nohup still works."""
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Show warnings as one line each, without their place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: complain(f"warning: {message}")
        yield


@click.command(cls=LazyGroup, context_settings=SETTINGS)
@click.option(
    "-e",
    "--env-file",
    envvar="EVAL_ENV_FILE",
    type=click.Path(path_type=Path),
    help="File with variables. Without it, only keys such as ANTHROPIC_API_KEY are taken, from the first of .env,"
    " ~/.env and .env.local.",
)
@version_option
@click.pass_context
def cli(ctx: click.Context, env_file: Path | None) -> None:
    """Run coding agents on tasks, grade what they do, and compare configurations.

    Exit codes: 0 done, 1 a run failed or something got worse, 2 could not be measured or wrong input,
    130 interrupted, 141 the output was closed before its end.
    """
    needs_keys = ctx.invoked_subcommand in NEED_KEYS
    ctx.obj = load_env_file(env_file) if env_file is not None or needs_keys else None


def load_env_file(named: Path | None) -> Path | None:
    """Load the variables of an env file into the environment; variables that are already set win.

    From a file that nobody named, only KEYS are taken, and a line on stderr lists them. Returns the file read, or None.
    InputError if a named file does not exist.
    """
    if named is not None and not named.is_file():
        raise InputError(f"{named}: no such env file; correct --env-file or EVAL_ENV_FILE")
    # os.path returns False for a folder that we may not enter, such as another user's home; pathlib may raise.
    found = (file for name in ENV_FILES if os.path.isfile(file := name.expanduser()) and os.access(file, os.R_OK))  # noqa: PTH113
    path = named or next(found, None)
    if path is None:
        return None
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); correct or name another env file") from None
    given = {name: value for name, value in values.items() if value is not None and name not in os.environ}
    if named is None:
        given = {name: value for name, value in given.items() if name in KEYS}
        if given:
            click.echo(f"{' and '.join(given)} taken from {path}; --env-file {path} takes all of it", err=True)
    os.environ.update(given)
    return path
