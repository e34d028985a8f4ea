"""Print for a person: control characters of untrusted text escaped, long lists cut, close names, progress."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

# ESC and the other control characters (including C1, DEL and carriage return), direction overrides, invisible
# characters, other line separators, tags, and lone surrogates, which no output can encode. Joiners stay: emoji and
# some scripts need them.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_STEERING = re.compile(f"[\t\n{_STEERING.pattern[1:]}")

T = TypeVar("T")


def printable(text: str) -> str:
    r"""Escape everything that would control a terminal (`\x1b`, `\u202e`); newlines and tabs stay."""
    return _STEERING.sub(_escaped, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    r"""Like `printable`, but on one line: a newline is shown as `\n`, so that no text can fake a second message."""
    return _LINE_STEERING.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def first_few(names: Sequence[str]) -> str:
    """Return the first three names of a list for a message, with an ellipsis if there are more."""
    return ", ".join([*names[:3], *(["…"] if names[3:] else [])])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the closest known name; list all of them when none is close."""
    by_lower = {candidate.lower(): candidate for candidate in sorted(known)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[close[0]]}?" if close else f"known: {', '.join(sorted(by_lower.values()))}"


def say(message: str) -> None:
    r"""Print one line, with newlines and terminal controls escaped (`\n`)."""
    print(printable_line(message))


def complain(message: str) -> None:
    """Like `say`, but print to stderr."""
    print(printable_line(message), file=sys.stderr)


def progress(items: Iterable[T], total: int, label: str, *, quiet: bool) -> Iterator[T]:
    """Yield `items` and show progress: on a terminal one line that counts, otherwise four lines; nothing if `quiet`."""
    on_terminal = sys.stderr.isatty()
    step = max(1, total // (1000 if on_terminal else 4))
    for done, item in enumerate(items, 1):
        yield item
        if not quiet and (done % step == 0 or done == total):
            end = "\r" if on_terminal and done < total else "\n"
            print(f"{label}: {done}/{total}", end=end, file=sys.stderr, flush=True)
