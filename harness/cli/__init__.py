"""Which commands there are; each lives in its own module and is imported when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Any, NamedTuple

import click

from harness.errors import InputError
from locobench.shared.terminal import printable, printable_line
from locobench.shared.version import version

INTERRUPTED, CLOSED_PIPE = 130, 141


class Entry(NamedTuple):
    """Where a command lives and what it does in a few words."""

    module: str
    help: str

    def load(self, name: str) -> click.Command:
        """The command; its function is named like it, with _ for - (and _command where that is a keyword)."""
        command: click.Command = getattr(importlib.import_module(self.module), name.replace("-", "_"))
        return command


COMMANDS: dict[str, Entry] = {
    "run": Entry("harness.cli.run", "Run one task with one config and grade it."),
    "matrix": Entry("harness.cli.run", "Run tasks x configs x models, several times each."),
    "validate-task": Entry("harness.cli.check", "Check task files."),
    "validate-config": Entry("harness.cli.check", "Check config files."),
    "validate": Entry("harness.cli.check", "Check that solutions pass and untouched fixtures fail, without a model."),
    "ls": Entry("harness.cli.check", "List tasks or configs."),
    "env-status": Entry("harness.cli.check", "Show whether this machine is ready to run."),
    "sandbox-image": Entry("harness.cli.check", "Build the image of --sandbox docker."),
    "report": Entry("harness.cli.report", "Summary of results; HTML, Markdown, JUnit, CSV, JSON."),
    "analyze": Entry("harness.cli.report", "List runs with what failed in them, or show one whole."),
    "compare": Entry("harness.cli.report", "Did B do better than A, by how much, how sure, at what cost?"),
    "trend": Entry("harness.cli.report", "How rewards move over several jobs, and which tasks."),
    "power": Entry("harness.cli.design", "How many tasks and runs it takes to find an effect."),
    "plan": Entry("harness.cli.design", "Two Harbor jobs, without and with a server, from a budget."),
    "confirm": Entry("harness.cli.run", "Run the suspects of a comparison again, more often."),
    "grade": Entry("harness.cli.judge", "Grade finished runs by judges or a formula, without the agent."),
    "calibrate": Entry("harness.cli.judge", "How far the judge agrees with people."),
    "audit": Entry("harness.cli.judge", "Rate how true the references of tasks are of their code."),
    "evidence": Entry("harness.cli.judge", "What of an answer can be looked up in the code."),
    "export-config": Entry("harness.cli.snapshot", "Snapshot of Claude Code's configuration, without secrets."),
    "import-config": Entry("harness.cli.snapshot", "Set a configuration up from a snapshot."),
    "check-version": Entry("harness.cli.snapshot", "Which Claude Code is installed, and is it the expected one."),
}
"""Every command by its name; help texts stand here so that --help imports nothing."""

ENV_FILES = (Path(".env"), Path("~/.env"), Path(".env.local"))
"""Where variables are read from when no file is named; the first one that exists is taken."""


class BadInput(click.ClickException):
    """Input that cannot be used: its message on stderr, exit code 2, no usage text."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, one line per problem."""
        for line in printable(self.message).split("\n"):
            click.echo(f"error: {line}", file=file or sys.stderr)


class Commands(click.Group):
    """A group that imports a command when it is called, and turns bad input into one clear line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        entry = COMMANDS.get(cmd_name)
        return entry.load(cmd_name) if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command table of --help, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the arguments, which for --help prints already."""
        with _pipe_may_close(), _errors_shown():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            with _pipe_may_close(), _errors_shown(), _ending_like_ctrl_c(), _warnings_as_lines():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@contextlib.contextmanager
def _errors_shown() -> Iterator[None]:
    """Bad input and a disk that takes or gives nothing: one line and exit code 2.

    Shown here, and not by click, which leaves with 1 when standard error is closed.
    """
    try:
        try:
            yield
        except BrokenPipeError:
            raise
        except InputError as error:
            raise BadInput(str(error)) from error
        except OSError as error:
            raise BadInput(f"{error.filename or 'output'}: {error.strerror or error}") from error
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] in ("harness", "locobench"):
                raise
            raise BadInput(f"this Python lacks {error.name}; install the package with pip install -e .") from error
    except click.ClickException as error:
        try:
            error.show()
        except BrokenPipeError:
            raise
        except OSError:  # there is no room for the message either; the exit code says it
            pass
        raise SystemExit(error.exit_code) from error


@contextlib.contextmanager
def _ending_like_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does, its agents with it; nohup keeps its meaning."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"warning: {printable_line(str(message))}", err=True)


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Warnings of the harness as one line each, without the place in its code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _pipe_may_close() -> Iterator[None]:
    """Leave with CLOSED_PIPE when who reads our output has enough of it, as `| head` has.

    click would leave with 1, which here says that something got worse.
    """
    try:
        yield
    except BrokenPipeError:
        # What is left in the buffer goes nowhere, or Python would complain about it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CLOSED_PIPE) from None


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"{ctx.info_name} {version()}")
        ctx.exit()


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "-e",
    "--env-file",
    envvar="EVAL_ENV_FILE",
    type=click.Path(path_type=Path),
    help="File with variables such as ANTHROPIC_API_KEY. Default: the first of .env, ~/.env, .env.local.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context, env_file: Path | None) -> None:
    """Run coding agents on tasks, grade what they do, and compare configurations.

    Exit codes: 0 done, 1 a run failed or something got worse, 2 could not be measured or wrong input,
    130 interrupted, 141 the output was closed before its end.
    """
    ctx.obj = load_env_file(env_file)


def load_env_file(named: Path | None) -> Path | None:
    """Put the variables of an env file into the environment, which wins where both have one.

    Returns the file that was read, None when there is none. InputError when a named file does not exist.
    """
    if named is not None and not named.is_file():
        raise InputError(f"{named}: no such env file; correct --env-file or EVAL_ENV_FILE")
    # os.path says no where a folder on the way may not be entered, and so may be another user's home.
    found = (file for name in ENV_FILES if os.path.isfile(file := name.expanduser()) and os.access(file, os.R_OK))  # noqa: PTH113
    path = named or next(found, None)
    if path is not None:
        from dotenv import dotenv_values

        try:
            values = dotenv_values(path)
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text (byte {error.start}); correct or name another env file") from None
        for name, value in values.items():
            if value is not None:
                os.environ.setdefault(name, value)
    return path
