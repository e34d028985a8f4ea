"""Which words stand where in a code base, and what the verifier takes each for: all of them at once, as numbers."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from locobench.scoring.verifier import verifier

# Characters after which a passage ends with its line: some 40 lines.
PASSAGE_SIZE = 1500

# A word that is called is read with a mark behind it.
_CALL = b"\x01"
# In one pass: letters, digits, `_`, `$`, the mark of a call and bytes of other alphabets stay, all else separates.
_TO_WORDS = bytes(
    byte if byte == 1 or byte >= 128 or chr(byte).isalnum() or byte in b"_$" else 32 for byte in range(256)
)

Numbers = npt.NDArray[np.integer]
NOWHERE = np.iinfo(np.int32).max


class Passage(NamedTuple):
    """Some consecutive lines of a file."""

    path: str
    text: bytes
    number: int
    """Its place among the passages of the code base."""


class Table(NamedTuple):
    """Which numbers belong to each of some others: `values[starts[n] : starts[n + 1]]`, ascending, belong to n."""

    starts: Numbers
    values: Numbers

    @classmethod
    def of(cls, rows: Numbers, values: Numbers, height: int, width: int) -> Table:
        """Take pairs of numbers, those of `rows` below `height` and their `values` below `width`; each counts once."""
        keys: Numbers = rows.astype(np.int32 if height * width <= NOWHERE else np.int64)
        keys *= width
        keys += values
        rows, values = np.divmod(different(keys), max(1, width))
        return cls(np.searchsorted(rows, np.arange(height + 1)).astype(np.int32), values.astype(np.int32, copy=False))

    def row(self, number: int) -> Numbers:
        """Return what belongs to one number."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    def rows(self) -> Numbers:
        """Return the number that each of `values` belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def only(self, wanted: npt.NDArray[np.bool_]) -> Table:
        """Return the table without the values that `wanted` has no True for."""
        kept = wanted[self.values]
        return Table(np.concatenate(([0], np.cumsum(kept)))[self.starts], self.values[kept])

    def through(self, rows: Numbers, middle: Numbers, height: int, width: int) -> Table:
        """Return what belongs to `rows` (below `height`) by way of `middle`, whose values here are below `width`."""
        starts, lengths = self.starts[middle], self.starts[middle + 1] - self.starts[middle]
        ends = np.cumsum(lengths, dtype=np.int32)
        places = np.repeat(starts - ends + lengths, lengths)
        places += np.arange(len(places), dtype=np.int32)
        return Table.of(np.repeat(rows, lengths), self.values[places], height, width)


def different(numbers: Numbers) -> Numbers:
    """Sort `numbers` in their place and return each once (np.unique takes several times as long)."""
    numbers.sort()
    return numbers[np.concatenate(([True], numbers[1:] != numbers[:-1]))] if len(numbers) else numbers


class CodeWords:
    """The words of a code base's text files.

    Attributes:
        passages: in the order of the files and of their lines.
        paths: the files, in their order.
        file_of: the number of each passage's file.
        words: all different ones, sorted.
        in_passages: the passages of each word.
        first_file: of each word, the number of the first file that has it.
        first_call: of each word, the number of the first file that calls it; NOWHERE, when none does.
    """

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.paths: list[str] = []
        self._files: list[int] = []
        # What was read, with a call's mark, has a number; and those of each passage, one after the other.
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._read: list[Numbers] = []

    def add(self, path: str, content: bytes) -> None:
        """Read one more file."""
        # What the file itself has of these stands for nothing.
        content = content.replace(_CALL, b" ")
        number_of = self._numbers.__getitem__
        start = 0
        while start < len(content):
            end = content.find(b"\n", start + PASSAGE_SIZE)
            end = len(content) if end < 0 else end
            text = content[start:end]
            words = text.replace(b"(", _CALL + b" ").translate(_TO_WORDS).split()
            self._read.append(np.fromiter(map(number_of, words), np.int32, len(words)))
            self._files.append(len(self.paths))
            self.passages.append(Passage(path, text, len(self.passages)))
            start = end + 1
        self.paths.append(path)

    def finish(self) -> None:
        """Work out what is where, when all files are read."""
        marked = list(self._numbers)
        bare = [word.rstrip(_CALL) for word in marked]
        self.words = sorted(set(bare) - {b""})
        # A mark alone is no word.
        numbers = {word: number for number, word in enumerate(self.words)} | {b"": -1}
        number_of = np.fromiter(map(numbers.__getitem__, bare), np.int32, len(bare))
        is_call = np.fromiter(map(operator.ne, marked, bare), bool, len(marked))
        lengths = np.fromiter(map(len, self._read), np.int32, len(self._read))
        read = np.concatenate([np.zeros(0, np.int32), *self._read])
        passages = np.repeat(np.arange(len(self.passages), dtype=np.int32), lengths)
        self.file_of = np.array(self._files, np.int32)
        del self._numbers, self._read, self._files

        words, called = number_of[read], is_call[read]
        kept = words >= 0
        words, called, passages = words[kept], called[kept], passages[kept]
        files = self.file_of[passages]
        self.first_file = _first(words, files, len(self.words))
        self.first_call = _first(words[called], files[called], len(self.words))
        self.in_passages = Table.of(words, passages, len(self.words), len(self.passages))


def _first(keys: Numbers, values: Numbers, size: int) -> Numbers:
    """Return for each number below `size` the value beside the first of `keys` that is it, NOWHERE when none is."""
    found = np.full(size, NOWHERE, np.int32)
    # Of several that are put into one place the last one stays.
    found[keys[::-1]] = values[::-1]
    return found


def words_of(passage: Passage) -> list[bytes]:
    """Return the words of a passage in lower case, in their order."""
    return passage.text.translate(_TO_WORDS).lower().split()


class Vocabulary:
    """What the verifier's `symbol` and `stems` return for each of some words, at a quarter of their time.

    Attributes:
        symbols: the one form of the identifier that each word is, "" for other words.
        stems: all different stems.
        stem_words, word_stems: pairs of a word's place and the place of one of its stems in `stems`.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """Read `words`, which hold no line ends."""
        verify = verifier()
        # All in one text, a word on each line: what takes time is to call functions, not what they do.
        text = "".join(f"{word}\n" if word.isascii() else "\n" for word in words)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        line_end = numbers["\n"]
        found = _parts_and_line_ends().findall(text)
        parts = np.fromiter(map(numbers.__getitem__, found), np.int32, len(found))
        is_end = parts == line_end
        in_word, parts = np.cumsum(is_end, dtype=np.int32)[~is_end], parts[~is_end]

        lengths = np.fromiter(map(len, numbers), np.int32, len(numbers))
        is_compound = np.bincount(in_word[lengths[parts] > 1], minlength=len(words)) > 1
        is_compound &= np.fromiter(map(len, words), np.int32, len(words)) >= 5
        # A spelling that is replaced never goes beyond a word.
        forms = verify.american(text.replace("_", "").replace("$", "").lower()).split("\n")
        self.symbols = [""] * len(words)
        for place in np.flatnonzero(is_compound).tolist():
            if forms[place] not in verify._PRODUCTS:
                self.symbols[place] = forms[place]

        stems: defaultdict[str, int] = defaultdict(count().__next__)
        stem_of = np.fromiter((stems[stem] if (stem := _stem(part)) else -1 for part in numbers), np.int32)
        word_stems = stem_of[parts]
        others = {place: stems[word.lower()] for place, word in enumerate(words) if not word.isascii()}
        has_stem = word_stems >= 0
        self.stems = list(stems)
        self.stem_words = np.concatenate((in_word[has_stem], np.array([*others], np.int32)))
        self.word_stems = np.concatenate((word_stems[has_stem], np.array([*others.values()], np.int32)))


@lru_cache(maxsize=1 << 14)
def _stem(part: str) -> str:
    """Return the stem of a word's part, "" where it has none: most parts are in many code bases."""
    verify = verifier()
    stem = str(verify.stem(part.lower())) if len(part) > 2 else ""
    return "" if stem in verify.COMMON else stem


@cache
def _parts_and_line_ends() -> re.Pattern[str]:
    return re.compile(verifier()._PART.pattern + "|\n")
