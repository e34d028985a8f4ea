"""How is foreign text shown on a terminal? As it is, but what would steer the terminal stands there escaped."""

from __future__ import annotations

import re

# ESC and the other controls (C1, DEL and a carriage return among them), what changes the direction of text or cannot
# be seen, other line ends, tags, and halves of characters, which no output can encode. Joiners stay: emoji and some
# scripts are written with them.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_STEERING = re.compile(f"[\t\n{_STEERING.pattern[1:]}")


def printable(text: str) -> str:
    r"""The text with everything escaped (`\x1b`, `\u202e`) that would steer a terminal; lines and tabs stay."""
    return _STEERING.sub(_escaped, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    r"""The same in one line: a line end is shown as `\n`, so that no text can pretend to be the next message."""
    return _LINE_STEERING.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
