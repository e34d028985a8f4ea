"""What every command shares: flags in both spellings, one-line errors, exit codes.

Scripts import click's decorators from here, so that a Python without click gets one line, too. Nothing heavy is
imported, so that `--help` answers at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from locobench.shared.errors import InputError
from locobench.shared.installation import explain_missing, version
from locobench.shared.terminal import complain

try:
    import click
except ModuleNotFoundError as error:
    complain(f"{Path(sys.argv[0]).name.replace('__main__.py', 'error')}: {explain_missing(error)}")
    raise SystemExit(2) from None

argument, option, Choice = click.argument, click.option, click.Choice
PATH = click.Path(path_type=Path)
COUNT, POSITIVE = click.IntRange(min=0), click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)

DONE, SOME_FAILED, WRONG_USE, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 130, 141
# Nothing failed, but there is no output for the next command.
NOTHING_DONE = 1


class OneLineErrors(click.Command):
    """A command that reports what stops it in one line on stderr.

    Exit codes: what the function returns, 2 for wrong usage and for input that cannot be used, 130 if it was
    interrupted, 141 if the reader of its output closed the pipe.
    """

    prefix = ""
    """What the line begins with; default: the program's name."""
    when_interrupted = "interrupted; run the same command again to finish"

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run the command with the program's arguments and exit."""
        extra.pop("standalone_mode", None)
        name = prog_name or Path(sys.argv[0]).name
        prefix = self.prefix or name
        try:
            with self.make_context(name, list(sys.argv[1:] if args is None else args), **extra) as context:
                code = self.invoke(context) or DONE
            if sys.stdout:  # None where it was closed before the start
                sys.stdout.flush()
        except click.exceptions.Exit as ended:
            code = ended.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            code = _last_words(error.exit_code, *error.format_message().splitlines())
        except click.UsageError as error:
            code = _last_words(WRONG_USE, f"{prefix}: {self.explain(error)}")
        except InputError as error:
            code = _last_words(WRONG_USE, *(f"{prefix}: {problem}" for problem in error.args))
        except ModuleNotFoundError as error:
            code = _last_words(WRONG_USE, f"{prefix}: {explain_missing(error)}")
        except (KeyboardInterrupt, click.Abort):
            code = _last_words(INTERRUPTED, f"{prefix}: {self.when_interrupted}")
        except BrokenPipeError:
            code = _nothing_more_to_print(CLOSED_PIPE)
        except OSError as error:
            code = _last_words(WRONG_USE, f"{prefix}: {error.filename or 'output'}: {error.strerror or error}")
            _nothing_more_to_print(code)
        raise SystemExit(code)

    def explain(self, error: click.UsageError) -> str:
        """Say in one line what is wrong with the arguments, and where to find the right ones."""
        where = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        return error.format_message().rstrip(".") + where


class Script(OneLineErrors):
    """A script's command: `--some_flag` may be typed `--some-flag`, and a flag with `multiple` takes several values."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `--flag a b` as `--flag a --flag b` where the flag takes several values."""
        several = {name for one in self.params if one.multiple for name in one.opts}
        spread, flag = [], ""
        for before, word in zip(["", *args], args, strict=False):
            if word.startswith("-"):
                flag = word if word.replace("-", "_").replace("__", "--", 1) in several else ""
            elif flag and before != flag:
                spread.append(flag)
            spread.append(word)
        return super().parse_args(ctx, spread)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"{context.info_name} {version()}")
        context.exit()


version_option = option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
                        help="Show the version and exit.")  # fmt: skip
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def script(help_text: str) -> Callable[[Callable[..., int]], Script]:
    """Decorate a script's function, which returns the exit code."""
    settings = {**SETTINGS, "show_default": True, "token_normalize_func": lambda name: name.replace("-", "_")}
    return lambda function: click.command(cls=Script, help=help_text, context_settings=settings)(
        version_option(function)
    )


def _last_words(code: int, *messages: str) -> int:
    """Complain, unless stderr cannot be written, and return the code; CLOSED_PIPE if nobody reads it."""
    try:
        for message in messages:
            complain(message)
    except OSError as error:
        return _nothing_more_to_print(CLOSED_PIPE if isinstance(error, BrokenPipeError) else code)
    return code


def _nothing_more_to_print(code: int) -> int:
    """Discard buffered output, which Python would otherwise complain about on exit, and return the code."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
