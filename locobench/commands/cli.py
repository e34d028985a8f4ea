"""What the commands share: flags in both spellings, one-line errors, the data folder, progress.

Nothing heavy is imported here, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from locobench.dataset.catalog import load_languages
from locobench.shared.errors import InputError
from locobench.shared.installation import IS_INSTALLED, REPOSITORY, lacking, version
from locobench.shared.terminal import printable_line

DONE, SOME_FAILED, WRONG_USE = 0, 1, 2
# Nothing failed, but there is no output for the next command.
NOTHING_DONE = 1

# Where the commands read and write by default: the checkout, or the current folder for an installed package.
WORKPLACE = Path() if IS_INSTALLED else REPOSITORY
DATASET_FILE = WORKPLACE / "locobench_dataset.jsonl"
SELECTION_FILE = WORKPLACE / "selected_tasks.json"
TASKS_FOLDER = WORKPLACE / "tasks"
DERIVED_FOLDER = WORKPLACE / "data" / "derived"

# Matches names and tags such as 22-alpine3.20. Only a build shows what an image really contains.
_WITHOUT_APT = re.compile(
    r"\b(almalinux|alpine|amazonlinux|archlinux|busybox|centos|distroless|fedora|opensuse|oraclelinux|photon"
    r"|rockylinux|scratch|ubi|wolfi)(?![a-z])"
)

T = TypeVar("T")


class _Formatter(argparse.HelpFormatter):
    """Appends the default to a flag's help if it is worth showing, with paths relative to the checkout."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text, default = action.help, action.default
        if default in (None, False, argparse.SUPPRESS) or text is None:
            return text
        if isinstance(default, Path) and default.is_relative_to(REPOSITORY):
            default = f"{default.relative_to(REPOSITORY)} beside this script"
        return f"{text} (default: {default})"


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose `--some_flag` may also be typed `--some-flag`, and whose errors are one line."""

    def __init__(self, description: str) -> None:
        super().__init__(description=description, formatter_class=_Formatter, allow_abbrev=False)
        # Looking the version up takes longer than all else here.
        shown = f"{self.prog} {version()}" if "--version" in sys.argv else ""
        self.add_argument("--version", action="version", version=shown, help="show the version and exit")

    def flag(self, name: str, **options: Any) -> None:
        """Add `--name` (underscores) and its dashed spelling."""
        self.add_argument(f"--{name}", **options)
        dashed = name.replace("_", "-")
        if dashed != name:
            # A second, hidden option with the same destination keeps the help to one spelling.
            self.add_argument(
                f"--{dashed}",
                dest=name,
                **{**options, "help": argparse.SUPPRESS, "default": argparse.SUPPRESS},
            )

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with exit code 2."""
        complain(f"{self.prog}: {message} (see --help)")
        raise SystemExit(WRONG_USE)


def count(text: str) -> int:
    """Parse a whole number >= 0 (for a flag's `type=`)."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number >= 0, got {text!r}")
    return int(text)


def image_name(text: str) -> str:
    """Parse an image reference (for a flag's `type=`); it goes into a Dockerfile."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.:/@-]*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"not an image name: {text!r}")
    return text


def base_image(text: str) -> str:
    """Parse the name of a base image (for a flag's `type=`); the Dockerfile needs its apt-get."""
    if match := _WITHOUT_APT.search(re.sub(r"^[^/]*[.:][^/]*/", "", text)):
        raise argparse.ArgumentTypeError(
            f"{text!r}: {match[0]} has no apt-get, which installs what tasks need; name a Debian or an Ubuntu"
        )
    return image_name(text)


def dataset_name(text: str) -> str:
    """Parse `ORG/NAME` (for a flag's `type=`), a name that Harbor's registry accepts."""
    part = r"[A-Za-z0-9][A-Za-z0-9._-]*"
    if not re.fullmatch(f"{part}/{part}", text) or ".." in text:
        raise argparse.ArgumentTypeError(
            f"expected ORG/NAME of letters, digits, dots, hyphens and underscores, got {text!r}"
        )
    return text


def language_image(text: str) -> str:
    """Parse an image name (for a flag's `type=`) that contains `{language}` once, in place of the language's name."""
    if text.count("{language}") != 1:
        raise argparse.ArgumentTypeError(f"expected one {{language}} in the name, got {text!r}")
    image_name(text.replace("{language}", "c"))
    return text


def say(message: str) -> None:
    r"""Print one line, with newlines and terminal controls escaped (`\n`)."""
    print(printable_line(message))


def complain(message: str) -> None:
    """Like `say`, but print to stderr."""
    print(printable_line(message), file=sys.stderr)


def run(main: Callable[[list[str] | None], int]) -> NoReturn:
    """Run a script's `main` and leave with its exit code; bad input becomes one line on stderr and exit code 2."""
    name = Path(sys.argv[0]).name
    try:
        load_languages()
        code = main(None)
        sys.stdout.flush()
    except (InputError, ModuleNotFoundError) as error:
        code = _last_words(f"{name}: {lacking(error) if isinstance(error, ModuleNotFoundError) else error}", WRONG_USE)
    except KeyboardInterrupt:
        code = _last_words(f"{name}: interrupted; run the same command again to finish", 130)
    except BrokenPipeError:
        code = _nothing_more_to_print(141)
    except OSError as error:
        code = _last_words(f"{name}: {error.filename or 'output'}: {error.strerror or error}", WRONG_USE)
        code = _nothing_more_to_print(code)
    raise SystemExit(code)


def _last_words(message: str, code: int) -> int:
    """Complain, unless stderr is what cannot be written, and return the code."""
    try:
        complain(message)
    except OSError:
        _nothing_more_to_print(code)
    return code


def _nothing_more_to_print(code: int) -> int:
    """Discard buffered output, which Python would otherwise complain about on exit, and return the code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def find_data_dir(requested: Path | None, *, needs: str = "output/scenarios", say: Callable[[str], None] = say) -> Path:
    """Return the folder that holds output/scenarios/ and generated/.

    This is `requested` if given, else data/ if the benchmark was unpacked there, else the bundled sample, which `say`
    reports. An installed package has no sample.

    Raises:
        InputError: the folder lacks the subfolder `needs`.
    """
    if requested is None:
        requested = WORKPLACE / "data"
        if not (requested / "output" / "scenarios").is_dir() and not IS_INSTALLED:
            requested = requested / "sample"
            say(f"No benchmark data in {WORKPLACE / 'data'}: using the bundled sample in {requested}")
    if not (requested / needs).is_dir():
        raise InputError(
            f"{requested}: no {needs}/ in it; --data_dir names the folder that holds generated/ and output/"
        )
    return requested


def progress(items: Iterable[T], total: int, label: str, *, quiet: bool) -> Iterator[T]:
    """Yield `items` and show progress: on a terminal one line that counts, otherwise four lines; nothing if `quiet`."""
    on_terminal = sys.stderr.isatty()
    step = max(1, total // (1000 if on_terminal else 4))
    for done, item in enumerate(items, 1):
        yield item
        if not quiet and (done % step == 0 or done == total):
            end = "\r" if on_terminal and done < total else "\n"
            print(f"{label}: {done}/{total}", end=end, file=sys.stderr, flush=True)
