"""The table of commands. Each lives in its own module, which is imported when the command is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from harness.errors import InputError
from locobench.shared.installation import lacking, version
from locobench.shared.terminal import did_you_mean, printable, printable_line

INTERRUPTED, CLOSED_PIPE = 130, 141


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
    "plan": Entry("measure.commands.design", "Two Harbor jobs, without and with a server, from a budget."),
    "grade": Entry("harness.cli.judge", "Grade the answers of a Harbor job by judges."),
    "export-config": Entry("harness.cli.snapshot", "Snapshot of Claude Code's configuration, without secrets."),
    "import-config": Entry("harness.cli.snapshot", "Set a configuration up from a snapshot."),
}
"""All commands by name. The help texts are here so that --help imports nothing."""

RENAMED = {
    "build-image": "docker build --tag harness-sandbox harness/sandbox",
    "check-version": "env-status",
    "diff": "compare --all-tasks",
    "explain": "analyze -i NUMBER",
    "image-status": "docker image inspect harness-sandbox",
    "ls": "validate --static",
    "power-analysis": "power",
    "regression": "compare --regression",
    "self-test": "validate",
    "validate-config": "validate -c",
    "validate-task": "validate --static -t",
}
"""What does the work of the commands of the agent-eval harness that have another name here."""

ENV_FILES = (Path(".env"), Path("~/.env"), Path(".env.local"))
"""Default env files; the first that exists is read."""


class BadInput(click.ClickException):
    """Unusable input: prints its message on stderr without the usage text, and exits with code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, one line per problem."""
        for line in printable(self.message).split("\n"):
            click.echo(f"error: {line}", file=file or sys.stderr)


class LazyGroup(click.Group):
    """A click group that imports commands on demand, and reports bad input in one clear line."""

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
        """Find the command; for an unknown name, say what it is called now or which name is close."""
        name = args[0]
        if name in RENAMED:
            raise InputError(f"{name!r} is now called `{RENAMED[name]}`")
        if name not in COMMANDS:
            raise InputError(f"unknown command {name!r}; {did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command table of --help without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the arguments; for --help, this already prints."""
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
    """Report bad input and disk errors in one line, with exit code 2.

    Not left to click, which exits with 1 if stderr is closed.
    """
    try:
        yield
        return
    except BrokenPipeError:
        raise
    except click.exceptions.NoArgsIsHelpError as error:
        shown: click.ClickException = error
    except click.UsageError as error:
        shown = BadInput(_in_one_line(error))
    except click.ClickException as error:
        shown = error
    except InputError as error:
        shown = BadInput(str(error))
    except OSError as error:
        shown = BadInput(f"{error.filename or 'output'}: {error.strerror or error}")
    except ModuleNotFoundError as error:
        shown = BadInput(lacking(error))
    try:
        shown.show()
    except BrokenPipeError:
        raise
    except OSError:  # the message cannot be written either; the exit code has to do
        pass
    raise SystemExit(shown.exit_code)


def _in_one_line(error: click.UsageError) -> str:
    """Return what is wrong with the arguments, and where the right ones are told."""
    text = error.format_message().rstrip(".")
    if error.ctx is None:
        return text
    if "unexpected extra argument" in text and any(
        (option.name or "").endswith("_glob") for option in error.ctx.command.params
    ):
        text += "; quote a pattern, or the shell puts the names of its files here"
    return f"{text} (see `{error.ctx.command_path} --help`)"


@contextlib.contextmanager
def _ending_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command and its agents as Ctrl-C does; nohup still works."""
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"warning: {printable_line(str(message))}", err=True)


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Show warnings as one line each, without their place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        yield


@contextlib.contextmanager
def _pipe_may_close() -> Iterator[None]:
    """Exit with CLOSED_PIPE if the reader of our output closes the pipe, as `| head` does.

    click would exit with 1, which here means that something got worse.
    """
    try:
        yield
    except BrokenPipeError:
        # Discard what is left in the buffer, or Python would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CLOSED_PIPE) from None


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "-e",
    "--env-file",
    envvar="EVAL_ENV_FILE",
    type=click.Path(path_type=Path),
    help="File with variables such as ANTHROPIC_API_KEY. Default: the first of .env, ~/.env, .env.local.",
)
@click.version_option(version(), message="%(prog)s %(version)s", help="Show the version and exit.")
@click.pass_context
def cli(ctx: click.Context, env_file: Path | None) -> None:
    """Run coding agents on tasks, grade what they do, and compare configurations.

    Exit codes: 0 done, 1 a run failed or something got worse, 2 could not be measured or wrong input,
    130 interrupted, 141 the output was closed before its end.
    """
    ctx.obj = load_env_file(env_file)


def load_env_file(named: Path | None) -> Path | None:
    """Load the variables of an env file into the environment; variables that are already set win.

    Returns the file that was read, or None. InputError if a named file does not exist.
    """
    if named is not None and not named.is_file():
        raise InputError(f"{named}: no such env file; correct --env-file or EVAL_ENV_FILE")
    # os.path returns False for a folder that we may not enter, such as another user's home; pathlib may raise.
    found = (file for name in ENV_FILES if os.path.isfile(file := name.expanduser()) and os.access(file, os.R_OK))  # noqa: PTH113
    path = named or next(found, None)
    if path is not None:
        from dotenv import load_dotenv

        try:
            load_dotenv(path)
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text (byte {error.start}); correct or name another env file") from None
    return path
