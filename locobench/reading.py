"""How an answer is read: its blocks of prose and code, the identifiers and files they name, and what is copied.

The verifier and the judge's evidence pack both read answers with this module. Standard library only, Python 3.9 and
newer: the file itself goes into a task's tests.
"""

from __future__ import annotations

import base64
import html
import re
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

PROSE, HEADING, CODE = "prose", "heading", "code"
# A line of the code base with fewer words is no quotation wherever it stands; of a longer one the beginning is enough.
SHORTEST_LINE, LONGEST_LINE = 3, 24

# A code span may contain line ends, but not a blank line: blocks end there.
SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`]+)(?<!`)\1(?!`)")
WORD = re.compile(r"[^\W\d]\w*")
# The base name of a numbered file, which answers use without its extension: `module_7`.
NUMBERED = re.compile(r"[A-Za-z]{2,}_\d+")

# Control characters and the terminal's colours.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f](?:(?<=\x1b)\[[0-9;?]*[ -/]*[@-~])?")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})(.*)")
_STARTS_BLOCK = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]|[ \t>]*[#|]")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_CODE_TAG = re.compile(r"</?(?:code|tt|kbd)>", re.IGNORECASE)
# A backslash before a letter may be part of a Windows path.
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|])")
# No character has a longer number, and int() refuses a number of thousands of digits.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What is called, or stands behind `.`, `->` or `::`.
_MEMBER = re.compile(r"(?:(?<=::)|(?<=->)|(?<=[\w\])]\.))[A-Za-z_]\w*|\b[A-Za-z_]\w*(?=\()")
_CALLED = re.compile(r"\b[A-Za-z_]\w*(?=\()")
_PATH = re.compile(r"[\w.+@~#$%&\-/\\]+", re.ASCII)
_LONGEST_PATH = 4096
_TOKEN = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")


class Block(NamedTuple):
    """A paragraph, an item of a list, a row of a table, a heading, or the lines inside a code fence."""

    kind: str
    """PROSE, HEADING or CODE."""
    text: str
    """Prose as it is meant: without Markdown's escapes, entities and code tags."""


def read_blocks(markdown: str) -> list[Block]:
    """Return the blocks of a Markdown text in their order; an unclosed fence runs to the end."""
    blocks: list[Block] = []
    lines: list[str] = []
    fence = ""

    def end_block(kind: str) -> None:
        text = "\n".join(lines)
        if text:
            blocks.append(Block(kind, text if kind == CODE else unescaped(text)))
        lines.clear()

    for line in _CONTROL.sub(" ", markdown).splitlines():
        mark, bare = _FENCE.match(line), line.strip()
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                end_block(CODE)
                fence = ""
            else:
                lines.append(line)
            continue
        if mark or not bare or _STARTS_BLOCK.match(line):
            end_block(PROSE)
        if mark:
            fence = mark[1]
        elif _HEADING.match(bare):
            lines.append(bare.lstrip("#").strip())
            end_block(HEADING)
        elif bare:
            lines.append(bare)
    end_block(CODE if fence else PROSE)
    return blocks


def unescaped(text: str) -> str:
    r"""Return Markdown as it is meant: `\_` is `_`, `&lt;` is `<`, <code> is a code span."""
    text = _ESCAPE.sub(r"\1", _CODE_TAG.sub("`", text))
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def fold(token: str) -> str:
    """Return the one form of an identifier: `evict_expired` and `evictExpired` are both `evictexpired`."""
    return token.replace("_", "").replace("$", "").lower()


def is_compound(token: str) -> bool:
    """Tell whether a word is an identifier of several parts; acronyms and versions (`IDs`, `SHA256`) have only one."""
    if len(token) < 5 or not token.isascii() or (token.isalpha() and token.islower()):
        return False
    return sum(len(part) > 1 for part in _PART.findall(token)) > 1


def is_simple(token: str) -> bool:
    """Tell whether a word can be an identifier of one part, such as `nack`."""
    return len(token) > 2 and token.isascii() and not is_compound(token)


class Names(NamedTuple):
    """The identifiers that a text names, folded."""

    certain: set[str]
    """Compounds in code spans, or spelled as prose never is: `snake_case`, `camelCase`, `Call()`."""
    possible: set[str]
    """Capitalised compounds elsewhere, which may be the names of products."""
    simple: set[str]
    """Identifiers of one part that are called, qualified, or alone in a code span."""


def names_in(text: str) -> Names:
    """Return the identifiers that a block's text names."""
    names = Names(set(), set(), set())
    for _, span in SPAN.findall(text):
        names.certain.update(fold(token) for token in WORD.findall(span) if is_compound(token))
        alone = [span.strip()] if WORD.fullmatch(span.strip()) else []
        names.simple.update(fold(token) for token in _MEMBER.findall(span) + alone if is_simple(token))
    bare = SPAN.sub(" ", text)
    called = set(_CALLED.findall(bare))
    names.simple.update(fold(token) for token in called if is_simple(token))
    for token in set(WORD.findall(bare)):
        if is_compound(token):
            is_code = "_" in token.strip("_") or token[0].islower() or token in called
            (names.certain if is_code else names.possible).add(fold(token))
    return names


class Files:
    """The files of a project and the ways to name them."""

    def __init__(self, paths: Iterable[str], roots: Iterable[str] = ()) -> None:
        """Take paths relative to the project; `roots` are folders that an answer may put before one.

        A file is named by its path and by every ending of it that no other file shares. A base name that is an
        identifier of several parts (`OrderBook.java`) or numbered (`module_7.c`) does without its extension.
        """
        self._prefixes = tuple(f"{root}/" for root in ("app/project", "project", "a", "b", *roots))
        self._by_name: dict[str, str] = {}
        paths = list(paths)
        shared: set[str] = set()
        for path in paths:
            endings = {path[place + 1 :] for place, character in enumerate(path) if character == "/"}
            stem = path.rpartition("/")[2].partition(".")[0]
            if is_compound(stem) or NUMBERED.fullmatch(stem):
                endings.add(stem)
            shared.update(name for name in endings - {path} if self._by_name.setdefault(name, path) != path)
        for name in shared:
            del self._by_name[name]
        self._by_name.update((path, path) for path in paths)
        # Names with blanks or letters of other alphabets are looked for as they are.
        self._odd = [name for name in self._by_name if not _PATH.fullmatch(name)]

    def named_in(self, text: str) -> set[str]:
        """Return the files that a text names, never as a part of another word."""
        found = {self._named(token) for token in set(_PATH.findall(text))}
        for name in self._odd:
            if name in text and re.search(r"(?:(?<![\w/])|(?<=project/)|(?<=\./))" + re.escape(name) + r"(?!\w)", text):
                found.add(self._by_name[name])
        return found - {""}

    def _named(self, token: str) -> str:
        if token in self._by_name or token.isalnum() or len(token) > _LONGEST_PATH:
            return self._by_name.get(token, "")
        path = token.replace("\\", "/").partition("#")[0].rstrip("./-").lstrip("./@~")
        # `cache.c/lookup` and `cache.h/cpp` name a file and something else; `OrderBook.replace` a class with a file.
        for form in (token, path, path.rpartition("/")[0], path.partition(".")[0]):
            for name in (form, *(form[len(prefix) :] for prefix in self._prefixes if form.startswith(prefix))):
                if name in self._by_name:
                    return self._by_name[name]
        return ""


# Of each identifier, folded, the numbers of the files that have it.
Places = Mapping[str, Collection[int]]


def tokens(text: str) -> list[tuple[bytes, int, int]]:
    """Return (word, start, end) of the words in `text`, lower-case; the places count bytes of its UTF-8 form."""
    content = text.encode("utf-8", "replace").lower()
    return [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(content)]


def line_sum(words: list[bytes]) -> int:
    """Return the 32-bit sum by which a line of code is known."""
    return zlib.crc32(b" ".join(words[:LONGEST_LINE]))


def pack(text: str) -> str:
    """Return `text` compressed, in letters that JSON leaves alone."""
    return base64.b64encode(zlib.compress(text.encode())).decode()


def unpack(packed: str) -> str:
    """Undo `pack`."""
    return zlib.decompress(base64.b64decode(packed)).decode()


def pack_lines(sums: Iterable[int]) -> str:
    """Return a set of line sums as text: each by its distance from the one before."""
    ascending = sorted(set(sums))
    return pack(" ".join(str(after - before) for before, after in zip([0, *ascending], ascending)))


def unpack_lines(packed: str) -> frozenset[int]:
    """Undo `pack_lines`."""
    total, sums = 0, set()
    for distance in unpack(packed).split():
        total += int(distance)
        sums.add(total)
    return frozenset(sums)


class CodeBase:
    """What a task's key knows of its code base: identifiers with their files, and sums of lines."""

    def __init__(self, places: Places, lines: Iterable[int]) -> None:
        self.places = places
        self.lines = frozenset(lines)

    @classmethod
    def read(cls, key: Mapping[str, Any]) -> CodeBase:
        """Read it from a key."""
        rows = (row.split() for row in unpack(key["names"]).splitlines())
        return cls({name: list(map(int, files)) for name, *files in rows}, unpack_lines(key["lines"]))

    def known(self, name: str) -> str:
        """Return the name, or its singular, if the code base has it, else ""."""
        if name in self.places:
            return name
        return name[:-1] if name.endswith("s") and name[:-1] in self.places else ""

    def without_copies(self, text: str) -> tuple[str, set[int], int]:
        """Return prose without the lines of code in it, their sums, and how many words they have.

        A run of words that is a whole line of the code base is that line, whatever stands around it.
        """
        words, content = tokens(text), text.encode("utf-8", "replace")
        kept, found, copied, place, end = [], set(), 0, 0, 0
        while place < len(words):
            total = stop = matched = 0
            for next_place in range(place, min(len(words), place + LONGEST_LINE)):
                word = words[next_place][0]
                total = zlib.crc32(b" " + word, total) if next_place > place else zlib.crc32(word)
                if total in self.lines and next_place - place + 1 >= SHORTEST_LINE:
                    stop, matched = next_place + 1, total
            if stop:
                kept.append(content[end : words[place][1]])
                end = words[stop - 1][2]
                found.add(matched)
                copied += stop - place
            place = stop or place + 1
        return b" ".join([*kept, content[end:]]).decode("utf-8", "replace"), found, copied
