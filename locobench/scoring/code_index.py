"""What a code base holds, as far as a verifier needs it: identifiers and the files that have them, and its lines."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable

from locobench.reading import (
    LONGEST_LINE,
    SHORTEST_LINE,
    CodeBase,
    fold,
    is_compound,
    is_simple,
    pack,
    pack_lines,
)

# What is longer is data, not code, and a code base of more text than this is read as far as it goes.
LARGEST_FILE = 1 << 20
LARGEST_PROJECT = 32 << 20

_WORD_OR_CALL = re.compile(r"[A-Za-z_$][\w$]*\(?", re.ASCII)
# The words of `reading.tokens`, for a whole file at once: what is in none of them becomes a blank.
_TO_WORDS = bytes(
    byte if byte == ord("\n") or byte >= 128 or chr(byte).isalnum() or byte == ord("_") else ord(" ")
    for byte in range(256)
)


class CodeIndex:
    """The text files of a code base.

    Attributes:
        files: the paths that an answer can name, sorted; the verifier knows them by their numbers here.
        names: every identifier, folded, to its spelling in the first file that has it.
        texts: the content of each text file.
        code: what the verifier looks things up in.
        stored: the same as text, for the key.
    """

    def __init__(self, paths: Iterable[str], texts: Iterable[tuple[str, bytes]]) -> None:
        """Read `texts`, pairs of path (relative to the project) and content, of some of the files `paths`."""
        self.files = sorted(filter(can_be_written, paths))
        self.names: dict[str, str] = {}
        self.texts: dict[str, bytes] = {}
        self._names_of: dict[str, list[str]] = {}
        # Sorted once for all tasks of the project, and only of files that an oracle speaks of.
        self._ranked: dict[str, list[str]] = {}
        numbers = {path: number for number, path in enumerate(self.files)}
        places: defaultdict[str, list[int]] = defaultdict(list)
        sums: set[int] = set()
        forms: dict[str, str] = {}
        for path, content in texts:
            if path not in numbers or b"\0" in content[:8192]:
                continue
            self.texts[path] = content
            spellings = _names_in(content.decode("utf-8", "replace"), forms)
            self._names_of[path] = list(spellings)
            for name, spelling in spellings.items():
                self.names.setdefault(name, spelling)
                places[name].append(numbers[path])
            sums.update(map(_line_sum, set(_as_words(content))))
        sums.discard(0)
        self.code = CodeBase(places, sums)
        rows = (f"{name} {' '.join(map(str, places[name]))}" for name in sorted(places))
        self.stored = {"names": pack("\n".join(rows)), "lines": pack_lines(sums)}

    def names_in(self, path: str) -> list[str]:
        """Return the identifiers of a file: those in fewest files first, and of equals in the alphabet's order."""
        if path not in self._ranked:
            names, places = self._names_of.get(path, ()), self.code.places
            self._ranked[path] = sorted(names, key=lambda name: (len(places[name]), name))
        return self._ranked[path]

    def lines_in(self, path: str) -> list[str]:
        """Return the lines of a file that the verifier knows when they are quoted."""
        content = self.texts.get(path, b"")
        return [
            line.decode("utf-8", "replace").rstrip()
            for line, words in zip(content.split(b"\n"), _as_words(content), strict=True)
            if _line_sum(words)
        ]


def _names_in(text: str, forms: dict[str, str]) -> dict[str, str]:
    """Return the identifiers in a text, folded, with the first spelling of each: compounds, and what is called.

    `forms` remembers the folded form of each word, "" for what is no identifier: a project's files share most words.
    """
    names: dict[str, str] = {}
    for token in dict.fromkeys(_WORD_OR_CALL.findall(text)):
        name = forms.get(token)
        if name is None:
            word = token.rstrip("(")
            is_name = is_compound(word) or (token[-1] == "(" and is_simple(word))
            name = forms[token] = fold(word) if is_name else ""
        if name and name not in names:
            names[name] = token.rstrip("(")
    return names


def _line_sum(line: bytes) -> int:
    """Return the verifier's sum of a line that went through `_as_words`, 0 for one that is too short to be known."""
    words = line.split()
    return zlib.crc32(b" ".join(words[:LONGEST_LINE])) if len(words) >= SHORTEST_LINE else 0


def _as_words(content: bytes) -> list[bytes]:
    return content.lower().translate(_TO_WORDS).split(b"\n")


def can_be_written(path: str) -> bool:
    """Tell whether an answer can name the file: a name that is no UTF-8 stands in no text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
