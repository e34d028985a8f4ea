"""Text for a terminal: untrusted text with its control characters escaped, long lists cut, and close names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

# ESC and the other control characters (including C1, DEL and carriage return), direction overrides, invisible
# characters, other line separators, tags, and lone surrogates, which no output can encode. Joiners stay: emoji and
# some scripts need them.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_STEERING = re.compile(f"[\t\n{_STEERING.pattern[1:]}")


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
