"""What a code base holds, as far as a verifier needs it: identifiers and where they are, lines; and its passages."""

from __future__ import annotations

import binascii
import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import repeat

import numpy as np
import numpy.typing as npt

from locobench.scoring.code_words import NOWHERE, CodeWords, Numbers, Passage, Table, Vocabulary, different, words_of
from locobench.scoring.verifier import verifier

# What is longer is data, not code, and a code base of more text than this is read as far as it goes.
LARGEST_FILE = 1 << 20
LARGEST_PROJECT = 32 << 20
# A line in more files than this is boilerplate; an identifier in more than so many, and than this share of them, is one
# that may be guessed.
MOST_FILES_OF_A_LINE = 3
WIDESPREAD_SHARE, FEWEST_WIDESPREAD = 0.03, 3


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
        code = CodeWords()
        lines: Counter[bytes] = Counter()
        size = 0
        for path, content in files:
            size += 1
            if b"\0" not in content[:8192] and can_be_written(path):
                code.add(path, content)
                lines.update(set(verify.line_form(content.replace(b"\x01", b" ")).split(b"\n")))
        code.finish()
        self.passages = code.passages
        words = [word.decode("utf-8", "replace") for word in code.words]
        vocabulary = Vocabulary(words)
        in_files = self._index_names(code, words, vocabulary.symbols)
        self._stems = {stem: number for number, stem in enumerate(vocabulary.stems)}
        self._with_stem = code.in_passages.through(
            vocabulary.word_stems, vocabulary.stem_words, len(self._stems), len(self.passages)
        )

        spread = np.bincount(in_files.values, minlength=len(self.names))
        is_rare = spread <= max(FEWEST_WIDESPREAD, WIDESPREAD_SHARE * size)
        self.rare = {name for name, rare in zip(self._sorted_names, is_rare.tolist(), strict=True) if rare}
        self._rare_in = self._names_in.only(is_rare)
        sums = _sums_of_names(self._sorted_names, is_rare, code.paths, in_files) | _sums_of_lines(lines)
        # Sorted here, where it is quick: `pack` sorts whatever it gets.
        self.stored: dict[str, str] = {part: verify.pack(found.tolist()) for part, found in sums.items()}
        places = _Sums(sums.pop("places"))
        self.lookup = verify.Index(places=places, **{part: frozenset(found.tolist()) for part, found in sums.items()})
        # By the number of the passage, once a task has asked for them.
        self._plain_words: dict[int, list[str]] = {}
        self._quotable: dict[int, list[str]] = {}

    def _index_names(self, code: CodeWords, words: list[str], symbols: list[str]) -> Table:
        """Find the identifiers, of which `symbols` are those of several parts; return which ones each file has."""
        name_of, is_member = _names(words, symbols, code.first_call)
        since = np.where(is_member, code.first_call, code.first_file)
        # Spelled as it is in the first file, there by words of several parts rather.
        self.names: dict[str, str] = {}
        for number in np.lexsort((is_member, since)).tolist():
            if name := name_of[number]:
                self.names.setdefault(name, words[number])
        self._sorted_names = sorted(self.names)
        self._name_numbers = {name: number for number, name in enumerate(self._sorted_names)} | {"": -1}
        names = np.fromiter(map(self._name_numbers.__getitem__, name_of), np.int32, len(name_of))
        named = np.flatnonzero(names >= 0)
        self._in_passages = code.in_passages
        self._spelled = Table.of(names[named], named, len(self.names), len(names))

        passage, word = code.in_passages.values, code.in_passages.rows()
        is_name = names[word] >= 0
        passage, word = passage[is_name], word[is_name]
        self._names_in = Table.of(passage, names[word], len(self.passages), len(self.names))
        file = code.file_of[passage]
        is_there = file >= since[word]
        return Table.of(file[is_there], names[word[is_there]], len(code.paths), len(self.names))

    def names_in(self, *passages: Passage) -> list[str]:
        """Return the identifiers in some passages, sorted."""
        rows = [self._names_in.row(passage.number) for passage in passages]
        return [self._sorted_names[number] for number in different(np.concatenate(rows)).tolist()] if rows else []

    def rare_names_in(self, passage: Passage) -> list[str]:
        """Return the identifiers in a passage that are in few files, sorted."""
        return [self._sorted_names[number] for number in self._rare_in.row(passage.number).tolist()]

    def quotable_lines_in(self, passage: Passage) -> list[str]:
        """Return the lines of a passage that the verifier knows when they are quoted."""
        if passage.number not in self._quotable:
            forms = verifier().line_form(passage.text.replace(b"\r", b"\n")).split(b"\n")
            lines: Iterable[bytes] = ()
            if not self.lookup.lines.isdisjoint(map(binascii.crc32, forms)):
                lines = passage.text.splitlines()
            texts = (line.decode("utf-8", "replace") for line in lines)
            self._quotable[passage.number] = list(filter(self.lookup.quoted, texts))
        return self._quotable[passage.number]

    def plain_words_in(self, passage: Passage) -> list[str]:
        """Return the words of a passage that are prose and no identifier, in lower case; short and everyday ones first.

        Those do not tell what a task is about, so that the oracles of two tasks do not become alike.
        """
        if passage.number not in self._plain_words:
            fit = {word.decode() for word in set(words_of(passage)) if len(word) > 1 and word.isalpha()}
            everyday = verifier().EVERYDAY
            dull = {word for word in fit if len(word) < 3 or word in everyday}
            self._plain_words[passage.number] = [*sorted(dull), *sorted(fit - dull)]
        return self._plain_words[passage.number]

    def _with_name(self, name: str) -> Numbers:
        """Return the numbers of the passages that hold an identifier."""
        words = self._spelled.row(self._name_numbers[name])
        return different(np.concatenate([self._in_passages.row(word) for word in words]))

    def ranked(self, stems: Mapping[str, float], names: Mapping[str, float]) -> list[Passage]:
        """Return the passages that hold some of these words (by their stems) or identifiers, the best first.

        Each counts by its weight and by its rarity: weight * ln(1 + (N - n + 0.5) / (n + 0.5)) where n of N passages
        have it (the inverse document frequency of BM25).
        """
        found = [(self._with_stem.row(self._stems[stem]), stems[stem]) for stem in stems if stem in self._stems]
        found += [(self._with_name(name), names[name]) for name in names if name in self.names]
        if not found:
            return []
        size = len(self.passages)
        worth = [weight * math.log(1 + (size - len(places) + 0.5) / (len(places) + 0.5)) for places, weight in found]
        total = np.bincount(
            np.concatenate([places for places, _ in found]),
            np.repeat(worth, [len(places) for places, _ in found]),
        )
        rounded = [round(value, 9) for value in total.tolist()]
        # Of equals the first stays first, in reverse order too.
        best = sorted(np.flatnonzero(total).tolist(), key=rounded.__getitem__, reverse=True)
        return [self.passages[number] for number in best]


def _names(words: list[str], symbols: list[str], first_call: Numbers) -> tuple[list[str], Numbers]:
    """Return the identifier that each word is, "" for none, and whether it is one only where and since it is called."""
    member = verifier().member
    is_member = np.zeros(len(words), bool)
    names = list(symbols)
    for number in np.flatnonzero(first_call != NOWHERE).tolist():
        if not names[number]:
            names[number] = member(words[number])
            is_member[number] = True
    return names, is_member


def _sums_of_names(
    names: list[str], is_rare: npt.NDArray[np.bool_], paths: list[str], in_files: Table
) -> dict[str, Numbers]:
    """Return the verifier's sums of the sorted names and of the files that have them, sorted."""
    in_bytes = [name.encode() for name in names]
    sums = np.fromiter(map(binascii.crc32, in_bytes), np.uint32)
    places = array("I")
    for file, path in enumerate(paths):
        found = map(in_bytes.__getitem__, in_files.row(file).tolist())
        places.extend(map(binascii.crc32, found, repeat(verifier().sum_of(path))))
    parts = {"rare": sums[is_rare], "widespread": sums[~is_rare], "places": np.array(places, np.uint32)}
    return {part: different(found) for part, found in parts.items()}


def _sums_of_lines(lines: Mapping[bytes, int]) -> dict[str, Numbers]:
    """Return the verifier's sums of lines, which are given with the number of their files, and of their beginnings."""
    shortest, start = verifier().SHORTEST_LINE, verifier().LINE_START
    known = {line: number for line, number in lines.items() if len(line) >= shortest}
    parts = {
        "lines": [line for line, number in known.items() if number <= MOST_FILES_OF_A_LINE],
        "starts": {line[:start] for line in known if len(line) >= start},
    }
    return {part: different(np.fromiter(map(binascii.crc32, found), np.uint32)) for part, found in parts.items()}


class _Sums:
    """A set of many sums of which few are ever asked for: no hash of them all is made."""

    def __init__(self, ascending: Numbers) -> None:
        self._ascending = array("I", ascending.tobytes())

    def __contains__(self, total: int) -> bool:
        place = bisect_left(self._ascending, total)
        return place < len(self._ascending) and self._ascending[place] == total


def can_be_written(path: str) -> bool:
    """Tell whether an answer can name the file: a name that is no UTF-8 stands in no text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
