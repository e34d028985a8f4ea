"""Which words stand where in a code base, as numbers: files are cut into passages, and these into words."""

from __future__ import annotations

import operator
from array import array
from collections import defaultdict
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Characters after which a passage ends with its line: some 40 lines.
PASSAGE_SIZE = 1500

# A call's word is read with a mark behind it.
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
        keys = rows.astype(np.int32 if height * width <= NOWHERE else np.int64)
        keys *= width
        keys += values
        rows, values = np.divmod(different(keys), max(1, width))
        return cls(np.searchsorted(rows, np.arange(height + 1)), values)

    def row(self, number: int) -> Numbers:
        """Return what belongs to one number."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    def only(self, wanted: Numbers) -> Table:
        """Return the table without the values that `wanted` has no True for."""
        kept = wanted[self.values]
        return Table(np.concatenate(([0], np.cumsum(kept)))[self.starts], self.values[kept])

    def rows(self) -> Numbers:
        """Return the number that each of `values` belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def through(self, rows: Numbers, middle: Numbers, height: int, width: int) -> Table:
        """Return what belongs to `rows` (below `height`) by way of `middle`, whose values here are below `width`."""
        starts, lengths = self.starts[middle], self.starts[middle + 1] - self.starts[middle]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)
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
    """

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.paths: list[str] = []
        self._files: list[int] = []
        self._ids: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._read = array("i")
        self._lengths: list[int] = []

    def add(self, path: str, content: bytes) -> None:
        """Read one more file."""
        # What the file itself has of these stands for nothing.
        content = content.replace(_CALL, b" ")
        id_of = self._ids.__getitem__
        start = 0
        while start < len(content):
            end = content.find(b"\n", start + PASSAGE_SIZE)
            end = len(content) if end < 0 else end
            text = content[start:end]
            words = text.replace(b"(", _CALL + b" ").translate(_TO_WORDS).split()
            self._read.extend(map(id_of, words))
            self._lengths.append(len(words))
            self._files.append(len(self.paths))
            self.passages.append(Passage(path, text, len(self.passages)))
            start = end + 1
        self.paths.append(path)

    def finish(self) -> None:
        """Work out what is where; nothing can be added then.

        Attributes from here on:
            words: all different ones, sorted.
            in_passages: the passages of each word.
            first_file, first_call: of each word the file that has it, and calls it, first; NOWHERE, when none does.
        """
        spelled = list(self._ids)
        bare = [word.rstrip(_CALL) for word in spelled]
        self.words = sorted(set(bare) - {b""})
        # A mark alone is no word.
        number_of = {word: number for number, word in enumerate(self.words)} | {b"": -1}
        number = np.fromiter(map(number_of.__getitem__, bare), np.int32, len(bare))
        is_call = np.fromiter(map(operator.ne, spelled, bare), bool, len(spelled))
        self.file_of = np.array(self._files, np.int32)

        read = np.frombuffer(self._read, np.int32) if self._read else np.zeros(0, np.int32)
        passages = np.repeat(np.arange(len(self.passages), dtype=np.int32), self._lengths)
        words, called = number[read], is_call[read]
        kept = words >= 0
        words, called, passages = words[kept], called[kept], passages[kept]
        self.in_passages = Table.of(words, passages, len(self.words), len(self.passages))
        files = self.file_of[passages]
        self.first_file = _first(words, files, len(self.words))
        self.first_call = _first(words[called], files[called], len(self.words))
        del self._ids, self._read, self._lengths, self._files


def words_of(passage: Passage) -> list[bytes]:
    """Return the words of a passage in lower case, in their order."""
    return passage.text.translate(_TO_WORDS).lower().split()


def _first(keys: Numbers, values: Numbers, size: int) -> Numbers:
    """Return for each number below `size` the value beside the first of `keys` that is it."""
    found = np.full(size, NOWHERE, np.int32)
    # Of several that are put into one place the last one stays.
    found[keys[::-1]] = values[::-1]
    return found
