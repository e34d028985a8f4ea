"""Index a code base for a verifier: its identifiers, the files that contain them, and its lines."""

from __future__ import annotations

import base64
import operator
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from locobench.reading import (
    LONGEST_LINE,
    SHORTEST_LINE,
    WORD,
    CodeBase,
    Files,
    fold,
    is_compound,
    is_simple,
    names_in,
)

# Bytes. A larger file is data, not code; of a larger code base, only this much is read.
LARGEST_FILE = 1 << 20
LARGEST_PROJECT = 32 << 20

# An answer cannot contain a name that is not UTF-8.
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_IS_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# On whole files, `translate` and `split` are several times as fast as regular expressions.
_TO_NAMES = bytes(byte if byte in _IS_WORD or byte in b"$(" else ord(" ") for byte in range(256))
_TO_WORDS = bytes(byte if byte in _IS_WORD or byte in b"\n" or byte >= 128 else ord(" ") for byte in range(256)).lower()


class CodeIndex:
    """The text files of a code base.

    Attributes:
        files: the paths that an answer can name, sorted; the verifier refers to them by position.
        names: folded identifier -> its spelling in the first file that has it.
        texts: path -> content of each text file.
        code: the index that the verifier searches.
        stored: the same index as text, for the key.
    """

    def __init__(self, paths: Iterable[str], texts: Iterable[tuple[str, bytes]], root: str = "") -> None:
        """Build the index.

        Args:
            paths: the paths of all files, relative to the project.
            texts: (path, content) of the files to read.
            root: the name of the folder that holds them, which gives identifiers away as their paths do.
        """
        self.files = sorted(path for path in paths if not _NOT_UTF8.search(path))
        self._root = root
        self.names: dict[str, str] = {}
        self.texts: dict[str, bytes] = {}
        self._names_of: dict[str, set[str]] = {}
        numbers = {path: number for number, path in enumerate(self.files)}
        places: defaultdict[str, list[int]] = defaultdict(list)
        sums: set[int] = set()
        # Token -> folded identifier or "": the files of a project share most of their words.
        folded: dict[bytes, str] = {}
        for path, content in texts:
            if path not in numbers or b"\0" in content[:8192]:
                continue
            self.texts[path] = content
            found = dict.fromkeys(content.replace(b"(", b"( ").translate(_TO_NAMES).split())
            for token in [token for token in found if token not in folded]:
                word = token.lstrip(b"0123456789").rstrip(b"(").decode("ascii")
                is_name = is_compound(word) or (token.endswith(b"(") and is_simple(word))
                folded[token] = fold(word) if is_name else ""
                if is_name:
                    self.names.setdefault(folded[token], word)
            self._names_of[path] = {*map(folded.__getitem__, found)} - {""}
            for name in self._names_of[path]:
                places[name].append(numbers[path])
            for line in _lines(content):
                if len(words := line.split(None, LONGEST_LINE)) >= SHORTEST_LINE:
                    sums.add(zlib.crc32(b" ".join(words[:LONGEST_LINE])))
        self.code = CodeBase(places, sums, Files(self.files))
        rows = (f"{name} {' '.join(map(str, places[name]))}" for name in sorted(places))
        ascending = sorted(sums)
        distances = map(operator.sub, ascending, [0, *ascending])
        self.stored = {
            "files": self.files,
            "names": _pack("\n".join(rows)),
            # Nearly random digits have no repetitions: not searching for them is faster, and the text is shorter.
            "lines": _pack(" ".join(map(str, distances)), zlib.Z_HUFFMAN_ONLY),
        }

    @cached_property
    def names_of_paths(self) -> set[str]:
        """The folded identifiers in the paths: an agent learns these by listing the files."""
        paths = (self._root, *self.files)
        return compounds("\n".join(paths)).union(*(names for path in paths for names in names_in(f"`{path}`")))

    def names_in(self, path: str) -> list[str]:
        """Return a file's identifiers: those in the fewest files first, ties in alphabetical order."""
        places = self.code.places
        return sorted(self._names_of.get(path, ()), key=lambda name: (len(places[name]), name))

    def lines_in(self, path: str) -> Iterator[str]:
        """Yield the lines of a file that the verifier recognises in quotes."""
        content = self.texts.get(path, b"")
        for line, words in zip(content.split(b"\n"), _lines(content), strict=True):
            if len(words.split()) >= SHORTEST_LINE:
                yield line.decode("utf-8", "replace").rstrip()


def _pack(text: str, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """Return `text` compressed, in characters that JSON does not escape."""
    compressor = zlib.compressobj(strategy=strategy)
    return base64.b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def _lines(content: bytes) -> list[bytes]:
    """Return the words of each line, between blanks."""
    return content.translate(_TO_WORDS).split(b"\n")


def compounds(text: str) -> set[str]:
    """Return the folded compound identifiers in a text."""
    return {fold(token) for token in set(WORD.findall(text)) if is_compound(token)}
