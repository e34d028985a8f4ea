"""Read an answer: its blocks of prose and code, the identifiers and files they name, and the lines it copies.

Verifiers and the judge's evidence pack read answers with this module, and verifiers write their metrics with it.
Standard library only, Python 3.9 and newer: the file itself goes into a task's tests.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import signal
import stat
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

# Nobody writes a longer report; what follows is not read, so that no answer is too large to score.
MAX_ANSWER_BYTES = 256 * 1024
# Seconds of processor time, so that a busy machine changes no reward. An answer of 256 KiB takes one or two.
TIME_LIMIT_SECONDS = 30

PROSE, HEADING, CODE = "prose", "heading", "code"
# In words: a shorter line of the code base does not count as a quotation; of a longer one the beginning is enough.
SHORTEST_LINE, LONGEST_LINE = 3, 12

# A code span may contain line ends, but not a blank line: blocks end there.
SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`]+)(?<!`)\1(?!`)")
WORD = re.compile(r"[^\W\d]\w*")
# The base name of a numbered file, which answers use without its extension: `module_7`.
NUMBERED = re.compile(r"[A-Za-z]{2,}_\d+")

# Control characters and the terminal's colours.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f](?:(?<=\x1b)\[[0-9;?]*[ -/]*[@-~])?")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})(.*)")
STARTS_BLOCK = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]|[ \t>]*[#|]")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
# A backslash before a letter may be part of a Windows path.
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|])")
# Parts of one letter do not count.
_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+|[a-z]{2,}")
# A name that is called, or that follows `.`, `->` or `::`.
_MEMBER = re.compile(r"(?:(?<=::)|(?<=->)|(?<=[\w\])]\.))[A-Za-z_]\w*|\b[A-Za-z_]\w*(?=\()")
_CALLED = re.compile(r"\b[A-Za-z_]\w*(?=\()")
_PATH = re.compile(r"[\w.+@~$%&\-/\\]+", re.ASCII)
_TOKEN = re.compile(rb"[a-z0-9_\x80-\xff]+")


class Block(NamedTuple):
    """A paragraph, an item of a list, a row of a table, a heading, or the lines inside a code fence."""

    kind: str
    """PROSE, HEADING or CODE."""
    text: str
    """Prose without Markdown's escapes: `\\_` is `_`."""
    level: int = 0
    """A heading's level, 1 to 6; 0 for all else."""


def read_blocks(markdown: str) -> list[Block]:
    """Return the blocks of a Markdown text in their order; an unclosed fence runs to the end."""
    blocks: list[Block] = []
    lines: list[str] = []
    fence = ""

    def end_block(kind: str, level: int = 0) -> None:
        text = "\n".join(lines)
        if text:
            blocks.append(Block(kind, text if kind == CODE else _ESCAPE.sub(r"\1", text), level))
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
        if mark or not bare or STARTS_BLOCK.match(line):
            end_block(PROSE)
        if mark:
            fence = mark[1]
        elif _HEADING.match(bare):
            lines.append(bare.lstrip("#").strip())
            end_block(HEADING, len(bare) - len(bare.lstrip("#")))
        elif bare:
            lines.append(bare)
    end_block(CODE if fence else PROSE)
    return blocks


def fold(token: str) -> str:
    """Return an identifier's canonical form: `evict_expired` and `evictExpired` both become `evictexpired`."""
    return token.replace("_", "").replace("$", "").lower()


def is_compound(token: str) -> bool:
    """Tell whether a word is an identifier of several parts; acronyms and versions (`IDs`, `SHA256`) have only one."""
    if len(token) < 5 or not token.isascii() or (token.isalpha() and token.islower()):
        return False
    return len(_PART.findall(token)) > 1


def is_simple(token: str) -> bool:
    """Tell whether a word can be an identifier of one part, such as `nack`."""
    return len(token) > 2 and token.isascii() and not is_compound(token)


class Names(NamedTuple):
    """The identifiers that a text names, folded."""

    certain: set[str]
    """Compounds in code spans, or spelled unlike prose: `snake_case`, `camelCase`, `Call()`."""
    possible: set[str]
    """Capitalised compounds elsewhere, which may be product names."""
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
    """The files of a project and the ways to name them.

    A file is named by its path and by every ending of it that no other file shares, whatever folders an answer puts
    before it. A base name that is an identifier of several parts (`OrderBook.java`) or numbered (`module_7.c`) does
    without its extension.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Take paths relative to the project."""
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
        self._longest = max(map(len, self._by_name), default=0)
        # Names with blanks or non-ASCII letters are searched for literally.
        self._odd = [name for name in self._by_name if not _PATH.fullmatch(name)]

    def named_in(self, text: str) -> set[str]:
        """Return the files that a text names; a part of another word does not count."""
        found = {self._by_name[name] for name in self._odd if name in text}
        for token in set(_PATH.findall(text)):
            # One character more than the longest name, so that no name is found where the cut goes through a word.
            name = token.replace("\\", "/").rstrip("./-")[-self._longest - 1 :]
            while name and name not in self._by_name:
                name = name.partition("/")[2]
            found.add(self._by_name.get(name, ""))
        return found - {""}


class CodeBase:
    """A code base as stored in a task's key: files, folded identifiers with their files' numbers, and sums of lines."""

    def __init__(self, places: Mapping[str, Collection[int]], lines: Collection[int], files: Files) -> None:
        self.places = places
        self.lines = lines
        self.files = files

    @classmethod
    def read(cls, key: Mapping[str, Any]) -> CodeBase:
        """Read the code base from a key, as `CodeIndex.stored` writes it."""
        names, lines = (zlib.decompress(base64.b64decode(key[part])).decode() for part in ("names", "lines"))
        rows = (row.split() for row in names.splitlines())
        places = {name: list(map(int, files)) for name, *files in rows}
        # Each sum is stored by its distance from the one before.
        return cls(places, frozenset(itertools.accumulate(map(int, lines.split()))), Files(key["files"]))

    def without_copies(self, text: str) -> tuple[str, set[int], int]:
        """Return a text without the lines of the code base in it, their sums, and how many words they have.

        A run of words that is a whole line of the code base is that line, whatever stands around it.
        """
        content = text.encode("utf-8", "replace")
        words = list(_TOKEN.finditer(content.lower()))
        following = [b" " + word[0] for word in words]
        kept, found, copied, place, end = [], set(), 0, 0, 0
        lines, crc32 = self.lines, zlib.crc32  # looked up once: this loop is most of the verifier's time
        while place < len(words):
            stop = matched = 0
            total = crc32(words[place][0])
            for count, word in enumerate(following[place + 1 : place + LONGEST_LINE], 2):
                total = crc32(word, total)
                if total in lines and count >= SHORTEST_LINE:
                    stop, matched = place + count, total
            if stop:
                kept.append(content[end : words[place].start()])
                end = words[stop - 1].end()
                found.add(matched)
                copied += stop - place
            place = stop or place + 1
        return b" ".join([*kept, content[end:]]).decode("utf-8", "replace"), found, copied


def read_answer(path: str) -> tuple[str, str]:
    """Return (text, "") of a regular file, at most MAX_ANSWER_BYTES of it, or ("", why there is none)."""
    try:
        # Not through a link, and without waiting for the other end of a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return "", f"no answer: {error.strerror}"
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "", "no answer: not a regular file"
        return stream.read(MAX_ANSWER_BYTES).decode("utf-8", "replace"), ""


def write_json(path: str, value: Any) -> None:
    """Write JSON beside `path` and rename it there."""
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=1)
        stream.write("\n")
    os.replace(part, path)


def grade(score: Callable[[str, Mapping[str, Any]], dict[str, Any]], root: str) -> None:
    """Write reward and metrics of `root`/app/solution.md: what `score` makes of the answer and the task's key."""
    # At its end the process dies, and the reward is the 0 that test.sh wrote before.
    signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT_SECONDS)
    with open(f"{root}/tests/ground_truth.json", encoding="utf-8") as stream:
        key = json.load(stream)["key"]
    answer, problem = read_answer(f"{root}/app/solution.md")
    result = score(answer, key)
    if problem:
        result["problem"] = problem
    write_json(f"{root}/logs/verifier/metrics.json", result)
    write_json(f"{root}/logs/verifier/reward.json", {"reward": result["reward"]})
    print(f"reward {result['reward']} {result['components']} {problem}")
