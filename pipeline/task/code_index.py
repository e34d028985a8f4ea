"""What a code base holds, as far as a verifier needs it: identifiers and where they are, lines; and its passages."""

from __future__ import annotations

import binascii
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pipeline.task.verifier import verifier

# Characters after which a passage ends with its line: some 40 lines.
PASSAGE_SIZE = 1500
# What is longer is data, not code, and a code base of more text than this is read as far as it goes.
LARGEST_FILE = 1 << 20
LARGEST_PROJECT = 32 << 20
# A line in more files than this is boilerplate; an identifier in more than so many, and than this share of them, is one
# that may be guessed.
MOST_FILES_OF_A_LINE = 3
WIDESPREAD_SHARE, FEWEST_WIDESPREAD = 0.03, 3

# In one pass: letters, digits, `_`, `$`, the mark of a call and bytes of other alphabets stay, all else separates.
_CALL = b"\x01"
_TO_WORDS = bytes(
    byte if byte == 1 or byte >= 128 or chr(byte).isalnum() or byte in b"_$" else 32 for byte in range(256)
)


class Passage(NamedTuple):
    """Some consecutive lines of a file, and the different words in them."""

    path: str
    text: bytes
    words: tuple[bytes, ...]


class CodeIndex:
    """The text files of a code base, cut into passages.

    Attributes:
        passages: in the order of the files and of their lines.
        names: every identifier, to its spelling in the code.
        rare: the identifiers that are in few files.
        lookup: what the verifier looks things up in.
        stored: the same as text, for the key.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Read `files`, pairs of path (relative to the project) and content."""
        verify = verifier()
        self.passages: list[Passage] = []
        self.names: dict[str, str] = {}
        self._name_of: dict[bytes, str] = {}
        self._words: dict[bytes, bytes] = {}
        self._with_word: defaultdict[bytes, list[int]] = defaultdict(list)
        lines: Counter[bytes] = Counter()
        spread: Counter[str] = Counter()
        places: set[int] = set()
        count = 0
        for path, content in files:
            count += 1
            if b"\0" in content[:8192] or not can_be_written(path):
                continue
            content = content.replace(_CALL, b" ")
            lines.update({line for line in verify.line_form(content).split(b"\n") if len(line) >= verify.SHORTEST_LINE})
            names = self._read(path, content)
            spread.update(names)
            start = verify.sum_of(path)
            places.update([binascii.crc32(name.encode(), start) for name in names])
        long = verify.LINE_START
        known_lines = {binascii.crc32(line) for line, number in lines.items() if number <= MOST_FILES_OF_A_LINE}
        starts = set(map(binascii.crc32, {line[:long] for line in lines if len(line) >= long}))
        lines.clear()
        limit = max(FEWEST_WIDESPREAD, WIDESPREAD_SHARE * count)
        self.rare = {name for name, number in spread.items() if number <= limit}
        self._with_stem: defaultdict[str, list[bytes]] = defaultdict(list)
        for word in self._with_word:
            for stem in verify.stems(word.decode("utf-8", "replace")):
                self._with_stem[stem].append(word)
        self._with_name: defaultdict[str, list[bytes]] = defaultdict(list)
        for word, name in self._name_of.items():
            self._with_name[name].append(word)
        self.lookup = verify.Index(
            rare=set(map(verify.sum_of, self.rare)),
            widespread=set(map(verify.sum_of, spread.keys() - self.rare)),
            places=places,
            lines=known_lines,
            starts=starts,
        )
        self.stored: dict[str, str] = self.lookup.stored()
        self._words.clear()

    def _read(self, path: str, content: bytes) -> set[str]:
        """Cut a file into passages and return the identifiers in it."""
        verify = verifier()
        marked = set(content.replace(b"(", _CALL + b" ").translate(_TO_WORDS).split())
        called = {word[:-1] for word in marked if word[-1] == _CALL[0]} - {b""}
        words = {word for word in marked if word[-1] != _CALL[0]} | called
        with_word = self._with_word
        start = 0
        while start < len(content):
            end = content.find(b"\n", start + PASSAGE_SIZE)
            end = len(content) if end < 0 else end
            text = content[start:end]
            different = set(text.translate(_TO_WORDS).split())
            # One object for a word, however many passages have it.
            found = tuple(map(self._words.setdefault, different, different))
            number = len(self.passages)
            for word in found:
                with_word[word].append(number)
            self.passages.append(Passage(path, text, found))
            start = end + 1
        name_of = self._name_of
        # Sorted, for the first spelling of a name is kept and must be the same every time.
        for word in sorted(word for word in words if word not in name_of):
            name_of[word] = name = verify.symbol(word.decode("utf-8", "replace"))
            if name:
                self.names.setdefault(name, word.decode("ascii"))
        for word in sorted(word for word in called if not name_of[word]):
            if name := verify.member(word.decode("utf-8", "replace")):
                name_of[word] = name
                self.names.setdefault(name, word.decode("ascii"))
        return {name_of[word] for word in words} - {""}

    def names_in(self, passage: Passage) -> list[str]:
        """Return the identifiers in a passage, sorted."""
        return sorted({self._name_of[word] for word in passage.words} - {""})

    def ranked(self, stems: Mapping[str, float], names: Mapping[str, float]) -> list[Passage]:
        """Return the passages that hold some of these words (by their stems) or identifiers, the best first.

        Each counts by its weight and by its rarity: weight * ln(1 + (N - n + 0.5) / (n + 0.5)) where n of N passages
        have it (the inverse document frequency of BM25).
        """
        wanted = [(self._with_stem[stem], weight) for stem, weight in stems.items() if stem in self._with_stem]
        wanted += [(self._with_name[name], weight) for name, weight in names.items() if name in self._with_name]
        worth = [0.0] * len(self.passages)
        for found, weight in wanted:
            numbers = {number for word in found for number in self._with_word[word]}
            rarity = math.log(1 + (len(worth) - len(numbers) + 0.5) / (len(numbers) + 0.5))
            for number in numbers:
                worth[number] += weight * rarity
        best = sorted((number for number, value in enumerate(worth) if value), key=lambda n: (-round(worth[n], 9), n))
        return [self.passages[number] for number in best]


def can_be_written(path: str) -> bool:
    """Tell whether an answer can name the file: a name that is no UTF-8 stands in no text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
